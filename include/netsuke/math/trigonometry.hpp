// SPDX-License-Identifier: MIT
#pragma once
/// Sine and cosine of radians.
///
/// Largest error, measured over every 4099th float: 2.0 ULP, or 1e-7 absolute; results are in [-1, 1]. Infinities give
/// NaN, zeros keep their sign in the sine. Method: x = q pi/2 + r with |r| <= pi/4 or little more and minimax
/// polynomials of our own. r is made of pi/2 in three parts below 2^17 (Cody and Waite, "Software Manual for the
/// Elementary Functions", 1980), beyond of the bits of 2/pi that matter (Payne and Hanek, "Radian reduction for
/// trigonometric functions", 1983), number by number.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/math/exponential.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace math {
namespace impl {

/// x = quadrant * pi/2 + rest; the quadrant counts modulo 4.
struct reduced_angle {
  f32 rest;
  i32 quadrant;
};

inline constexpr float far_turn = 131072;  ///< magnitudes from here on are reduced by integers

/// One number of at least far_turn: 96 bits of 2/pi times its 24 bits, modulo 4.
inline float reduce_far(float x, std::int32_t& quadrant) {
  constexpr std::uint32_t two_over_pi[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                           0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u};
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint32_t exponent = bits >> 23 & 0xff, mantissa = (bits & 0x7fffff) | 0x800000;
  if (exponent == 0xff) return not_a_number;
  // the number is mantissa * 2^(exponent - 150); earlier bits of 2/pi make multiples of 4
  const std::uint32_t first = exponent - 151 + 31, word = first >> 5, shift = first & 31;
  const auto window = [&](std::uint32_t i) {
    const std::uint64_t pair = static_cast<std::uint64_t>(two_over_pi[word + i]) << 32 | two_over_pi[word + i + 1];
    return static_cast<std::uint32_t>(pair << shift >> 32);
  };
  const std::uint64_t low = static_cast<std::uint64_t>(mantissa) * window(2),
                      middle = static_cast<std::uint64_t>(mantissa) * window(1) + (low >> 32),
                      high = static_cast<std::uint64_t>(mantissa) * window(0) + (middle >> 32);
  const std::uint64_t turns = high << 32 | (middle & 0xffffffffu), fraction = turns << 2 | (low >> 30 & 3);
  const bool above = fraction >> 63 != 0;  // half a quadrant or more: the next one, less something
  quadrant = static_cast<std::int32_t>((turns >> 62) + (above ? 1 : 0));
  const std::uint64_t size = above ? 0 - fraction : fraction;
  const float rest = static_cast<float>(static_cast<std::int64_t>(size >> 1)) * 0x1.921fb6p-63f;
  const bool negative = above != (bits >> 31 != 0);
  if (bits >> 31 != 0) quadrant = -quadrant;
  return negative ? -rest : rest;
}

NSK_NOINLINE inline void reduce_far_lanes(f32 x, reduced_angle& t) {
  float from[f32::lanes], rest[f32::lanes];
  std::int32_t quadrant[f32::lanes];
  simd::store(from, x);
  simd::store(rest, t.rest);
  simd::store_i32(quadrant, t.quadrant);
  for (int i = 0; i < f32::lanes; ++i)
    if (!(from[i] < far_turn && from[i] > -far_turn)) rest[i] = reduce_far(from[i], quadrant[i]);
  t = {simd::load(rest), simd::load_i32(quadrant)};
}

NSK_INLINE reduced_angle reduce_turn(f32 x) {
  constexpr float magic = 12582912.0f;  // 1.5 * 2^23: the sum has no fraction bits, and the quadrant in its low bits
  const f32 biased = fma(x, splat(0x1.45f306p-1f), splat(magic)), q = simd::sub(biased, splat(magic));
  const f32 high = simd::neg_fma(q, splat(0x1.921fb6p+0f), x), low = simd::neg_fma(q, splat(-0x1.777a5cp-25f), high);
  reduced_angle t{simd::neg_fma(q, splat(-0x1.ee59dap-50f), low), simd::as_i32(biased)};
  const simd::mask near = simd::less(simd::abs(x), splat(far_turn));
  if (simd::any(simd::logical_not(near))) reduce_far_lanes(x, t);
  return t;
}

/// Sine of a turn that begins `Quarters` quadrants later.
template <int Quarters>
NSK_INLINE f32 sine_of(const reduced_angle& t) {
  const f32 square = simd::mul(t.rest, t.rest);
  const f32 sine =
      fma(simd::mul(t.rest, square), horner(square, -0x1.555546p-3f, 0x1.11073p-7f, -0x1.99406p-13f), t.rest);
  const f32 cosine = fma(simd::mul(square, square), horner(square, 0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e86ap-16f),
                         fma(square, splat(-0.5f), splat(1)));
  const i32 quadrant = simd::add(t.quadrant, simd::splat_i32(Quarters)), one = simd::splat_i32(1);
  const f32 y = simd::select(simd::equal(simd::bit_and(quadrant, one), one), cosine, sine);
  const i32 turns = simd::shift_left<30>(simd::bit_and(quadrant, simd::splat_i32(2)));
  return simd::as_f32(simd::bit_xor(simd::as_i32(y), turns));
}

}

/// Sine of x radians.
NSK_INLINE f32 sin(f32 x) {
  return simd::select(simd::equal(x, simd::zero()), x, impl::sine_of<0>(impl::reduce_turn(x)));
}
/// Cosine of x radians.
NSK_INLINE f32 cos(f32 x) { return impl::sine_of<1>(impl::reduce_turn(x)); }

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
