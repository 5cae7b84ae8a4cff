// SPDX-License-Identifier: MIT
#pragma once
/// 2-D convolution of stored integers: bytes in, bytes out, by the rule of kernels/quantized_gemm.hpp.
///
/// Windows are rows of a matrix that is never built. Those that reach outside the image are gathered in scratch, where
/// the missing pixels are the zero point: what stands for 0.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/core/tensor.hpp>
#include <netsuke/format/params.hpp>
#include <netsuke/format/scratch.hpp>
#include <netsuke/kernels/impl/rows.hpp>
#include <netsuke/kernels/quantized_gemm.hpp>
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

/// Maximum number of rows of one call of `quantized_gemm`.
inline constexpr int max_quad_rows = 96;

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
  int count = 0;
};

/// One row of pixels of the output and of the residual.
struct stored_line {
  std::uint8_t* output;
  const std::uint8_t* residual;
  std::ptrdiff_t output_step, residual_step;  ///< of pixels

  quad_row pixel(const std::uint8_t* input, int x) const {
    return {input, output + x * output_step, residual + x * residual_step};
  }
};
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
  std::uint8_t* scratch;  ///< max_tile_rows gathered windows
};

/// Runs of windows that are where they are in the image, and of windows that were gathered.
inline quad_runs inside_runs(const quantized_conv& c) {
  const quantized_conv_2d_args& a = *c.a;
  return {c.runs.lines, c.runs.columns, static_cast<int>(quads_of(c.runs.length)), a.input.stride[1] * a.w.dilation_h,
          a.input.stride[2] * a.w.dilation_w};
}
inline quad_runs gathered_runs(const quantized_conv& c) {
  return {c.runs.count(), 1, static_cast<int>(quads_of(c.runs.length)), c.runs.length, 0};
}
/// What the offset of the weights adds to the sums of each row. Sums wrap around, as those of products do.
NSK_ONE_COPY inline void add_offsets(const quantized_conv& c, const quad_runs& runs, quad_row_list& list) {
  for (int i = 0; i < list.count; ++i) {
    std::uint32_t sum = 0;
    for (int y = 0; y < runs.lines; ++y)
      for (int x = 0; x < runs.columns; ++x)
        sum += sum_of_bytes(list.row[i].input + y * runs.line_step + x * runs.column_step, c.runs.length);
    sum *= static_cast<std::uint32_t>(c.a->weight_offset);
    std::memcpy(&list.row[i].added, &sum, sizeof sum);
  }
}
/// What rows of windows are multiplied and stored by; the list is empty afterwards.
struct stored_products {
  void operator()(const quantized_conv& c, const quad_runs& runs, quad_row_list& list) const {
    const quad_store store{{static_cast<std::int16_t>(c.a->zero), static_cast<std::uint8_t>(c.a->low),
                            static_cast<std::uint8_t>(c.a->high)},
                           c.a->residual_scale,
                           c.a->residual_zero,
                           c.a->weight_offset != 0};
    if (store.adds_to_rows) add_offsets(c, runs, list);
    if (list.count > 0) quantized_gemm(list.count, runs, c.weights, c.channel_begin, c.channel_end, list.row, store);
    list.count = 0;
  }
};

/// Copies the window whose first tap is pixel (y, x) of `image`; pixels outside are the zero point. Taps that follow
/// each other in memory are copied at once.
inline void gather_window(const quantized_conv& c, const std::uint8_t* image, int y, int x, std::uint8_t* to) {
  const quantized_conv_2d_args& a = *c.a;
  const window& w = a.w;
  const int depth = a.input.shape[3] / a.groups;
  int first = 0, last = w.kernel_w;  // the columns inside
  while (first < last && x + first * w.dilation_w < 0) ++first;
  while (first < last && x + (last - 1) * w.dilation_w >= a.input.shape[2]) --last;
  const std::ptrdiff_t step = w.dilation_w * a.input.stride[2];
  const int together = step == depth ? last - first : 1;
  for (int i = 0; i < w.kernel_h; ++i, to += w.kernel_w * depth) {
    const int row = y + i * w.dilation_h;
    const bool inside = row >= 0 && row < a.input.shape[1];
    if (!inside || last - first < w.kernel_w)
      std::memset(to, a.input_zero, static_cast<std::size_t>(w.kernel_w) * static_cast<std::size_t>(depth));
    if (!inside) continue;
    const std::uint8_t* const from = image + row * a.input.stride[1] + x * a.input.stride[2] + c.input_channel;
    for (int j = first; j < last; j += together)
      std::memcpy(to + j * depth, from + j * step,
                  static_cast<std::size_t>(together) * static_cast<std::size_t>(depth));
  }
}

/// Output pixels [begin, end) of one row, whose windows begin in input row `y` and reach outside.
template <class Multiply>
NSK_ONE_COPY inline void convolve_outside(const quantized_conv& c, quad_row_list& list, const std::uint8_t* image,
                                          const stored_line& line, int y, int begin, int end,
                                          const Multiply& multiply) {
  const std::ptrdiff_t window_bytes = std::ptrdiff_t{c.runs.count()} * c.runs.length;
  for (int pixel = begin; pixel < end; ++pixel) {
    std::uint8_t* const to = c.scratch + list.count * window_bytes;
    gather_window(c, image, y, pixel * c.a->w.stride_w - c.a->w.pad_left, to);
    list.row[list.count++] = line.pixel(to, pixel);
    if (list.count == max_tile_rows) multiply(c, gathered_runs(c), list);
  }
}

/// Rows and pixels of the tile in order.
template <class Multiply>
NSK_ONE_COPY inline void convolve_rows(const quantized_conv& c, const tile_range& t, const Multiply& multiply) {
  const quantized_conv_2d_args& a = *c.a;
  const tensor_view &in = a.input, &out = a.output;
  const int reach_y = (a.w.kernel_h - 1) * a.w.dilation_h, reach_x = (a.w.kernel_w - 1) * a.w.dilation_w;
  int begin = t.pixel_begin, end = t.pixel_end;
  cut_inside(begin, end, a.w.stride_w, a.w.pad_left, reach_x, 0, in.shape[2]);
  quad_row_list inside, outside;
  for (int row = t.row_begin; row < t.row_end; ++row) {
    const int image = row / out.shape[1], oy = row % out.shape[1], y = oy * a.w.stride_h - a.w.pad_top;
    const std::uint8_t* const from = in.as<std::uint8_t>() + image * in.stride[0];
    const stored_line to = stored_line_of(a, image, oy);
    if (y < 0 || y + reach_y >= in.shape[1]) {
      convolve_outside(c, outside, from, to, y, t.pixel_begin, t.pixel_end, multiply);
      continue;
    }
    convolve_outside(c, outside, from, to, y, t.pixel_begin, begin, multiply);
    convolve_outside(c, outside, from, to, y, end, t.pixel_end, multiply);
    for (int pixel = begin; pixel < end; ++pixel) {
      const int x = pixel * a.w.stride_w - a.w.pad_left;
      inside.row[inside.count++] = to.pixel(from + y * in.stride[1] + x * in.stride[2] + c.input_channel, pixel);
      if (inside.count == max_quad_rows) multiply(c, inside_runs(c), inside);
    }
  }
  multiply(c, inside_runs(c), inside);
  multiply(c, gathered_runs(c), outside);
}

/// All groups of a tile.
template <class Multiply>
inline void convolve_groups(const quantized_conv_2d_args& a, const tile_range& t, std::byte* scratch,
                            const Multiply& multiply) {
  const int depth = a.input.shape[3] / a.groups, channels = a.output.shape[3] / a.groups;
  quantized_conv c{&a, runs_of(a.w, depth, a.whole_rows), {}, 0, 0, 0, reinterpret_cast<std::uint8_t*>(scratch)};
  for (int g = t.channel_begin / channels; g * channels < t.channel_end; ++g) {
    const int first = g * channels;
    const std::int64_t quads = c.runs.quads();
    c.weights = {a.weights + g * quad_panel_bytes(channels, quads), channels, quads, first, a.products};
    c.channel_begin = t.channel_begin > first ? t.channel_begin : first;
    c.channel_end = t.channel_end < first + channels ? t.channel_end : first + channels;
    c.input_channel = g * depth;
    convolve_rows(c, t, multiply);
  }
}

}

/// Quads of the weights of one channel, each group having `depth` channels of the input.
constexpr std::int64_t quads_of_window(const window& w, std::int64_t depth, bool whole_rows) {
  return impl::runs_of(w, depth, whole_rows).quads();
}
/// Bytes of lane scratch: max_tile_rows windows of one group, and what a quad reads beyond the last.
constexpr std::int64_t quantized_conv_2d_scratch_bytes(const window& w, std::int64_t group_channels) {
  return whole_lines(std::int64_t{max_tile_rows} * w.kernel_h * w.kernel_w * group_channels + 4);
}

/// Convolves one tile.
inline void quantized_conv_2d(const quantized_conv_2d_args& a, const tile_range& t, std::byte* scratch) {
  impl::convolve_groups(a, t, scratch, impl::stored_products());
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
