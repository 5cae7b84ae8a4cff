// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolution by any window: four outputs in a row whose taps all are inside, or one.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <type_traits>
#include <netsuke/kernels/depthwise/depthwise_tile.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Four outputs of one row under any window, all taps inside.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void general_4_pixels(const depthwise_call<Kernels, Weight>& d, const depthwise_image& m, int oy,
                                          int ox, const output_grid& to) {
  using simd::f32, simd::unroll;
  const float* const x = first_tap(d, m, oy, ox);
  const window& k = d.a->w;
  for_channels(d, [&](panel_column<Weight> column, std::ptrdiff_t stride, int channel, int columns) NSK_INLINE_LAMBDA {
    f32 sum[4][1];
    unroll<4>([&](auto i) NSK_INLINE_LAMBDA { sum[i][0] = simd::load(column.bias); });
    const Weight* w = column.weights(stride);
    for (int ky = 0; ky < k.kernel_h; ++ky) {
      const float* line = x + channel + ky * k.dilation_h * d.row;
      for (int kx = 0; kx < k.kernel_w; ++kx, w += stride, line += k.dilation_w * d.pixel) {
        const f32 tap = simd::load_weights(w);
        unroll<4>([&](auto i) NSK_INLINE_LAMBDA {
          sum[i][0] = simd::fma(simd::load(line + i * k.stride_w * d.pixel), tap, sum[i][0]);
        });
      }
    }
    store_tile_at(
        sum, d.e, [&](auto i) NSK_INLINE_LAMBDA { return to.at(0, i); }, channel - d.origin, columns);
  });
}

/// One output under any window for vectors of channels, from the first tap at pixel (y, x); `panel_stride` weights from
/// panel to panel where there are several. Taps outside read zeros.
template <int Vectors, class Kernels, class Weight>
NSK_INLINE void general_vectors(const depthwise_call<Kernels, Weight>& d, const depthwise_image& m, int y, int x,
                                panel_column<Weight> column, std::ptrdiff_t stride, std::ptrdiff_t panel_stride,
                                int channel, int columns, const output_grid& to) {
  using simd::f32;
  const std::ptrdiff_t bias_stride = panel_stride * static_cast<std::ptrdiff_t>(sizeof(Weight)) / 4;
  f32 sum[1][Vectors];
  simd::unroll<Vectors>([&](auto v)
                            NSK_INLINE_LAMBDA { sum[0][v] = simd::load(column.bias + vector_offset(v, bias_stride)); });
  const window& k = d.a->w;
  const Weight* w = column.weights(stride);
  for (int ky = 0; ky < k.kernel_h; ++ky) {
    const int iy = y + ky * k.dilation_h;
    const bool row_inside = iy >= d.readable.y && iy < d.readable.y_end;
    for (int kx = 0; kx < k.kernel_w; ++kx, w += stride) {
      const int ix = x + kx * k.dilation_w;
      const bool inside = row_inside && ix >= d.readable.x && ix < d.readable.x_end;
      const std::ptrdiff_t from = iy * d.row + ix * d.pixel + channel;
      simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
        const f32 pixel = inside ? simd::load(m.input + from + v * f32::lanes) : simd::zero();
        sum[0][v] = simd::fma(pixel, simd::load_weights(w + vector_offset(v, panel_stride)), sum[0][v]);
      });
    }
  }
  store_tile_at(
      sum, d.e, [&](auto) NSK_INLINE_LAMBDA { return to.at(0, 0); }, channel - d.origin, columns);
}

/// One output, all channels: four vectors of whole panels at once, so that no chain waits for itself, then one by one.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void general_1_pixel(const depthwise_call<Kernels, Weight>& d, const depthwise_image& m, int oy,
                                         int ox, const output_grid& to) {
  constexpr int each = panel_width / simd::f32::lanes, panels = each < 4 ? 4 / each : 1, wide = panels * panel_width;
  const window& k = d.a->w;
  const int y = oy * k.stride_h - k.pad_top, x = ox * k.stride_w - k.pad_left;
  int c = d.channel_begin;
  for (; whole_panels(d.channels, 0, c / panel_width, c, d.channel_end) >= panels; c += wide)
    general_vectors<panels * each>(d, m, y, x, column_of(d, c / panel_width, c), panel_width,
                                   std::ptrdiff_t{panel_width} * (d.taps + weights_per_bias<Weight>), c, wide, to);
  for_channels_from(c, d,
                    [&](panel_column<Weight> column, std::ptrdiff_t stride, int channel, int columns)
                        NSK_INLINE_LAMBDA { general_vectors<1>(d, m, y, x, column, stride, 0, channel, columns, to); });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
