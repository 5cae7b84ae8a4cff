// SPDX-License-Identifier: MIT
#pragma once
/// The transforms of Winograd convolution, channels in lanes.
///
/// F(m x m, 3x3): a cell of m x m outputs is A' [ (G g G') . (B' d B) ] A, with d the (m + 2) x (m + 2) inputs that it
/// reads, summed over input channels before A. Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural
/// Networks", 2015, with
///
///     m = 2:  B' = |1  0 -1  0|   G = | 1    0    0 |   A' = |1 1  1  0|
///                  |0  1  1  0|       |1/2  1/2  1/2|        |0 1 -1 -1|
///                  |0 -1  1  0|       |1/2 -1/2  1/2|
///                  |0  1  0 -1|       | 0    0    1 |
///
///     m = 4:  B' = |4  0 -5  0  1  0|   G = | 1/4    0     0  |   A' = |1  1  1  1  1  0|
///                  |0 -4 -4  1  1  0|       |-1/6  -1/6  -1/6 |        |0  1 -1  2 -2  0|
///                  |0  4 -4 -1  1  0|       |-1/6   1/6  -1/6 |        |0  1  1  4  4  0|
///                  |0 -2 -1  2  1  0|       |1/24   1/12  1/6 |        |0  1 -1  8 -8  1|
///                  |0  2 -1 -2  1  0|       |1/24  -1/12  1/6 |
///                  |0  4  0 -5  0  1|       |  0     0     1  |
///
/// The converter computes G g G' in double precision; point (i, j) of the result is number i * (m + 2) + j.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/kernels/epilogue.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// B' times a column of inputs.
NSK_INLINE void winograd_input(const simd::f32 (&d)[4], simd::f32 (&t)[4]) {
  t[0] = simd::sub(d[0], d[2]);
  t[1] = simd::add(d[1], d[2]);
  t[2] = simd::sub(d[2], d[1]);
  t[3] = simd::sub(d[1], d[3]);
}
NSK_INLINE void winograd_input(const simd::f32 (&d)[6], simd::f32 (&t)[6]) {
  using simd::f32;
  const f32 two = simd::splat(2), four = simd::splat(4), five = simd::splat(5);
  const f32 a = simd::neg_fma(four, d[2], d[4]), b = simd::neg_fma(four, d[1], d[3]);
  const f32 c = simd::sub(d[4], d[2]), e = simd::sub(d[3], d[1]);
  t[0] = simd::fma(four, d[0], simd::neg_fma(five, d[2], d[4]));
  t[1] = simd::add(a, b);
  t[2] = simd::sub(a, b);
  t[3] = simd::fma(two, e, c);
  t[4] = simd::neg_fma(two, e, c);
  t[5] = simd::fma(four, d[1], simd::neg_fma(five, d[3], d[5]));
}

/// A' times a column of products.
NSK_INLINE void winograd_output(const simd::f32 (&m)[4], simd::f32 (&y)[2]) {
  y[0] = simd::add(simd::add(m[0], m[1]), m[2]);
  y[1] = simd::sub(simd::sub(m[1], m[2]), m[3]);
}
NSK_INLINE void winograd_output(const simd::f32 (&m)[6], simd::f32 (&y)[4]) {
  using simd::f32;
  const f32 p = simd::add(m[1], m[2]), q = simd::sub(m[1], m[2]), r = simd::add(m[3], m[4]), s = simd::sub(m[3], m[4]);
  y[0] = simd::add(simd::add(m[0], p), r);
  y[1] = simd::fma(simd::splat(2), s, q);
  y[2] = simd::fma(simd::splat(4), r, p);
  y[3] = simd::add(simd::fma(simd::splat(8), s, q), m[5]);
}

/// B' d B of one cell for `depth` channels, rounded up to whole registers: point i goes to to + i * plane. `load(y, x,
/// c)` gives the input pixel (y, x) of the cell, channels from c on.
template <int Outputs, class Load>
NSK_INLINE void winograd_transform_input(int depth, float* to, std::ptrdiff_t plane, Load&& load) {
  using simd::f32, simd::unroll;
  constexpr int side = Outputs + 2;
  for (int c = 0; c < depth; c += f32::lanes) {
    f32 half[side][side];
    for (int x = 0; x < side; ++x) {
      f32 d[side], t[side];
      unroll<side>([&](auto y) NSK_INLINE_LAMBDA { d[y] = load(y, x, c); });
      winograd_input(d, t);
      unroll<side>([&](auto y) NSK_INLINE_LAMBDA { half[y][x] = t[y]; });
    }
    for (int y = 0; y < side; ++y) {
      f32 t[side];
      winograd_input(half[y], t);
      unroll<side>([&](auto x) NSK_INLINE_LAMBDA { simd::store(to + (y * side + x) * plane + c, t[x]); });
    }
  }
}

/// A' M A + bias of one cell and one register of channels. Point i is at from + i * stride.
template <int Outputs>
NSK_INLINE void winograd_transform_output(const float* from, std::ptrdiff_t stride, const float* bias,
                                          simd::f32 (&y)[Outputs * Outputs][1]) {
  using simd::f32, simd::unroll;
  constexpr int side = Outputs + 2;
  f32 half[Outputs][side];
  for (int j = 0; j < side; ++j) {
    f32 m[side], t[Outputs];
    unroll<side>([&](auto i) NSK_INLINE_LAMBDA { m[i] = simd::load(from + (i * side + j) * stride); });
    winograd_output(m, t);
    unroll<Outputs>([&](auto i) NSK_INLINE_LAMBDA { half[i][j] = t[i]; });
  }
  const f32 b = simd::load(bias);
  unroll<Outputs>([&](auto i) NSK_INLINE_LAMBDA {
    f32 t[Outputs];
    winograd_output(half[i], t);
    unroll<Outputs>([&](auto j) NSK_INLINE_LAMBDA { y[i * Outputs + j][0] = simd::add(t[j], b); });
  });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
