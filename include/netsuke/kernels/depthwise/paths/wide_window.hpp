// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolution by windows of 7 pixels along rows or more, without stride and dilation along them.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <type_traits>
#include <netsuke/kernels/depthwise/depthwise_tile.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Outputs side by side that share what they read: as many chains as hide the latency of a multiply-add.
inline constexpr int wide_window_outputs = 8;

/// Whether a window is computed so: all of these outputs but one share at least one pixel of each row.
constexpr bool is_wide_window(const window& w) {
  return w.kernel_w >= wide_window_outputs - 1 && w.stride_w == 1 && w.dilation_w == 1;
}
/// Whether there is code for them. Weights of float16 are widened first, but for tiles of few pixels.
template <class Kernels, class Weight>
inline constexpr bool has_wide_windows =
    !std::is_same<Weight, half_bits>::value && Kernels::has(fast_path::wide_window);

/// wide_window_outputs outputs of one row under a wide window, all taps inside. Each pixel is loaded once for all of
/// them, and taps come from the nearest cache, where a row of pixels, which are far apart, need not stay.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void depthwise_wide_window(const depthwise_call<Kernels, Weight>& d, const depthwise_image& m,
                                               int oy, int ox, const output_grid& to) {
  using simd::f32, simd::unroll;
  constexpr int outputs = wide_window_outputs, before = outputs - 1;
  const float* const x = first_tap(d, m, oy, ox);
  const window& k = d.a->w;
  for_channels(d, [&](panel_column<Weight> column, std::ptrdiff_t stride, int channel, int columns) NSK_INLINE_LAMBDA {
    f32 sum[outputs][1];
    unroll<outputs>([&](auto i) NSK_INLINE_LAMBDA { sum[i][0] = simd::load(column.bias); });
    const Weight* w = column.weights(stride);
    for (int ky = 0; ky < k.kernel_h; ++ky) {
      const float* pixel = x + channel + ky * k.dilation_h * d.row;
      const auto add = [&](const Weight* tap, auto first, auto count) NSK_INLINE_LAMBDA {
        const f32 a = simd::in_register(simd::load(pixel));
        unroll<decltype(count)::value>([&](auto i) NSK_INLINE_LAMBDA {
          constexpr int output = decltype(first)::value + decltype(i)::value;
          sum[output][0] = simd::fma(a, simd::load_weights(tap - output * stride), sum[output][0]);
        });
        pixel += d.pixel;
      };
      unroll<before>([&](auto i) NSK_INLINE_LAMBDA {
        add(w + i * stride, std::integral_constant<int, 0>{}, std::integral_constant<int, decltype(i)::value + 1>{});
      });
      w += before * stride;
      for (int kx = before; kx < k.kernel_w; ++kx, w += stride)
        add(w, std::integral_constant<int, 0>{}, std::integral_constant<int, outputs>{});
      unroll<before>([&](auto i) NSK_INLINE_LAMBDA {
        constexpr int first = decltype(i)::value + 1;
        add(w + i * stride, std::integral_constant<int, first>{}, std::integral_constant<int, outputs - first>{});
      });
    }
    store_tile_at(
        sum, d.e, [&](auto i) NSK_INLINE_LAMBDA { return to.at(0, i); }, channel - d.origin, columns);
  });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
