// SPDX-License-Identifier: MIT
#pragma once
/// 2-D convolution. Direct: windows are rows of a matrix that is never built; the taps of one kernel row are one
/// contiguous run. Winograd: product/winograd.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/product/gemm.hpp>
#include <netsuke/kernels/conv/paths/few_outputs.hpp>
#include <netsuke/kernels/conv/padded_patch.hpp>
#include <netsuke/kernels/conv/paths/rgb.hpp>
#include <netsuke/kernels/conv/paths/small_groups.hpp>
#include <netsuke/kernels/product/winograd.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// A block of outputs of one image. Windows inside are multiplied where they are, but whole rows are gathered where a
/// patch has space for them: that takes less than their ends would, except where rows are rgb_line's.
template <class Functions, class Weight>
NSK_ONE_COPY inline void convolve_block(const direct_conv<Functions, Weight>& d, gemm_row_list& inside,
                                        window_list& outside, int image, const pixel_block& b) {
  const window& w = d.a->w;
  const tensor_view& in = d.a->input;
  pixel_block direct = inside_of(b, w, d.readable);
  bool is_rgb = false;
  if constexpr (has_rgb<Functions, Weight>) is_rgb = direct.across() >= min_rgb_outputs && has_rgb_lines(*d.a, d.job);
  if (!is_rgb && direct.across() < b.across() && patch_shape::of(w, b.across()).across == b.across())
    direct.y = direct.y_end = b.y;
  for_surroundings(b, direct, [&](const pixel_block& part) { push_gathered(d, outside, image, part); });
  for (int y = direct.y; y < direct.y_end; ++y) {
    gemm_line line = d.line(image, y);
    line.input += (y * w.stride_h - w.pad_top) * in.stride[1] - w.pad_left * in.stride[2] + d.input_channel;
    if constexpr (has_rgb<Functions, Weight>)
      if (is_rgb) {
        rgb_line(*d.a, d.job, line.from(direct.x), direct.across());
        continue;
      }
    gemm_push(d.job, inside, line.from(direct.x), direct.across());
  }
}

inline gemm_runs runs_of(const conv_2d_args& a, int depth) {
  const std::ptrdiff_t row = a.input.stride[1] * a.w.dilation_h, column = a.input.stride[2] * a.w.dilation_w;
  if (column == depth) return {a.w.kernel_h, 1, a.w.kernel_w * depth, row, 0};
  return {a.w.kernel_h, a.w.kernel_w, depth, row, column};
}

/// The output channels [begin, end) of the tile, all of one group, whose `depth` input channels begin with
/// `input_channel`. `patches` has space for max_tile_rows windows.
template <class Functions, class Weight>
NSK_ONE_COPY inline void convolve_channels(const conv_2d_args& a, const tile_range& t, const gemm_weights<Weight>& w,
                                           int depth, int input_channel, int begin, int end, float* patches) {
  const std::int64_t rows = std::int64_t{t.row_end - t.row_begin} * (t.pixel_end - t.pixel_begin);
  const gemm_job<Functions, Weight> job{
      runs_of(a, depth), w, begin, end, gemm_block_rows(w.depth, rows), prepare<Functions>(a.e, a.output.rank)};
  const direct_conv<Functions, Weight> d{&a, job, depth, input_channel, readable_pixels(a.input)};
  gemm_row_list inside;
  window_list outside(patches);
  for_images(t, a.output.shape[1], [&](int image, int y, int y_end) {
    convolve_block(d, inside, outside, image, {y, y_end, t.pixel_begin, t.pixel_end});
  });
  gemm_flush(d.job, inside);
  multiply_gathered(d, outside);
}

/// The channels of a tile that are whole registers of groups of Size; returns the first channel that is left.
template <class Functions, int Size>
NSK_ONE_COPY inline int convolve_small_groups(const conv_2d_args& a, const tile_range& t) {
  constexpr int lanes = simd::f32::lanes;
  const int taps = a.w.kernel_h * a.w.kernel_w;
  alignas(64) float patches[max_tile_rows * max_group_taps * lanes];
  group_block<Size> block;
  int c = t.channel_begin;
  for (; c + lanes <= t.channel_end; c += lanes) {
    block.collect(static_cast<const float*>(a.weights), c, taps * Size);
    const gemm_weights<in_groups<Size>> w{block.data, lanes, taps * lanes, c};
    convolve_channels<Functions>(a, t, w, lanes, c, c, c + lanes, patches);
  }
  return c;
}
template <class Functions>
inline int convolve_small_groups(const conv_2d_args& a, const tile_range& t) {
  const int size = size_of_small_groups(a.w, a.groups, a.input.shape[3], a.output.shape[3]);
  if constexpr (has_small_groups<Functions, 2>)
    if (size == 2) return convolve_small_groups<Functions, 2>(a, t);
  if constexpr (has_small_groups<Functions, 4>)
    if (size == 4) return convolve_small_groups<Functions, 4>(a, t);
  if constexpr (has_small_groups<Functions, 8>)
    if (size == 8) return convolve_small_groups<Functions, 8>(a, t);
  return t.channel_begin;
}

/// The tile of a convolution with few outputs; returns whether it is one.
template <class Functions>
inline bool convolve_few_outputs(const conv_2d_args& a, const tile_range& t) {
  if (!suits_few_outputs(a.w, a.groups, a.input.shape[3], a.output.shape[3], simd::f32::lanes)) return false;
  conv_2d_args all = a;
  const bool whole = t.pixel_end - t.pixel_begin == a.output.shape[2];
  const int width = whole && join_rows(all) ? t.pixel_end : 0;
  const pixel_conv<Functions> d(all);
  for_images(t, a.output.shape[1], [&](int image, int y, int y_end) {
    const pixel_block in_rows{y, y_end, t.pixel_begin, t.pixel_end}, in_one{0, 1, y * width, y_end * width};
    convolve_few_outputs(d, image, width > 0 ? in_one : in_rows);
  });
  return true;
}

template <class Functions = all_functions, class Weight = float>
NSK_ONE_COPY inline void direct_conv_2d(const conv_2d_args& a, const tile_range& t, float* scratch) {
  const int depth = a.input.shape[3] / a.groups, channels = a.output.shape[3] / a.groups,
            k = a.w.kernel_h * a.w.kernel_w * depth;
  const Weight* const weights = static_cast<const Weight*>(a.weights);
  const std::int64_t rows = std::int64_t{t.row_end - t.row_begin} * (t.pixel_end - t.pixel_begin);
  tile_range left = t;
  if constexpr (has_few_outputs<Functions, Weight>)
    if (convolve_few_outputs<Functions>(a, t)) return;
  if constexpr (std::is_same<Weight, float>::value) left.channel_begin = convolve_small_groups<Functions>(a, t);
  for_groups(left, channels, [&](int g, int begin, int end) {
    const gemm_weights<Weight> all{weights + g * panel_elements<Weight>(channels, k), channels, k, g * channels};
    multiply_matrix(all, rows, begin, end, [&](const auto& w, int from, int to) NSK_INLINE_LAMBDA {
      convolve_channels<Functions>(a, t, w, depth, g * depth, from, to, scratch);
    });
  });
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
