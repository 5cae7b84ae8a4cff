// SPDX-License-Identifier: MIT
#pragma once
/// Direct convolution of any layer. Windows are rows of a matrix that is never built; the taps of one kernel row are
/// one contiguous run.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/conv/padded_patch.hpp>
#include <netsuke/kernels/product/gemm.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// A block of outputs of one image. Windows inside are multiplied where they are, but whole rows are gathered where a
/// patch has space for them: that takes less than their ends would.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void convolve_block(const direct_conv<Kernels, Weight>& d, gemm_row_list& inside,
                                        window_list& outside, int image, const pixel_block& b) {
  const window& w = d.a->w;
  const tensor_view& in = d.a->input;
  pixel_block direct = inside_of(b, w, d.readable);
  if (direct.across() < b.across() && patch_shape::of(w, b.across()).across == b.across())
    direct.y = direct.y_end = b.y;
  for_surroundings(b, direct, [&](const pixel_block& part) { push_gathered(d, outside, image, part); });
  for (int y = direct.y; y < direct.y_end; ++y) {
    gemm_line line = d.line(image, y);
    line.input += (y * w.stride_h - w.pad_top) * in.stride[1] - w.pad_left * in.stride[2] + d.input_channel;
    gemm_push(d.job, inside, line.from(direct.x), direct.across());
  }
}

inline gemm_runs runs_of(const conv_2d_args& a, int depth) {
  const std::ptrdiff_t row = a.input.stride[1] * a.w.dilation_h, column = a.input.stride[2] * a.w.dilation_w;
  if (column == depth) return {a.w.kernel_h, 1, a.w.kernel_w * depth, row, 0};
  return {a.w.kernel_h, a.w.kernel_w, depth, row, column};
}

/// Computes the output channels [begin, end) of the tile, all of one group, whose `group_channels` input channels begin
/// with `input_channel`. Windows inside the image are multiplied where they are; those over its edge are gathered in
/// `patches` first, which has space for max_tile_rows of them.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void convolve_channels(const conv_2d_args& a, const tile_range& t, const gemm_weights<Weight>& w,
                                           int group_channels, int input_channel, int begin, int end, float* patches) {
  const std::int64_t rows = std::int64_t{t.row_end - t.row_begin} * (t.pixel_end - t.pixel_begin);
  const gemm_job<Kernels, Weight> job{
      runs_of(a, group_channels), w, begin, end, gemm_block_rows(w.depth, rows), prepare<Kernels>(a.e, a.output.rank)};
  const direct_conv<Kernels, Weight> d{&a, job, group_channels, input_channel, readable_pixels(a.input)};
  gemm_row_list inside_rows;
  window_list edge_windows(patches);
  for_images(t, a.output.shape[1], [&](int image, int y, int y_end) {
    convolve_block(d, inside_rows, edge_windows, image, {y, y_end, t.pixel_begin, t.pixel_end});
  });
  gemm_flush(d.job, inside_rows);
  multiply_gathered(d, edge_windows);
}

/// A tile of a direct convolution, group by group.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void convolve_groups(const conv_2d_args& a, const tile_range& t, float* scratch) {
  Kernels::took(fast_path::general);
  const int depth = a.input.shape[3] / a.groups, channels = a.output.shape[3] / a.groups,
            k = a.w.kernel_h * a.w.kernel_w * depth;
  const Weight* const weights = static_cast<const Weight*>(a.weights);
  const std::int64_t rows = std::int64_t{t.row_end - t.row_begin} * (t.pixel_end - t.pixel_begin);
  for_groups(t, channels, [&](int g, int begin, int end) {
    const gemm_weights<Weight> all{weights + g * panel_elements<Weight>(channels, k), channels, k, g * channels};
    multiply_matrix(all, rows, begin, end, [&](const auto& w, int from, int to) NSK_INLINE_LAMBDA {
      convolve_channels<Kernels>(a, t, w, depth, g * depth, from, to, scratch);
    });
  });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
