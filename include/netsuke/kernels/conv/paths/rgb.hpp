// SPDX-License-Identifier: MIT
#pragma once
/// Direct convolution of RGB images, the first layer of most vision networks: windows over three channels.
///
/// Outputs side by side begin 3 or 6 floats of the input apart, which is part of the instruction here: one pointer
/// serves all rows of a tile, so that there may be more of them, none is listed, and a multiply-add reads its input
/// from memory as one operation where one with an index is two. Each output stays the same chain: its bias, then k in
/// ascending order.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <type_traits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/product/gemm.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Maximum number of taps of a window: of larger ones, what a tile takes besides its products is little.
inline constexpr int max_rgb_taps = 9;

/// Whether a convolution is computed so on some instruction set.
constexpr bool suits_rgb(const window& w, int groups, int input_channels, int output_channels) {
  return groups == 1 && input_channels == 3 && output_channels > panel_width / 2 && w.stride_w <= 2 &&
         w.dilation_w == 1 && w.kernel_h * w.kernel_w <= max_rgb_taps;
}
/// Whether there is code for them.
template <class Functions, class Weight>
inline constexpr bool has_rgb = std::is_same<Weight, float>::value && (simd::f32::lanes > 1) &&
                                has_kernel_window<Functions>(static_cast<int>(kernel_window::rgb));

/// Chains of multiply-adds of a tile: more would not be faster, or not fit the registers.
inline constexpr int rgb_chains = simd::f32::registers >= 32 ? 16 : 12;
/// Registers of `columns` of a panel, 16 or 24, or of two panels.
constexpr int rgb_vectors(int columns) { return (columns + simd::f32::lanes - 1) / simd::f32::lanes; }
/// Outputs side by side of a tile.
constexpr int rgb_outputs(int columns) { return rgb_chains / rgb_vectors(columns); }
/// Fewest outputs side by side that tiles cover, whatever their columns.
inline constexpr int min_rgb_outputs = rgb_outputs(panel_width);

/// Whether lines of outputs are computed by rgb_line.
template <class Functions>
inline bool has_rgb_lines(const conv_2d_args& a, const gemm_job<Functions, float>& job) {
  const int channels = a.output.shape[3];
  return suits_rgb(a.w, a.groups, a.input.shape[3], channels) && a.input.stride[2] == 3 && job.e.stores_tiles() &&
         !job.e.registers.adds && job.channel_begin == 0 && job.channel_end == channels &&
         (simd::tuning::stores_parts || padded_channels(channels) == channels);
}

/// `tiles` tiles of rgb_outputs(Width) neighbouring outputs by one panel of 16 or 24 columns, or by two. `next` is 1:
/// a compiler that knew it would keep inputs that other outputs read three k later, in memory.
template <int Step, int Width, class Functions>
NSK_ONE_COPY inline void rgb_tiles(int tiles, const gemm_runs& runs, std::ptrdiff_t next,
                                   const gemm_panel<float>& panel, gemm_line line,
                                   const register_epilogue<Functions>& e) {
  using simd::f32, simd::unroll;
  constexpr int vectors = rgb_vectors(Width), outputs = rgb_outputs(Width);
  constexpr bool low = ends_low<Width>;
  constexpr int whole = low ? vectors - 1 : vectors;
  const gemm_panel<float> p = panel;
  register_epilogue<Functions> finish = e;
  finish.adds = false;
  for (; tiles > 0; --tiles, line = line.from(outputs)) {
    f32 sum[outputs][vectors];
    unroll<vectors>([&](auto v) NSK_INLINE_LAMBDA {
      const f32 bias = simd::load(p.bias + column_offset<Width>(v, p.bias_step));
      unroll<outputs>([&](auto r) NSK_INLINE_LAMBDA { sum[r][v] = bias; });
    });
    const float *weights = p.weights, *from = line.input;
    for (int y = runs.lines; y > 0; --y, from += runs.line_step)
      for (const float *x = from, *const end = x + runs.length; x < end; x += Step == 3 ? next : 1, weights += p.step) {
        f32 w[vectors];
        unroll<whole>([&](auto v)
                          NSK_INLINE_LAMBDA { w[v] = simd::load(weights + column_offset<Width>(v, p.panel_step)); });
        if constexpr (low) w[whole] = simd::load_weights_low(weights + whole * f32::lanes);
        unroll<outputs>([&](auto r) NSK_INLINE_LAMBDA {
          const f32 a = low ? simd::broadcast_low(x + r * Step) : simd::broadcast(x + r * Step);
          unroll<whole>([&](auto v) NSK_INLINE_LAMBDA { sum[r][v] = simd::fma(a, w[v], sum[r][v]); });
          if constexpr (low) sum[r][whole] = simd::fma_low(a, w[whole], sum[r][whole]);
        });
      }
    const auto place = [&](auto r) NSK_INLINE_LAMBDA {
      return tile_row{nullptr, line.output + r * line.output_step, nullptr};
    };
    store_tile_at<low>(sum, finish, place, p.channel, simd::tuning::stores_parts ? p.columns : vectors * f32::lanes);
  }
}

/// `count` outputs side by side by one panel or two; the last tile may compute some of those before it again.
template <int Width, class Functions>
NSK_INLINE void rgb_panel(const conv_2d_args& a, const gemm_job<Functions, float>& job, const gemm_panel<float>& p,
                          const gemm_line& line, int count) {
  constexpr int outputs = rgb_outputs(Width);
  const auto multiply = [&](int tiles, const gemm_line& part) {
    const std::ptrdiff_t next = a.input.stride[3];
    if (a.w.stride_w == 1)
      rgb_tiles<3, Width>(tiles, job.runs, next, p, part, job.e.registers);
    else
      rgb_tiles<6, Width>(tiles, job.runs, next, p, part, job.e.registers);
  };
  multiply(count / outputs, line);
  if (count % outputs > 0) multiply(1, line.from(count - outputs));
}

/// A line of at least min_rgb_outputs outputs whose windows are inside, all channels.
template <class Functions>
NSK_ONE_COPY inline void rgb_line(const conv_2d_args& a, const gemm_job<Functions, float>& job, const gemm_line& line,
                                  int count) {
  constexpr int together = pairs_together<Functions>;
  for (int index = 0, panels = static_cast<int>(panel_count(job.weights.channels)); index < panels;) {
    const gemm_panel<float> p = panels_part<together, Functions>(job.weights, index, 0, job.channel_end);
    index += p.panels;
    if (together > 1 && p.panels > 1)
      rgb_panel<together * panel_width>(a, job, p, line, count);
    else if (p.columns > panel_width)
      rgb_panel<24>(a, job, p, line, count);
    else
      rgb_panel<panel_width>(a, job, p, line, count);
  }
  if (!job.e.maps()) return;
  map_lines<Functions>(*job.e.e, {line.output, line.output_step, false}, {line.output, line.output_step},
                       {count, job.channel_end});
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
