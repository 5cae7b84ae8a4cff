// SPDX-License-Identifier: MIT
#pragma once
/// Direct convolution where windows reach outside: blocks of outputs whose inputs are gathered, with their padding,
/// into a patch in scratch. Neighbouring windows share what both read.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/product/gemm.hpp>
#include <netsuke/kernels/pixel_block.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Where the outputs of row y of an image go; the line's input is the image.
inline gemm_line line_of(const conv_2d_args& a, int image, int y) {
  const tensor_view &in = a.input, &out = a.output;
  const std::ptrdiff_t* add = a.e.residual_stride;
  float* const output = out.as<float>() + image * out.stride[0] + y * out.stride[1];
  const float* const residual = a.e.residual == nullptr ? nullptr : a.e.residual + image * add[0] + y * add[1];
  return {in.as<float>() + image * in.stride[0], a.w.stride_w * in.stride[2], output, out.stride[2], residual, add[2]};
}

/// Constants of one tile of a direct convolution, for one group.
template <class Kernels, class Weight>
struct direct_conv {
  const conv_2d_args* a;
  gemm_job<Kernels, Weight> job;  ///< windows inside: taps where they are
  int depth, input_channel;       ///< input channels of the group, and the first of them
  pixel_block readable;

  gemm_line line(int image, int y) const { return line_of(*a, image, y); }
};

/// What the windows of `across` outputs side by side read: lines of `taps` runs of `pixels` pixels. A run has the
/// inputs of all taps of a kernel row; with a dilation along rows each tap has its own.
struct patch_shape {
  int across, taps, pixels;

  /// For up to `outputs` outputs: as many as fit where max_tile_rows windows do, and one call of `gemm` takes.
  static patch_shape of(const window& w, int outputs) {
    const int taps = w.dilation_w == 1 ? 1 : w.kernel_w, one = w.kernel_w / taps;
    const std::int64_t fit = std::int64_t{max_tile_rows - 1} * one / w.stride_w + 1;
    const int maximum = fit < gemm_max_rows ? static_cast<int>(fit) : gemm_max_rows,
              across = outputs < maximum ? outputs : maximum;
    return {across, taps, (across - 1) * w.stride_w + one};
  }
  /// Maximum number of rows of outputs whose lines have space; with a dilation down the rows each has lines of its own.
  int max_down(const window& w) const {
    if (w.dilation_h != 1) return 1;
    const std::int64_t lines = std::int64_t{max_tile_rows} * w.kernel_h * w.kernel_w / (std::int64_t{taps} * pixels),
                       down = (lines - w.kernel_h) / w.stride_h + 1, rows = gemm_max_rows / across;
    return static_cast<int>(down < rows ? down : rows);
  }
  gemm_runs runs(const window& w, int depth) const {
    const std::ptrdiff_t run = std::ptrdiff_t{pixels} * depth;
    return {w.kernel_h, taps, w.kernel_w / taps * depth, taps * run, run};
  }
};

/// Windows that wait to be multiplied: their patches follow one another in scratch and have lines of the same length.
struct window_list : gemm_row_list {
  float *scratch, *next;
  patch_shape shape{};

  explicit window_list(float* begin) : scratch(begin), next(begin) {}
};

/// Copies `count` floats without storing part of a register: the sums that soon read it would wait for that.
NSK_INLINE void gather_run(float* to, const float* from, std::ptrdiff_t count) {
  constexpr int lanes = simd::f32::lanes;
  std::ptrdiff_t i = 0;
  for (; i + lanes <= count; i += lanes) simd::store(to + i, simd::load(from + i));
  if (i < count && count > lanes) return simd::store(to + count - lanes, simd::load(from + count - lanes));
  for (; i < count; ++i) to[i] = from[i];
}

/// Copies `count` pixels of row y from pixel x on, channels of one group; zeros where there is nothing to read.
template <class Kernels, class Weight>
inline void gather_pixels(const direct_conv<Kernels, Weight>& d, const float* image, int y, int x, int count,
                          float* to) {
  const std::ptrdiff_t depth = d.depth, pixel = d.a->input.stride[2];
  const pixel_block& r = d.readable;
  int first = x < r.x ? r.x - x : 0, last = x + count > r.x_end ? r.x_end - x : count;
  if (y < r.y || y >= r.y_end || first > count) first = count;
  if (last < first) last = first;
  const float* from = image + y * d.a->input.stride[1] + (x + first) * pixel + d.input_channel;
  for (std::ptrdiff_t i = 0; i < first * depth; ++i) to[i] = 0;
  const int together = pixel == depth ? last - first : 1;
  for (int i = first; i < last; i += together, from += pixel) gather_run(to + i * depth, from, together * depth);
  for (std::ptrdiff_t i = last * depth; i < count * depth; ++i) to[i] = 0;
}

/// Multiplies the windows that wait, and empties the list.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void multiply_gathered(const direct_conv<Kernels, Weight>& d, window_list& list) {
  if (list.count > 0)
    gemm(list.count, list.shape.runs(d.a->w, d.depth), d.job.weights, d.job.channel_begin, d.job.channel_end, list.row,
         d.job.e);
  list.count = 0;
  list.next = list.scratch;
}

/// Gathers the patch of a block that is at most as large as list.shape, and puts its windows on the list.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void push_patch(const direct_conv<Kernels, Weight>& d, window_list& list, int image,
                                    const pixel_block& b) {
  const window& w = d.a->w;
  const gemm_runs runs = list.shape.runs(w, d.depth);
  const int lines = (b.down() - 1) * w.stride_h + w.kernel_h, windows = b.down() * b.across(),
            pixels = list.shape.pixels - (list.shape.across - b.across()) * w.stride_w;
  const float* const end = list.scratch + std::ptrdiff_t{max_tile_rows} * d.job.weights.depth;
  if (list.count + windows > gemm_max_rows || list.next + lines * runs.line_stride > end) multiply_gathered(d, list);
  float* const to = list.next;
  list.next += lines * runs.line_stride;
  const float* const from = d.line(image, 0).input;
  const int y = b.y * w.stride_h - w.pad_top, x = b.x * w.stride_w - w.pad_left;
  for (int i = 0; i < lines; ++i)
    for (int j = 0; j < list.shape.taps; ++j)
      gather_pixels(d, from, y + i * w.dilation_h, x + j * w.dilation_w, pixels,
                    to + i * runs.line_stride + j * runs.column_stride);
  for (int i = 0; i < b.down(); ++i) {
    gemm_line line = d.line(image, b.y + i).from(b.x);
    line.input = to + i * w.stride_h * runs.line_stride;
    line.input_stride = std::ptrdiff_t{w.stride_w} * d.depth;
    list.push(line, b.across());
  }
}

/// Puts the windows of a block of outputs on the list.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void push_gathered(const direct_conv<Kernels, Weight>& d, window_list& list, int image,
                                       const pixel_block& b) {
  if (b.down() <= 0 || b.across() <= 0) return;
  const patch_shape shape = patch_shape::of(d.a->w, b.across());
  if (list.shape.across != shape.across) multiply_gathered(d, list);
  list.shape = shape;
  const int down = shape.max_down(d.a->w);
  for (int y = b.y; y < b.y_end; y += down)
    for (int x = b.x; x < b.x_end; x += shape.across)
      push_patch(
          d, list, image,
          {y, y + down < b.y_end ? y + down : b.y_end, x, x + shape.across < b.x_end ? x + shape.across : b.x_end});
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
