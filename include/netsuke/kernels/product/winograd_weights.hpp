// SPDX-License-Identifier: MIT
#pragma once
/// Weights of 3x3 convolutions as Winograd's algorithms multiply with them: one source for the converter, which stores
/// them, and for nsk::prepare, which makes them of small files.
///
/// G g G', with the matrices of winograd_tile.hpp. A row of G is a sum of small powers of two, times a factor: sums are
/// taken first and both factors multiplied last, in double, and the result is rounded once to float32.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Rows of G times a column of three taps, without their factors.
NSK_INLINE void winograd_sums(simd::f64 a, simd::f64 b, simd::f64 c, simd::f64 (&r)[4]) {
  const simd::f64 ends = simd::add(a, c);
  r[0] = a;
  r[1] = simd::add(ends, b);
  r[2] = simd::sub(ends, b);
  r[3] = c;
}
NSK_INLINE void winograd_sums(simd::f64 a, simd::f64 b, simd::f64 c, simd::f64 (&r)[6]) {
  const simd::f64 ends = simd::add(a, c), prefetched = simd::add(a, simd::scaled(c, 4)), twice = simd::scaled(b, 2);
  r[0] = a;
  r[1] = simd::add(ends, b);
  r[2] = simd::sub(ends, b);
  r[3] = simd::add(prefetched, twice);
  r[4] = simd::sub(prefetched, twice);
  r[5] = c;
}
/// The factor of row i of G, for F(2x2, 3x3) (4 rows) and F(4x4, 3x3) (6 rows).
template <int Rows>
constexpr double winograd_factor(int i) {
  if (i == 0) return Rows == 4 ? 1.0 : 1.0 / 4;
  if (i == Rows - 1) return 1;
  return Rows == 4 ? 1.0 / 2 : i < 3 ? -1.0 / 6 : 1.0 / 24;
}

/// Transforms the kernels of f64::lanes channels.
template <int Rows>
NSK_INLINE void transform_winograd_lanes(const float* taps, std::ptrdiff_t tap, float* points, std::ptrdiff_t point) {
  simd::f64 g[9], column[3][Rows];
  simd::unroll<9>([&](auto t) NSK_INLINE_LAMBDA { g[t] = simd::widen(taps + t * tap); });
  simd::unroll<3>([&](auto x) NSK_INLINE_LAMBDA { winograd_sums(g[x], g[3 + x], g[6 + x], column[x]); });
  simd::unroll<Rows>([&](auto i) NSK_INLINE_LAMBDA {
    simd::f64 row[Rows];
    winograd_sums(column[0][i], column[1][i], column[2][i], row);
    simd::unroll<Rows>([&](auto j) NSK_INLINE_LAMBDA {
      constexpr double factor = winograd_factor<Rows>(i) * winograd_factor<Rows>(j);
      simd::store_narrowed(points + (Rows * i + j) * point, simd::scaled(row[j], factor));
    });
  });
}

}

/// Transforms the 3x3 kernels of `width` channels, a multiple of 8, for F(2x2, 3x3) (Rows = 4) or F(4x4, 3x3) (6): tap
/// 3 * y + x of channel c is taps[(3 * y + x) * tap + c], point Rows * i + j of the result goes to
/// points[(Rows * i + j) * point + c].
template <int Rows>
NSK_NOINLINE void transform_winograd_weights(const float* taps, std::ptrdiff_t tap, int width, float* points,
                                             std::ptrdiff_t point) {
  for (int c = 0; c < width; c += simd::f64::lanes)
    impl::transform_winograd_lanes<Rows>(taps + c, tap, points + c, point);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
