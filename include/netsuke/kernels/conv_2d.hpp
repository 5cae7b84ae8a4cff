// SPDX-License-Identifier: MIT
#pragma once
/// 2-D convolution. Direct: windows are rows of a matrix that is never built; the taps of one kernel row are one
/// contiguous run. Winograd: impl/winograd.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/gemm.hpp>
#include <netsuke/kernels/impl/rows.hpp>
#include <netsuke/kernels/impl/winograd.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Constants of one tile of a direct convolution, for one group.
template <class Functions, class Weight>
struct direct_conv {
  const conv_2d_args* a;
  gemm_job<Functions, Weight> job;  ///< windows inside: taps where they are
  int depth, input_channel;         ///< input channels of the group, and the first of them
  int top, left, bottom, right;     ///< pixels that can be read: [top, bottom) x [left, right)
};

/// Windows that reach outside and wait to be gathered: their image (the element at pixel (0, 0)) and their corner.
struct window_list : row_list<max_tile_rows> {
  std::int32_t y[max_tile_rows], x[max_tile_rows];
};

/// Copies `count` floats; short runs without a call. May read up to over_read bytes past the end.
NSK_INLINE void gather_run(float* to, const float* from, std::ptrdiff_t count) {
  using simd::f32;
  if (count > 64) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
    return;
  }
  for_registers(static_cast<int>(count), [&](int i, int n) NSK_INLINE_LAMBDA {
    const f32 x = simd::load(from + i);
    n == f32::lanes ? simd::store(to + i, x) : simd::store_partial(to + i, n, x);
  });
}
NSK_INLINE void gather_zeros(float* to, std::ptrdiff_t count) {
  for_registers(static_cast<int>(count), [&](int i, int n) NSK_INLINE_LAMBDA {
    n == simd::f32::lanes ? simd::store(to + i, simd::zero()) : simd::store_partial(to + i, n, simd::zero());
  });
}

/// Copies one window, channels of one group, in the order of k; zeros where there is nothing to read.
template <class Functions, class Weight>
inline void gather_window(const direct_conv<Functions, Weight>& d, const float* image, int y, int x, float* to) {
  const conv_2d_args& a = *d.a;
  const int taps = a.w.kernel_w, step = a.w.dilation_w;
  const std::ptrdiff_t line = std::ptrdiff_t{taps} * d.depth, pixel = a.input.stride[2];
  int first = 0, last = taps;  // taps of a kernel row that are inside
  while (first < taps && x + first * step < d.left) ++first;
  while (last > first && x + (last - 1) * step >= d.right) --last;
  for (int i = 0; i < a.w.kernel_h; ++i, to += line) {
    const int row = y + i * a.w.dilation_h;
    const bool inside = row >= d.top && row < d.bottom;
    const std::ptrdiff_t begin = inside ? first : taps, end = inside ? last : taps;
    const float* from = image + row * a.input.stride[1] + x * pixel + d.input_channel;
    if (begin > 0) gather_zeros(to, begin * d.depth);
    if (step * pixel == d.depth) {
      if (begin < end) gather_run(to + begin * d.depth, from + begin * pixel, (end - begin) * d.depth);
    } else {
      for (std::ptrdiff_t j = begin; j < end; ++j) gather_run(to + j * d.depth, from + j * step * pixel, d.depth);
    }
    if (end < taps) gather_zeros(to + end * d.depth, (taps - end) * d.depth);
  }
}

/// Gathers the windows that wait, multiplies them, and empties the list.
template <class Functions, class Weight>
NSK_ONE_COPY inline void multiply_gathered(const direct_conv<Functions, Weight>& d, window_list& list, float* scratch) {
  const int depth = static_cast<int>(d.job.weights.depth);
  for (int r = 0; r < list.count; ++r) {
    float* to = scratch + std::ptrdiff_t{depth} * r;
    gather_window(d, list.row[r].input, list.y[r], list.x[r], to);
    list.row[r].input = to;
  }
  if (list.count > 0)
    gemm(list.count, {1, 1, depth}, d.job.weights, d.job.channel_begin, d.job.channel_end, list.row, d.job.e);
  list.count = 0;
}

/// Puts the windows of output pixels [begin, end) of one row on the list; `line.input` is the image, y the windows'
/// first input row.
template <class Functions, class Weight>
NSK_ONE_COPY inline void push_outside(const direct_conv<Functions, Weight>& d, window_list& list, const gemm_line& line,
                                      int y, int begin, int end, float* scratch) {
  for (int pixel = begin; pixel < end; ++pixel) {
    list.y[list.count] = y;
    list.x[list.count] = pixel * d.a->w.stride_w - d.a->w.pad_left;
    gemm_line one = line.from(pixel);
    one.input = line.input;
    list.push(one, 1);
    if (list.count == max_tile_rows) multiply_gathered(d, list, scratch);
  }
}

/// Output rows and pixels of the tile in order; windows inside are multiplied where they are, block by block.
template <class Functions, class Weight>
NSK_ONE_COPY inline void convolve_rows(const direct_conv<Functions, Weight>& d, const tile_range& t, float* scratch) {
  const conv_2d_args& a = *d.a;
  const tensor_view &in = a.input, &out = a.output;
  const int height = out.shape[1], reach_y = (a.w.kernel_h - 1) * a.w.dilation_h,
            reach_x = (a.w.kernel_w - 1) * a.w.dilation_w;
  int begin = t.pixel_begin, end = t.pixel_end;
  cut_inside(begin, end, a.w.stride_w, a.w.pad_left, reach_x, d.left, d.right);
  gemm_row_list inside;
  window_list outside;
  int image = t.row_begin / height, oy = t.row_begin % height;
  for (int row = t.row_begin; row < t.row_end; ++row, ++oy) {
    if (oy == height) oy = 0, ++image;
    const int y = oy * a.w.stride_h - a.w.pad_top;
    const std::ptrdiff_t* add = a.e.residual_stride;
    gemm_line line{in.as<float>() + image * in.stride[0],
                   a.w.stride_w * in.stride[2],
                   out.as<float>() + image * out.stride[0] + oy * out.stride[1],
                   out.stride[2],
                   a.e.residual == nullptr ? nullptr : a.e.residual + image * add[0] + oy * add[1],
                   add[2]};
    if (y < d.top || y + reach_y >= d.bottom) {
      push_outside(d, outside, line, y, t.pixel_begin, t.pixel_end, scratch);
      continue;
    }
    push_outside(d, outside, line, y, t.pixel_begin, begin, scratch);
    push_outside(d, outside, line, y, end, t.pixel_end, scratch);
    line.input += y * in.stride[1] - a.w.pad_left * in.stride[2] + d.input_channel;
    gemm_push(d.job, inside, line.from(begin), end - begin);
  }
  gemm_flush(d.job, inside);
  multiply_gathered(d, outside, scratch);
}

inline gemm_runs runs_of(const conv_2d_args& a, int depth) {
  const std::ptrdiff_t row = a.input.stride[1] * a.w.dilation_h, column = a.input.stride[2] * a.w.dilation_w;
  if (column == depth) return {a.w.kernel_h, 1, a.w.kernel_w * depth, row, 0};
  return {a.w.kernel_h, a.w.kernel_w, depth, row, column};
}

/// The output channels [begin, end) of the tile, all of one group whose first input channel is `input_channel`.
template <class Functions, class Weight>
NSK_ONE_COPY inline void convolve_channels(const conv_2d_args& a, const tile_range& t, const gemm_weights<Weight>& w,
                                           int input_channel, int begin, int end, float* scratch) {
  const int depth = a.input.shape[3] / a.groups;
  const halo border = a.input.fill == 0 ? a.input.border : halo{};
  const direct_conv<Functions, Weight> d{
      &a,
      {runs_of(a, depth), w, begin, end, gemm_block_rows(w.depth), prepare<Functions>(a.e, a.output.rank)},
      depth,
      input_channel,
      -border.top,
      -border.left,
      a.input.shape[1] + border.bottom,
      a.input.shape[2] + border.right};
  convolve_rows(d, t, scratch);
}

template <class Functions = all_functions, class Weight = float>
NSK_ONE_COPY inline void direct_conv_2d(const conv_2d_args& a, const tile_range& t, float* scratch) {
  const int depth = a.input.shape[3] / a.groups, channels = a.output.shape[3] / a.groups,
            k = a.w.kernel_h * a.w.kernel_w * depth;
  const Weight* const weights = static_cast<const Weight*>(a.weights);
  const std::int64_t rows = std::int64_t{t.row_end - t.row_begin} * (t.pixel_end - t.pixel_begin);
  for (int g = t.channel_begin / channels; g * channels < t.channel_end; ++g) {
    const int first = g * channels, begin = t.channel_begin > first ? t.channel_begin : first,
              end = t.channel_end < first + channels ? t.channel_end : first + channels;
    const gemm_weights<Weight> all{weights + g * panel_elements<Weight>(channels, k), channels, k, first};
    multiply_matrix(all, rows, begin, end, [&](const auto& w, int from, int to) NSK_INLINE_LAMBDA {
      convolve_channels<Functions>(a, t, w, g * depth, from, to, scratch);
    });
  }
}

}

/// Convolves one tile. Strides of the last dimension of input and output are 1. Winograd's weights are floats.
template <class Functions = all_functions>
inline void conv_2d(const conv_2d_args& a, const tile_range& t, std::byte* scratch) {
  float* lane = reinterpret_cast<float*>(scratch);
  if (a.algorithm == conv_algorithm::direct)
    impl::direct_conv_2d<Functions>(a, t, lane);
  else
    impl::winograd_conv_2d<Functions>(a, t, lane);
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
