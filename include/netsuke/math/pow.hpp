// SPDX-License-Identifier: MIT
#pragma once
/// Powers. Domain and limits are those of IEEE 754 `pow`: a negative base takes integer exponents alone (NaN
/// otherwise), x^0 and 1^y are 1 even for NaN, zeros and infinities follow the sign and parity of the exponent.
///
/// Largest error measured: 1.0 ULP; a power that a float can hold is exact. Results below 2^-125.5 are exactly 0.
/// Method: log2 of the mantissa by its odd series in s = (m - 1) / (m + 1), carried as an unevaluated sum of two floats
/// (Dekker, "A floating-point technique for extending the available precision", 1971), times y, and 2 to that power.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/math/exponential.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace math {

namespace impl {
/// An unevaluated sum: |low| is at most half a unit of high.
struct two_floats {
  f32 high, low;
};
/// high + low of a + b where |a| >= |b| or a is 0.
NSK_INLINE two_floats fast_sum(f32 a, f32 b) {
  const f32 high = simd::add(a, b);
  return {high, simd::sub(b, simd::sub(high, a))};
}

/// log2 of a positive, finite x, to 2^-31.
NSK_INLINE two_floats precise_log2(f32 x) {
  constexpr std::int32_t root_half = 0x3f3504f3;
  const simd::mask tiny = simd::less(x, splat(smallest_normal));
  const i32 bits =
      simd::sub(simd::as_i32(simd::select(tiny, simd::mul(x, splat(8388608.0f)), x)), simd::splat_i32(root_half));
  const f32 n = simd::sub(simd::to_f32(simd::shift_right<23>(bits)), simd::select(tiny, splat(23), simd::zero()));
  const f32 m = simd::as_f32(simd::add(simd::bit_and(bits, simd::splat_i32(0x7fffff)), simd::splat_i32(root_half)));
  const f32 top = simd::sub(m, splat(1));  // exact
  const two_floats bottom = fast_sum(splat(2), top);
  const f32 s = simd::div(top, bottom.high);
  const f32 rest = simd::neg_fma(s, bottom.low, simd::neg_fma(s, bottom.high, top));
  const f32 s_low = simd::div(rest, bottom.high), square = simd::mul(s, s);
  constexpr float two_log2_e = 0x1.715476p+1f, two_log2_e_low = 0x1.4ae0cp-25f;
  const f32 series = horner(square, 0x1.ec709ep-1f, 0x1.2776ep-1f, 0x1.a5d042p-2f, 0x1.58910cp-2f);
  const f32 product = simd::mul(s, splat(two_log2_e));
  f32 low = fma(s, splat(two_log2_e), simd::neg(product));
  low = fma(s, splat(two_log2_e_low), low);
  low = fma(s_low, splat(two_log2_e), low);
  low = fma(simd::mul(s, square), series, low);
  const two_floats lead = fast_sum(product, low), sum = fast_sum(n, lead.high);
  return fast_sum(sum.high, simd::add(sum.low, lead.low));
}

/// 2^(high + low); infinity and exactly 0 outside the range of floats.
NSK_INLINE f32 precise_exp2(f32 high, f32 low) {
  constexpr float magic = 12582912.0f + 126;
  const f32 x = restrict_to(high, -126.4f, 129.0f);
  const f32 biased = simd::add(x, splat(magic)), n = simd::sub(biased, splat(magic));
  const f32 scale = simd::as_f32(simd::shift_left<23>(simd::as_i32(biased)));
  constexpr float ln2 = 0x1.62e43p-1f, ln2_rest = -0x1.05c61p-29f;
  const two_floats fraction = fast_sum(simd::sub(x, n), low);  // x - n is 0 or at least a unit of x
  const f32 r = simd::mul(fraction.high, splat(ln2));
  f32 r_low = fma(fraction.high, splat(ln2), simd::neg(r));
  r_low = fma(fraction.high, splat(ln2_rest), fma(fraction.low, splat(ln2), r_low));
  const f32 tail = horner(r, 0x1.fffffep-2f, 0x1.5554b4p-3f, 0x1.5556f2p-5f, 0x1.12254ap-7f, 0x1.6b9c68p-10f);
  const two_floats sum = fast_sum(splat(1), r);
  const f32 rest = simd::add(sum.low, fma(simd::mul(r, r), tail, r_low));
  const f32 power = simd::add(sum.high, rest);
  return simd::mul(simd::add(power, power), scale);
}
}

/// x to the power y.
inline f32 pow(f32 x, f32 y) {
  using namespace impl;
  const f32 one = splat(1), magnitude = simd::abs(x);
  const two_floats l = precise_log2(magnitude);
  const f32 product = simd::mul(y, l.high), low = fma(y, l.low, fma(y, l.high, simd::neg(product)));
  f32 power = precise_exp2(product, simd::select(simd::less(simd::abs(product), splat(256)), low, simd::zero()));

  const f32 big = splat(infinity);
  const simd::mask grows = simd::less(simd::zero(), y);
  power = simd::select(simd::equal(magnitude, simd::zero()), simd::select(grows, simd::zero(), big), power);
  power = simd::select(simd::equal(magnitude, big), simd::select(grows, big, simd::zero()), power);
  power = simd::select(simd::equal(magnitude, one), simd::select(simd::equal(y, y), one, power), power);

  const f32 half = simd::mul(y, splat(0.5f));
  const simd::mask integer = simd::equal(simd::floor(y), y), even = simd::equal(simd::floor(half), half);
  const simd::mask minus = simd::less(simd::as_i32(x), simd::splat_i32(0));  // the sign bit: -0 counts
  power = simd::select(simd::logical_and(minus, simd::logical_and(integer, simd::logical_not(even))), simd::neg(power),
                       power);
  const simd::mask outside = simd::logical_and(simd::less(x, simd::zero()), simd::logical_not(integer));
  power = simd::select(simd::logical_and(outside, simd::less(magnitude, big)), splat(not_a_number), power);
  power = simd::select(simd::equal(x, x), power, x);
  power = simd::select(simd::equal(y, y), power, y);
  power = simd::select(simd::equal(x, one), one, power);
  return simd::select(simd::equal(y, simd::zero()), one, power);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
