// SPDX-License-Identifier: MIT
#pragma once
/// The inner tiles of depthwise convolution: channels in lanes, a few neighbouring pixels in registers.
///
/// Each output is one chain of fused multiply-adds: bias, then taps by kernel row and column. Taps outside the input
/// multiply zeros.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/epilogue.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Constants of one call. Strides in floats. `weights` is the panel whose column 0 is channel `first_channel`. Rows of
/// outputs begin at channel `origin`; with `whole` their last register is stored whole.
template <class Functions, class Weight>
struct depthwise_call {
  const depthwise_conv_2d_args* a;
  const Weight* weights;
  int first_channel;
  register_epilogue<Functions> e;
  int channel_begin, channel_end, channels, taps, origin;
  std::ptrdiff_t row, pixel;     ///< of the input
  int top, left, bottom, right;  ///< pixels that can be read
  bool whole;
};

/// One image: its element at pixel (0, 0) in input, output and residual.
struct depthwise_image {
  const float* input;
  float* output;
  const float* residual;
};
/// Maximum number of outputs of one register tile.
inline constexpr int depthwise_max_outputs = 8;

/// First tap of the window of output pixel (y, x).
template <class Functions, class Weight>
NSK_INLINE const float* first_tap(const depthwise_call<Functions, Weight>& d, const depthwise_image& m, int y, int x) {
  const window& w = d.a->w;
  return m.input + (y * w.stride_h - w.pad_top) * d.row + (x * w.stride_w - w.pad_left) * d.pixel;
}

/// A column of a panel: its bias, and how many columns are in front of it.
template <class Weight>
struct panel_column {
  const float* bias;
  int inside;

  /// Its first weight, in a panel of `width` columns.
  NSK_INLINE const Weight* weights(std::ptrdiff_t width) const {
    constexpr int per_bias = weights_per_bias<Weight>;
    return reinterpret_cast<const Weight*>(bias) + per_bias * width - (per_bias - 1) * inside;
  }
};

/// Calls f(column of the first channel, weights between taps, channel, columns) for vectors of channels.
template <class Functions, class Weight, class F>
NSK_INLINE void for_channels(const depthwise_call<Functions, Weight>& d, F&& f) {
  const int last = static_cast<int>(panel_count(d.channels)) - 1;
  for (int c = d.channel_begin; c < d.channel_end;) {
    const int panel = c / panel_width < last ? c / panel_width : last, left = panel * panel_width;
    const int width = static_cast<int>(width_of_panel(d.channels, panel)),
              end = left + width < d.channel_end ? left + width : d.channel_end;
    constexpr int per_bias = weights_per_bias<Weight>;
    const Weight* first = d.weights + std::ptrdiff_t{left - d.first_channel} * (d.taps + per_bias);
    const float* bias = reinterpret_cast<const float*>(first) - left;
    for (; c < end; c += simd::f32::lanes)
      f(panel_column<Weight>{bias + c, c - left}, width, c,
        d.whole || end - c >= simd::f32::lanes ? simd::f32::lanes : end - c);
    c = end;
  }
}

/// Adds what one input row gives to the outputs of one output row: each pixel is loaded once and meets every tap of its
/// kernel row. `line` is the first pixel, `sum` the first output's chain.
template <int Kernel, int Stride, int Pixels>
NSK_INLINE void depthwise_row(simd::f32 (*sum)[1], const float* line, std::ptrdiff_t pixel,
                              const simd::f32 (&tap)[Kernel]) {
  using simd::unroll;
  unroll<(Pixels - 1) * Stride + Kernel>([&](auto ix) NSK_INLINE_LAMBDA {
    const simd::f32 v = simd::load(line);
    line += pixel;
    unroll<Kernel>([&](auto kx) NSK_INLINE_LAMBDA {
      constexpr int from = static_cast<int>(decltype(ix)::value) - static_cast<int>(decltype(kx)::value),
                    ox = from / Stride;
      if constexpr (from >= 0 && from % Stride == 0 && ox < Pixels) sum[ox][0] = simd::fma(v, tap[kx], sum[ox][0]);
    });
  });
}

/// Rows x Pixels outputs of a square window without dilation, whose first tap is `x`.
template <int Kernel, int Stride, int Rows, int Pixels, class Functions, class Weight>
NSK_INLINE void depthwise_tile(const depthwise_call<Functions, Weight>& d, const float* x, const tile_row* to) {
  static_assert(Rows * Pixels <= depthwise_max_outputs, "the block of an epilogue holds so many");
  using simd::f32;
  using simd::unroll;
  for_channels(
      d, [&](panel_column<Weight> column, std::ptrdiff_t panel_step, int channel, int columns) NSK_INLINE_LAMBDA {
        const std::ptrdiff_t row = simd::opaque(d.row), pixel = simd::opaque(d.pixel), step = simd::opaque(panel_step);
        f32 sum[Rows * Pixels][1];
        const f32 bias = simd::load(column.bias);
        unroll<Rows * Pixels>([&](auto i) NSK_INLINE_LAMBDA { sum[i][0] = bias; });
        const Weight* w = column.weights(step);
        const float* line = x + channel;
        for (int ky = 0; ky < Kernel; ++ky, line += row) {
          f32 tap[Kernel];
          unroll<Kernel>([&](auto kx) NSK_INLINE_LAMBDA { tap[kx] = simd::load_weights(w + kx * step); });
          w += Kernel * step;
          unroll<Rows>([&](auto oy) NSK_INLINE_LAMBDA {
            depthwise_row<Kernel, Stride, Pixels>(sum + oy * Pixels, line + oy * Stride * row, pixel, tap);
          });
        }
        store_tile(sum, d.e, to, channel - d.origin, columns);
      });
}
/// `pixels` outputs of each of Rows rows, tile by tile, the first tap of all at `x`; the last tile begins early so that
/// it is whole. `to` are the outputs of the first tile, and moves to those of the last.
template <int Kernel, int Stride, int Rows, int Pixels, class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_strip(const depthwise_call<Functions, Weight>& d, const float* x, int pixels,
                                         tile_row* to) {
  for (int left = pixels - Pixels;;) {
    depthwise_tile<Kernel, Stride, Rows, Pixels>(d, x, to);
    if (left <= 0) return;
    const int step = left < Pixels ? left : Pixels;
    left -= step;
    x += step * Stride * d.pixel;
    const std::ptrdiff_t output_step = step * d.a->output.stride[2], add_step = step * d.a->e.residual_stride[2];
    for (tile_row* t = to; t != to + Rows * Pixels; ++t) {
      t->output += output_step;
      if (d.e.adds) t->residual += add_step;
    }
  }
}

/// Four outputs of one row under any window, all taps inside.
template <class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_any_4(const depthwise_call<Functions, Weight>& d, const depthwise_image& m, int oy,
                                         int ox, const tile_row* to) {
  using simd::f32;
  using simd::unroll;
  const float* const x = first_tap(d, m, oy, ox);
  const window& k = d.a->w;
  for_channels(d, [&](panel_column<Weight> column, std::ptrdiff_t step, int channel, int columns) NSK_INLINE_LAMBDA {
    f32 sum[4][1];
    unroll<4>([&](auto i) NSK_INLINE_LAMBDA { sum[i][0] = simd::load(column.bias); });
    const Weight* w = column.weights(step);
    for (int ky = 0; ky < k.kernel_h; ++ky) {
      const float* line = x + channel + ky * k.dilation_h * d.row;
      for (int kx = 0; kx < k.kernel_w; ++kx, w += step, line += k.dilation_w * d.pixel) {
        const f32 tap = simd::load_weights(w);
        unroll<4>([&](auto i) NSK_INLINE_LAMBDA {
          sum[i][0] = simd::fma(simd::load(line + i * k.stride_w * d.pixel), tap, sum[i][0]);
        });
      }
    }
    store_tile(sum, d.e, to, channel - d.origin, columns);
  });
}

/// One output under any window. Taps outside read zeros.
template <class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_any_1(const depthwise_call<Functions, Weight>& d, const depthwise_image& m, int oy,
                                         int ox, const tile_row* to) {
  using simd::f32;
  const window& k = d.a->w;
  const int y = oy * k.stride_h - k.pad_top, x = ox * k.stride_w - k.pad_left;
  for_channels(d, [&](panel_column<Weight> column, std::ptrdiff_t step, int channel, int columns) NSK_INLINE_LAMBDA {
    f32 sum[1][1] = {{simd::load(column.bias)}};
    const Weight* w = column.weights(step);
    for (int ky = 0; ky < k.kernel_h; ++ky) {
      const int iy = y + ky * k.dilation_h;
      const bool row_inside = iy >= d.top && iy < d.bottom;
      for (int kx = 0; kx < k.kernel_w; ++kx, w += step) {
        const int ix = x + kx * k.dilation_w;
        const bool inside = row_inside && ix >= d.left && ix < d.right;
        const f32 v = inside ? simd::load(m.input + iy * d.row + ix * d.pixel + channel) : simd::zero();
        sum[0][0] = simd::fma(v, simd::load_weights(w), sum[0][0]);
      }
    }
    store_tile(sum, d.e, to, channel - d.origin, columns);
  });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
