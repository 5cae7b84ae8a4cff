// SPDX-License-Identifier: MIT
#pragma once
/// Exponential, logarithm and what is made of them, for a vector: the same bits on every instruction set, no libm, no
/// estimates.
///
/// | function | largest error, measured over every 7th float | exactly 0 (or its limit) |
/// | --- | --- | --- |
/// | exp | 1.1 ULP | 0 below 2^-125.5 (x < -86.99) |
/// | log | 1.0 ULP | |
/// | tanh | 2.6 ULP | |
/// | sigmoid | 2.5 ULP | 0 below 2^-125.5 |
/// | silu | 2.4 ULP | 0 where sigmoid is: above -1.5e-36 |
/// | elu, alpha = 1 | 1.0 ULP | |
/// | softplus | 1.9 ULP | 0 below 2^-125.5 |
///
/// Infinities give limits, NaN stays NaN, zeros keep their sign where the function is odd. Method: x = n ln 2 + r with
/// |r| <= ln 2 / 2 (Cody and Waite, "Software Manual for the Elementary Functions", 1980) and minimax polynomials of
/// our own.
#include <netsuke/core/hide_macros.hpp>
#include <limits>
#include <netsuke/simd/lockstep.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace math {
using simd::f32;
using simd::i32;

namespace impl {
using simd::fma;
using simd::splat;

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float smallest_normal = std::numeric_limits<float>::min();
inline constexpr float log2_e = 0x1.715476p+0f;
inline constexpr float ln2_high = 0x1.62e4p-1f,
                       ln2_low = 0x1.7f7d1cp-20f;  ///< products with small integers are exact in ln2_high

/// Evaluates a polynomial, coefficients from the constant term up, by Horner's scheme.
template <class Vector, class... Rest>
NSK_INLINE auto horner(const Vector& x, float first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return splat(first);
  else
    return fma(horner(x, rest...), x, splat(first));
}

/// e^x = (1 + fraction) * 2^n.
template <class Vector>
struct exponential {
  Vector fraction;  ///< e^r - 1
  Vector scale;     ///< 2^(n + Shift)
};
/// Splits e^x; -88 < x < 89 and n + Shift within [-127, 128]: -127 gives scale 0, 128 infinity. NaN gives a NaN
/// fraction.
template <int Shift, class Vector>
NSK_INLINE exponential<Vector> split_exp(const Vector& x) {
  constexpr float magic = 12582912.0f + 127 + Shift;  // 1.5 * 2^23: the sum has no fraction bits, and n in its low bits
  const Vector biased = fma(x, splat(log2_e), splat(magic)), n = simd::sub(biased, splat(magic));
  const Vector r = simd::neg_fma(n, splat(ln2_low), simd::neg_fma(n, splat(ln2_high), x));
  const Vector tail = horner(r, 0x1.fffffep-2f, 0x1.5554b4p-3f, 0x1.5556f2p-5f, 0x1.12254ap-7f, 0x1.6b9c68p-10f);
  return {fma(simd::mul(r, r), tail, r), simd::as_f32(simd::shift_left<23>(simd::as_i32(biased)))};
}
/// Restricts x to [low, high]; NaN stays NaN.
template <class Vector>
NSK_INLINE Vector restrict_to(const Vector& x, float low, float high) {
  return simd::min(splat(high), simd::max(splat(low), x));
}

/// e^x - 1 for -87 < x < 87.
NSK_INLINE f32 exp_minus_1(f32 x) {
  const exponential<f32> e = split_exp<0>(x);
  return fma(e.scale, e.fraction, simd::sub(e.scale, splat(1)));
}
/// log(1 + f) for sqrt(1/2) - 1 <= f <= sqrt(2) - 1, without the leading f.
NSK_INLINE f32 log_1_plus_rest(f32 f) {
  const f32 square = simd::mul(f, f);
  const f32 p = horner(f, 0x1.555554p-2f, -0x1.000226p-2f, 0x1.99a01cp-3f, -0x1.54728ap-3f, 0x1.22d93p-3f,
                       -0x1.0d8246p-3f, 0x1.055eaep-3f, -0x1.38c974p-4f);
  return simd::mul(square, fma(f, p, splat(-0.5f)));
}
}

/// e^x; infinity above 88.72.
template <class Vector>
NSK_INLINE Vector exp(const Vector& x) {
  const impl::exponential<Vector> e = impl::split_exp<-1>(impl::restrict_to(x, -87.6f, 89.0f));
  return simd::mul(simd::fma(e.fraction, simd::splat(2), simd::splat(2)),
                   e.scale);  // the factor 2 makes space for 2^128
}

/// e^x for x <= 0, which needs no upper limit.
template <class Vector>
NSK_INLINE Vector exp_negative(const Vector& x) {
  const impl::exponential<Vector> e = impl::split_exp<-1>(simd::max(simd::splat(-87.6f), x));
  return simd::mul(simd::fma(e.fraction, simd::splat(2), simd::splat(2)), e.scale);
}

/// Natural logarithm; -infinity at 0, NaN below.
NSK_INLINE f32 log(f32 x) {
  using namespace impl;
  constexpr std::int32_t root_half = 0x3f3504f3;
  const simd::mask tiny = simd::less(x, splat(smallest_normal));
  const i32 bits =
      simd::sub(simd::as_i32(simd::select(tiny, simd::mul(x, splat(8388608.0f)), x)), simd::splat_i32(root_half));
  const i32 mantissa = simd::add(simd::bit_and(bits, simd::splat_i32(0x7fffff)), simd::splat_i32(root_half));
  const f32 n = simd::sub(simd::to_f32(simd::shift_right<23>(bits)), simd::select(tiny, splat(23), simd::zero()));
  const f32 f = simd::sub(simd::as_f32(mantissa), splat(1));
  const f32 y = fma(n, splat(ln2_high), simd::add(f, fma(n, splat(ln2_low), log_1_plus_rest(f))));
  const f32 outside = simd::select(simd::equal(x, simd::zero()), splat(-infinity), splat(not_a_number));
  return simd::select(simd::less(simd::zero(), x), simd::select(simd::less(x, splat(infinity)), y, x), outside);
}

/// Hyperbolic tangent: t / (t + 2) with t = e^2|x| - 1.
NSK_INLINE f32 tanh(f32 x) {
  const f32 t = impl::exp_minus_1(simd::min(simd::splat(20), simd::mul(simd::abs(x), simd::splat(2))));
  return simd::copy_sign(simd::div(t, simd::add(t, simd::splat(2))), x);
}

namespace impl {
/// Returns 1 + e^-x for -87.6 <= x <= 60; infinity below -86.99. e^-x = 2^n e^-r with n = round(-x / ln 2) and
/// r = x + n ln 2: the polynomial of split_exp at -r, whose odd coefficients have the other sign. 2^n is 2^(n + 2) / 4,
/// so that infinity comes where n is 126.
NSK_INLINE f32 sigmoid_denominator(f32 x) {
  constexpr float magic = 12582912.0f + 127 + 2;
  const f32 biased = neg_fma(x, splat(log2_e), splat(magic)), n = simd::sub(biased, splat(magic));
  const f32 r = fma(n, splat(ln2_low), fma(n, splat(ln2_high), x));
  const f32 tail = horner(r, 0x1.fffffep-2f, -0x1.5554b4p-3f, 0x1.5556f2p-5f, -0x1.12254ap-7f, 0x1.6b9c68p-10f);
  const f32 fraction = neg_fma(simd::mul(r, r), tail, r);                           // 1 - e^-r
  const f32 four_times = simd::as_f32(simd::shift_left<23>(simd::as_i32(biased)));  // 2^(n + 2)
  return fma(neg_fma(fraction, splat(0.25f), splat(0.25f)), four_times, splat(1));
}
}

/// 1 / (1 + e^-x).
NSK_INLINE f32 sigmoid(f32 x) {
  return simd::div(simd::splat(1), impl::sigmoid_denominator(impl::restrict_to(x, -87.6f, 60.0f)));
}
/// x * sigmoid(x).
NSK_INLINE f32 silu(f32 x) {
  const f32 above = simd::max(simd::splat(-87.6f), x);
  return simd::div(above, impl::sigmoid_denominator(simd::min(simd::splat(60), above)));
}

/// slope * x + offset, between 0 and 1.
NSK_INLINE f32 hard_sigmoid(f32 x, f32 slope, f32 offset) {
  return simd::clamp_result(simd::fma(slope, x, offset), simd::zero(), simd::splat(1));
}
/// x * max(0, min(1, x / 6 + 1 / 2)).
NSK_INLINE f32 hard_swish(f32 x) { return simd::mul(x, hard_sigmoid(x, simd::splat(1.0f / 6), simd::splat(0.5f))); }

/// x above 0, alpha * (e^x - 1) below.
NSK_INLINE f32 elu(f32 x, f32 alpha) {
  const f32 below = simd::mul(alpha, impl::exp_minus_1(impl::restrict_to(x, -20.0f, 0.0f)));
  return simd::select(simd::less(simd::zero(), x), x, below);
}

/// log(1 + e^x).
NSK_INLINE f32 softplus(f32 x) {
  using namespace impl;
  const f32 e = exp_negative(simd::neg(simd::abs(x)));
  const simd::mask high = simd::less(splat(0x1.a8279ap-2f), e);  // sqrt(2) - 1: from here 1 + e = 2 (1 + (e - 1) / 2)
  const f32 f = simd::select(high, fma(e, splat(0.5f), splat(-0.5f)), e);
  const f32 start = simd::select(high, splat(ln2_high), simd::zero()),
            rest = simd::select(high, splat(ln2_low), simd::zero());
  const f32 logarithm = simd::add(start, simd::add(f, simd::add(rest, log_1_plus_rest(f))));
  return simd::add(simd::max(simd::zero(), x), logarithm);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
