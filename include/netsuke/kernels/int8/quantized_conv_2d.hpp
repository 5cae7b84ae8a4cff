// SPDX-License-Identifier: MIT
#pragma once
/// 2-D convolution of stored integers: bytes in, bytes out, by the rule of kernels/int8/quantized_gemm.hpp.
///
/// Windows are rows of a matrix that is never built. Where some reach outside the image, what the tile sees of it is
/// copied to scratch, a patch at a time, in which the missing pixels are the zero point: what stands for 0.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/core/tensor.hpp>
#include <netsuke/format/params.hpp>
#include <netsuke/format/scratch.hpp>
#include <netsuke/kernels/pixel_block.hpp>
#include <netsuke/kernels/int8/quantized_gemm.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Convolution of [N, H, W, C] by int8 panels (format/packing.hpp), one set per group. A window is cut into runs, whose
/// quads follow each other: with `whole_rows` a run is a kernel row, which is one where pixels follow each other
/// without a gap (one group, no dilation, pixel stride C); else it is the channels of one pixel. Bytes outside the
/// image are input_zero; weights are those of the file and weight_offset; the result is stored by zero, low and high,
/// after the residual was added where residual_scale is not 0.
struct quantized_conv_2d_args : quantized_conv_2d_params {
  quad_products products = quad_products::exact;
  tensor_view input, output;  ///< of bytes; last dimensions have stride 1
  const std::byte* weights;
  tensor_view residual;  ///< of the output's shape; it does not overlap the output
};

namespace impl {

/// Maximum number of rows of one call of `quantized_gemm`: an image of 14 x 14, and a little more.
inline constexpr int max_quad_rows = 208;
/// Maximum bytes of a patch of more than one window: a part of the second-level cache.
inline constexpr std::int64_t max_patch_bytes = 64 * 1024;

/// Runs of a window of one group, and the bytes of one.
struct window_runs {
  int lines, columns, length;

  constexpr int count() const { return lines * columns; }
  constexpr std::int64_t quads() const { return std::int64_t{count()} * quads_of(length); }
};
constexpr window_runs runs_of(const window& w, std::int64_t depth, bool whole_rows) {
  if (whole_rows) return {w.kernel_h, 1, static_cast<int>(w.kernel_w * depth)};
  return {w.kernel_h, w.kernel_w, static_cast<int>(depth)};
}

/// Rows that wait for their product.
struct quad_row_list {
  quad_row row[max_quad_rows];
  int count;
};

/// One row of pixels of the output and of the residual.
struct stored_line {
  std::uint8_t* output;
  const std::uint8_t* residual;
  std::ptrdiff_t output_stride, residual_stride;  ///< of pixels
};
/// Lists `count` pixels of a line, whose windows begin `stride` bytes apart.
inline void list_pixels(quad_row* row, int count, const std::uint8_t* window, std::ptrdiff_t stride,
                        const stored_line& line, int pixel) {
  std::uint8_t* output = line.output + pixel * line.output_stride;
  const std::uint8_t* residual = line.residual + pixel * line.residual_stride;
  for (int i = 0; i < count; ++i)
    row[i] = {window + i * stride, output + i * line.output_stride, residual + i * line.residual_stride, 0};
}
inline stored_line stored_line_of(const quantized_conv_2d_args& a, int image, int y) {
  const tensor_view &out = a.output, &sum = a.residual_scale != 0 ? a.residual : a.output;
  return {out.as<std::uint8_t>() + image * out.stride[0] + y * out.stride[1],
          sum.as<std::uint8_t>() + image * sum.stride[0] + y * sum.stride[1], out.stride[2], sum.stride[2]};
}

/// One group of a tile.
struct quantized_conv {
  const quantized_conv_2d_args* a;
  window_runs runs;
  quad_weights weights;
  int channel_begin, channel_end, input_channel;
  std::uint8_t* scratch;  ///< one patch
};

/// What the offset of the weights adds to the sums of each row. Sums wrap around, as those of products do.
NSK_ONE_COPY inline void add_offsets(const quantized_conv& c, const quad_runs& runs, quad_row_list& list) {
  for (int i = 0; i < list.count; ++i) {
    std::uint32_t sum = 0;
    for (int y = 0; y < runs.lines; ++y)
      for (int x = 0; x < runs.columns; ++x)
        sum += sum_of_bytes(list.row[i].input + y * runs.line_stride + x * runs.column_stride, c.runs.length);
    sum *= static_cast<std::uint32_t>(c.a->weight_offset);
    std::memcpy(&list.row[i].added, &sum, sizeof sum);
  }
}
/// What rows of windows are multiplied and stored by; the list is empty afterwards.
template <class Support>
struct stored_products {
  void operator()(const quantized_conv& c, const quad_runs& runs, quad_row_list& list) const {
    const quad_store store{{static_cast<std::int16_t>(c.a->zero), static_cast<std::uint8_t>(c.a->low),
                            static_cast<std::uint8_t>(c.a->high)},
                           c.a->residual_scale,
                           c.a->residual_zero,
                           c.a->weight_offset != 0};
    if constexpr (Support::offsets)
      if (store.adds_to_rows) add_offsets(c, runs, list);
    if (list.count > 0)
      quantized_gemm<Support>(list.count, runs, c.weights, c.channel_begin, c.channel_end, list.row, store);
    list.count = 0;
  }
};

/// Rows [row_begin, row_end) and pixels [pixel_begin, pixel_end) of one image of the output.
struct output_part {
  int image, row_begin, row_end, pixel_begin, pixel_end;

  constexpr int rows() const { return row_end - row_begin; }
  constexpr int pixels() const { return pixel_end - pixel_begin; }
};
/// Where their windows are: the first, and the bytes from one to the next below it and beside it.
struct window_places {
  const std::uint8_t* first;
  std::ptrdiff_t line_stride, pixel_stride;
};

/// Lists windows, and multiplies them where the list is full.
template <class Multiply>
struct window_lister {
  const quantized_conv& c;
  quad_row_list& list;
  const Multiply& multiply;

  /// Lists the windows of a part of the output.
  NSK_ONE_COPY void convolve(const output_part& part, const window_places& places, const quad_runs& runs) const {
    const std::uint8_t* line = places.first;
    for (int y = part.row_begin; y < part.row_end; ++y, line += places.line_stride) {
      const stored_line to = stored_line_of(*c.a, part.image, y);
      const std::uint8_t* window = line;
      for (int x = part.pixel_begin; x < part.pixel_end;) {
        const int space = max_quad_rows - list.count, left = part.pixel_end - x, count = space < left ? space : left;
        list_pixels(list.row + list.count, count, window, places.pixel_stride, to, x);
        window += count * places.pixel_stride;
        x += count;
        list.count += count;
        if (list.count == max_quad_rows) multiply(c, runs, list);
      }
    }
  }
};

/// Pixels of the input between the first and the last tap of windows, and those themselves.
constexpr std::int64_t patch_columns(const window& w, std::int64_t pixels) {
  return (pixels - 1) * w.stride_w + std::int64_t{w.kernel_w - 1} * w.dilation_w + 1;
}
/// Lines that the windows of `rows` rows of the output see. With dilation each row has a patch of its own, of lines
/// that are `dilation_h` apart in the image.
constexpr std::int64_t patch_lines(const window& w, std::int64_t rows) {
  return w.dilation_h == 1 ? (rows - 1) * w.stride_h + w.kernel_h : w.kernel_h;
}
/// a * b, or 2^40 where that is less: more than any arena has. Numbers that are not verified yet are allowed.
constexpr std::int64_t limited_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t maximum = std::int64_t{1} << 40;
  if (a <= 0 || b <= 0) return 0;
  return b > maximum / a ? maximum : a * b;
}
/// As many pixels and rows of a part as a patch may have, at least one.
inline output_part first_patch(const window& w, int depth, output_part part) {
  const std::int64_t reach = patch_columns(w, 1), pixels = max_patch_bytes / (patch_lines(w, 1) * depth) - reach;
  if (pixels < (part.pixels() - 1) * std::int64_t{w.stride_w})
    part.pixel_end = part.pixel_begin + 1 + (pixels > 0 ? static_cast<int>(pixels / w.stride_w) : 0);
  const std::int64_t lines = max_patch_bytes / (patch_columns(w, part.pixels()) * depth) - w.kernel_h;
  const bool one = w.dilation_h != 1 || lines < w.stride_h;
  if (one || lines < (part.rows() - 1) * std::int64_t{w.stride_h})
    part.row_end = part.row_begin + 1 + (one ? 0 : static_cast<int>(lines / w.stride_h));
  return part;
}

/// Copies what the windows of a part see; pixels outside the image are the zero point.
NSK_ONE_COPY inline void copy_patch(const quantized_conv& c, const output_part& part) {
  const quantized_conv_2d_args& a = *c.a;
  const tensor_view& in = a.input;
  const int depth = in.shape[3] / a.groups, lines = static_cast<int>(patch_lines(a.w, part.rows()));
  const auto columns = static_cast<std::ptrdiff_t>(patch_columns(a.w, part.pixels()));
  const std::ptrdiff_t x = std::ptrdiff_t{part.pixel_begin} * a.w.stride_w - a.w.pad_left, right = in.shape[2] - x;
  const std::ptrdiff_t first = x < 0 ? (-x < columns ? -x : columns) : 0,
                       last = right < columns ? (right > first ? right : first) : columns;
  const bool dense = in.stride[2] == depth;
  std::uint8_t* to = c.scratch;
  for (int i = 0; i < lines; ++i, to += columns * depth) {
    const int y = part.row_begin * a.w.stride_h - a.w.pad_top + i * a.w.dilation_h;
    if (y < 0 || y >= in.shape[1]) {
      std::memset(to, a.input_zero, static_cast<std::size_t>(columns * depth));
      continue;
    }
    const std::uint8_t* from = in.as<std::uint8_t>() + part.image * in.stride[0] + y * in.stride[1] +
                               (x + first) * in.stride[2] + c.input_channel;
    std::memset(to, a.input_zero, static_cast<std::size_t>(first * depth));
    for (std::ptrdiff_t j = first; j < last; j += dense ? last - first : 1, from += in.stride[2])
      simd::copy_bytes(to + j * depth, from, dense ? (last - first) * depth : depth);
    std::memset(to + last * depth, a.input_zero, static_cast<std::size_t>((columns - last) * depth));
  }
}

/// Copies a part, a patch at a time, and multiplies it.
template <class Multiply>
inline void convolve_patches(const quantized_conv& c, quad_row_list& list, const output_part& whole,
                             const Multiply& multiply) {
  const window& w = c.a->w;
  const int depth = c.a->input.shape[3] / c.a->groups;
  for (output_part rest = whole; rest.row_begin < rest.row_end;) {
    const output_part part = first_patch(w, depth, rest);
    copy_patch(c, part);
    const auto line = static_cast<std::ptrdiff_t>(patch_columns(w, part.pixels()) * depth);
    const quad_runs runs{c.runs.lines, c.runs.columns, static_cast<int>(quads_of(c.runs.length)), line,
                         std::ptrdiff_t{depth} * w.dilation_w};
    const window_lister<Multiply> windows{c, list, multiply};
    windows.convolve(part, {c.scratch, line * w.stride_h, std::ptrdiff_t{depth} * w.stride_w}, runs);
    multiply(c, runs, list);
    rest.pixel_begin = part.pixel_end;
    if (part.pixel_end < rest.pixel_end) continue;
    rest.pixel_begin = whole.pixel_begin;
    rest.row_begin = part.row_end;
  }
}

/// Rows and pixels of the tile in order.
template <class Multiply>
NSK_ONE_COPY inline void convolve_rows(const quantized_conv& c, const tile_range& t, const Multiply& multiply) {
  const quantized_conv_2d_args& a = *c.a;
  const tensor_view& in = a.input;
  const pixel_block all{0, a.output.shape[1], 0, a.output.shape[2]},
      inside = inside_of(all, a.w, {0, in.shape[1], 0, in.shape[2]});
  const bool outside = inside.down() < all.down() || inside.across() < all.across();
  const quad_runs runs{c.runs.lines, c.runs.columns, static_cast<int>(quads_of(c.runs.length)),
                       in.stride[1] * a.w.dilation_h, in.stride[2] * a.w.dilation_w};
  quad_row_list list;
  list.count = 0;
  for_images(t, a.output.shape[1], [&](int image, int y, int y_end) {
    const output_part part{image, y, y_end, t.pixel_begin, t.pixel_end};
    const std::uint8_t* const first = in.as<std::uint8_t>() + image * in.stride[0] +
                                      std::ptrdiff_t{y} * a.w.stride_h * in.stride[1] +
                                      std::ptrdiff_t{t.pixel_begin} * a.w.stride_w * in.stride[2] + c.input_channel;
    if (outside)
      convolve_patches(c, list, part, multiply);
    else
      window_lister<Multiply>{c, list, multiply}.convolve(
          part, {first, a.w.stride_h * in.stride[1], a.w.stride_w * in.stride[2]}, runs);
  });
  multiply(c, runs, list);
}

/// All groups of a tile.
template <class Multiply>
inline void convolve_groups(const quantized_conv_2d_args& a, const tile_range& t, std::byte* scratch,
                            const Multiply& multiply) {
  const int depth = a.input.shape[3] / a.groups, channels = a.output.shape[3] / a.groups;
  quantized_conv c{};
  c.a = &a;
  c.runs = runs_of(a.w, depth, a.whole_rows);
  c.scratch = reinterpret_cast<std::uint8_t*>(scratch);
  for_groups(t, channels, [&](int g, int begin, int end) {
    const std::int64_t quads = c.runs.quads();
    c.weights = {a.weights + g * quad_panel_bytes(channels, quads), channels, quads, g * channels, a.products};
    c.channel_begin = begin;
    c.channel_end = end;
    c.input_channel = g * depth;
    convolve_rows(c, t, multiply);
  });
}
}

/// Quads of the weights of one channel, each group having `depth` channels of the input.
constexpr std::int64_t quads_of_window(const window& w, std::int64_t depth, bool whole_rows) {
  return impl::runs_of(w, depth, whole_rows).quads();
}
/// Bytes of lane scratch for windows that reach outside: a patch of rows x pixels of the output, or of one window, for
/// `group_channels` channels of the input, and what a quad reads beyond the last.
constexpr std::int64_t quantized_conv_2d_scratch_bytes(const window& w, std::int64_t group_channels, std::int64_t rows,
                                                       std::int64_t pixels) {
  const std::int64_t line = impl::limited_product(impl::patch_columns(w, 1), group_channels),
                     lines = impl::limited_product(impl::patch_columns(w, pixels), group_channels);
  const std::int64_t one = impl::limited_product(line, w.kernel_h),
                     whole = impl::limited_product(lines, impl::patch_lines(w, rows));
  const std::int64_t several = whole < impl::max_patch_bytes ? whole : impl::max_patch_bytes;
  return whole_lines((one > several ? one : several) + 4);
}

/// Convolves one tile.
template <class Support = quad_support<>>
inline void quantized_conv_2d(const quantized_conv_2d_args& a, const tile_range& t, std::byte* scratch) {
  impl::convolve_groups(a, t, scratch, impl::stored_products<Support>());
}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
