// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolution by 3x3 and 5x5 windows without dilation and without a stride along rows: register tiles of 1
/// or 2 x 7 and 2 x 4 pixels, in strips of which a vector's taps and addresses serve as many as the nearest cache
/// holds.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <type_traits>
#include <netsuke/kernels/depthwise/depthwise_tile.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Returns the path of a window; fast_path::general where it is not square, of another size, or has a stride along
/// rows.
constexpr fast_path square_path(const window& w) {
  const bool square = w.kernel_w == w.kernel_h && w.dilation_h == 1 && w.dilation_w == 1 && w.stride_w == 1;
  if (square && w.kernel_w == 3) return fast_path::square_3;
  return square && w.kernel_w == 5 ? fast_path::square_5 : fast_path::general;
}

/// The taps of Rows kernel rows of one vector of channels.
template <int Size, int Rows>
struct depthwise_taps {
  simd::f32 tap[Rows * Size];

  template <class Weight>
  NSK_INLINE void load(const Weight* w, std::ptrdiff_t stride) {
    simd::unroll<Rows * Size>([&](auto k) NSK_INLINE_LAMBDA { tap[k] = simd::load_weights(w + k * stride); });
  }
};

/// Adds to Rows x Pixels outputs, whose chains begin at `sum`, what some rows of the kernel give, input row by input
/// row: each pixel is loaded once for all outputs whose windows it is in. `line` is the first pixel. The windows of two
/// rows are one row apart.
template <int Size, int Rows, int Pixels, int KernelRows>
NSK_INLINE void depthwise_rows_of_input(simd::f32 (*sum)[1], const float* line, std::ptrdiff_t row,
                                        std::ptrdiff_t pixel, const depthwise_taps<Size, KernelRows>& t) {
  using simd::unroll;
  unroll<Rows - 1 + KernelRows>([&](auto iy) NSK_INLINE_LAMBDA {
    const float* at = line;
    line += row;
    unroll<Pixels - 1 + Size>([&](auto ix) NSK_INLINE_LAMBDA {
      const simd::f32 v = simd::load(at);
      at += pixel;
      unroll<Rows>([&](auto oy) NSK_INLINE_LAMBDA {
        constexpr int ky = static_cast<int>(decltype(iy)::value) - static_cast<int>(decltype(oy)::value);
        unroll<Size>([&](auto kx) NSK_INLINE_LAMBDA {
          constexpr int ox = static_cast<int>(decltype(ix)::value) - static_cast<int>(decltype(kx)::value);
          if constexpr (ky >= 0 && ky < KernelRows && ox >= 0 && ox < Pixels) {
            simd::f32& s = sum[oy * Pixels + ox][0];
            s = simd::fma(v, t.tap[ky * Size + kx], s);
          }
        });
      });
    });
  });
}

/// Whether taps of 3x3 windows stay in registers, and channels are the outer loop.
inline constexpr bool keeps_taps = simd::f32::registers >= 32;

/// One vector of channels of Rows x Pixels outputs, the first tap at `line`. Taps of all kernel rows are in `t`, or
/// loaded row by row from `w`, `stride` apart.
template <int Size, int Rows, int Pixels, int KernelRows, class Kernels, class Weight>
NSK_INLINE void depthwise_vector(const depthwise_call<Kernels, Weight>& d, const float* line, simd::f32 bias,
                                 depthwise_taps<Size, KernelRows>& t, const Weight* w, std::ptrdiff_t panel_stride,
                                 const output_grid& to, int channel, int columns) {
  const std::ptrdiff_t row = simd::opaque(d.row), pixel = simd::opaque(d.pixel), stride = simd::opaque(panel_stride);
  simd::f32 sum[Rows * Pixels][1];
  simd::unroll<Rows * Pixels>([&](auto i) NSK_INLINE_LAMBDA { sum[i][0] = bias; });
  if constexpr (KernelRows == Size) {
    depthwise_rows_of_input<Size, Rows, Pixels>(sum, line, row, pixel, t);
  } else {
    for (int ky = 0; ky < Size; ++ky, line += row, w += Size * stride) {
      t.load(w, stride);
      simd::unroll<Rows>([&](auto oy) NSK_INLINE_LAMBDA {
        depthwise_rows_of_input<Size, 1, Pixels>(sum + oy * Pixels, line + oy * row, row, pixel, t);
      });
    }
  }
  store_tile_at(
      sum, d.e, [&](auto i) NSK_INLINE_LAMBDA { return to.at(i / Pixels, i % Pixels); }, channel, columns);
}

/// `pixels` outputs of each of Rows rows under a square window without dilation, the first tap of all at `x`, in tiles
/// of which the last one begins early so that it is whole. Channel after channel, as many tiles as the nearest cache
/// holds share a vector's taps and addresses; where registers do not hold the taps, tile after tile is faster.
template <int Size, int Rows, int Pixels, class Kernels, class Weight>
NSK_ONE_COPY inline void depthwise_strip(const depthwise_call<Kernels, Weight>& d, const float* x, int pixels,
                                         output_grid to) {
  static_assert(Rows * Pixels <= depthwise_max_outputs, "the block of an epilogue holds so many");
  constexpr int together = Size == 3 && keeps_taps ? Size : 1;
  for (int near = keeps_taps ? l1_outputs(d, Pixels) : Pixels, left = pixels; left > 0; left -= near) {
    if (near > left) near = left;
    const int early = near < Pixels ? Pixels - near : 0;
    x -= early * d.pixel;
    to.move(-early);
    for_channels(d, [&](panel_column<Weight> column, std::ptrdiff_t panel_stride, int channel,
                        int columns) NSK_INLINE_LAMBDA {
      const simd::f32 bias = simd::load(column.bias);
      const Weight* const weights = column.weights(panel_stride);
      depthwise_taps<Size, together> t;
      if constexpr (together == Size) t.load(weights, simd::opaque(panel_stride));
      const float* first = x + channel;
      output_grid at = to;
      for (int rest = near - Pixels;;) {
        depthwise_vector<Size, Rows, Pixels>(d, first, bias, t, weights, panel_stride, at, channel - d.origin, columns);
        if (!keeps_taps || rest <= 0) return;
        const int some = rest < Pixels ? rest : Pixels;
        rest -= some;
        first += some * d.pixel;
        at.move(some);
      }
    });
    x += (near + early) * d.pixel;
    to.move(near + early);
  }
}

/// Maximum number of rows of a tile seven pixels wide: two where there are registers for so many sums.
inline constexpr int rows_of_seven = simd::f32::registers >= 32 ? 2 : 1;

/// Computes outputs by tiles of windows of one size, one behind the other; nothing where the kernels have not the path
/// of the tiling.
template <int Size, fast_path Path, class Kernels, class Weight>
NSK_INLINE void square_tiles(const depthwise_tiling& tiling, const depthwise_call<Kernels, Weight>& d, const float* x,
                             int pixels, const output_grid& to) {
  if constexpr (Kernels::has(Path)) {
    if (tiling.pixels == 7 && tiling.rows == 1) return depthwise_strip<Size, 1, 7>(d, x, pixels, to);
    if constexpr (rows_of_seven == 2)
      if (tiling.pixels == 7) return depthwise_strip<Size, 2, 7>(d, x, pixels, to);
    depthwise_strip<Size, 2, 4>(d, x, pixels, to);
  }
}
/// Computes outputs by tiles of the window that `tiling.path` names; the first tap is at `x`.
template <class Kernels, class Weight>
NSK_INLINE void square_tiles(const depthwise_tiling& tiling, const depthwise_call<Kernels, Weight>& d, const float* x,
                             int pixels, const output_grid& to) {
  if (tiling.path == fast_path::square_3)
    square_tiles<3, fast_path::square_3>(tiling, d, x, pixels, to);
  else
    square_tiles<5, fast_path::square_5>(tiling, d, x, pixels, to);
}

/// Whether tiles of 2 x 7 are best for rows of `width` outputs, of which the last tile computes some twice: where they
/// compute fewer than those of 2 x 4, and with 5x5 windows, which repay twice as many chains, up to an eighth more.
constexpr bool prefers_sevens(int kernel, int width) {
  const int sevens = (width + 6) / 7 * 7, fours = (width + 3) / 4 * 4;
  return width > 7 && (kernel == 5 ? sevens * 8 <= fours * 9 : sevens < fours);
}

/// The tiling of a block whose windows are inside; no rows where it is too small for one. Tiles do not overlap where
/// there is a residual, which may be the output. Tiles of one row serve single rows, and windows with a stride down
/// rows.
template <class Kernels, class Weight>
inline depthwise_tiling square_tiling(fast_path path, const depthwise_call<Kernels, Weight>& d, const pixel_block& b) {
  const window& w = d.a->w;
  const int width = b.across(), height = b.down();
  const bool adds = d.a->e.residual != nullptr, pairs = height > 1 && w.stride_h == 1 && !(adds && height % 2 != 0);
  const bool sevens = width % 7 == 0 || (!adds && prefers_sevens(w.kernel_h, width));
  if (pairs && rows_of_seven == 2 && sevens) return {path, 2, 7};
  // One or two tiles of 7 fill such a row; of longer ones those of 2 x 4 were faster.
  if (width % 7 == 0 && rows_of_seven == 1 && width <= 14) return {path, 1, 7};
  if (pairs && width >= 4 && !(adds && width % 4 != 0)) return {path, 2, 4};
  if (!pairs && width >= 7 && !(adds && width % 7 != 0)) return {path, 1, 7};
  return {path, 0, 0};
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
