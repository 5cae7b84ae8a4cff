// SPDX-License-Identifier: MIT
#pragma once
/// Remainders of divisions of floats: exact, no operation rounds. fmod has the sign of the dividend (C), mod that of
/// the divisor (Python); only mod's last addition rounds once. A divisor of 0 or an infinite dividend gives NaN, an
/// infinite divisor leaves the dividend (mod: adds the divisor where the signs differ).
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/math/exponential.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace math {
namespace impl {

/// The digits of a positive, finite float: digits * 2^(exponent - 149).
struct float_digits {
  std::uint32_t digits;
  std::int32_t exponent;
};
inline float_digits digits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint32_t e = bits >> 23 & 0xff, m = bits & 0x7fffff;
  return e == 0 ? float_digits{m, 0} : float_digits{m | 0x800000u, static_cast<std::int32_t>(e) - 1};
}

/// x modulo y of finite magnitudes x > y > 0, by long division of their digits.
inline float remainder_of(float x, float y) {
  const float_digits a = digits_of(x), b = digits_of(y);
  std::uint64_t rest = a.digits;
  for (std::int32_t left = a.exponent - b.exponent; left > 0 && rest != 0;) {
    const std::int32_t step = left < 32 ? left : 32;
    rest = (rest << step) % b.digits;
    left -= step;
  }
  rest %= b.digits;
  std::uint32_t m = static_cast<std::uint32_t>(rest), e = static_cast<std::uint32_t>(b.exponent) + 1;
  if (m == 0) return 0;
  for (; e > 1 && (m & 0x800000u) == 0; --e) m <<= 1;
  const std::uint32_t bits = (m & 0x800000u) != 0 ? e << 23 | (m & 0x7fffffu) : m;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

NSK_NOINLINE inline f32 remainder_lanes(f32 x, f32 y, f32 rest) {
  float from[f32::lanes], by[f32::lanes], to[f32::lanes];
  simd::store(from, x);
  simd::store(by, y);
  simd::store(to, rest);
  for (int i = 0; i < f32::lanes; ++i)
    if (by[i] > 0 && from[i] < infinity && !(from[i] < 2097152.0f * by[i])) to[i] = remainder_of(from[i], by[i]);
  return simd::load(to);
}

}

/// The remainder of x / y, with the sign of x.
inline f32 fmod(f32 x, f32 y) {
  using namespace impl;
  const f32 a = simd::abs(x), b = simd::abs(y), zero = simd::zero();
  // the rounded quotient is right or one too many, so that the remainder is exact and in [-b, b)
  f32 rest = simd::neg_fma(simd::floor(simd::div(a, b)), b, a);
  rest = simd::select(simd::less(rest, zero), simd::add(rest, b), rest);
  const simd::mask usual = simd::less(a, simd::mul(b, splat(2097152.0f)));  // 2^21: the quotient is a whole number
  if (simd::any(simd::logical_not(usual))) rest = remainder_lanes(a, b, rest);
  const simd::mask defined = simd::logical_and(simd::less(a, splat(infinity)), simd::less(zero, b));
  rest = simd::select(simd::less(a, b), a, rest);
  rest = simd::select(defined, simd::copy_sign(rest, x), splat(not_a_number));
  return rest;
}

/// The remainder of x / y, with the sign of y: what is left by the quotient rounded down.
inline f32 mod(f32 x, f32 y) {
  const f32 rest = fmod(x, y), zero = simd::zero();
  const simd::mask plus = simd::less(zero, rest), minus = simd::less(rest, zero);
  const simd::mask differs =
      simd::logical_or(simd::logical_and(plus, simd::less(y, zero)), simd::logical_and(minus, simd::less(zero, y)));
  return simd::select(differs, simd::add(rest, y), rest);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
