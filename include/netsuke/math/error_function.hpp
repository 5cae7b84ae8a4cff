// SPDX-License-Identifier: MIT
#pragma once
/// The error function, and the Gaussian error linear unit that is made of it.
///
/// Largest errors, measured over every 7th float: erf 1.4 ULP; gelu 1.2e-7 * max(1, |x|) absolute, and 6e-6 relative.
/// Method: erf(x) = x (1 + P(x^2)) near 0, elsewhere 1 - e^(t Q(t)), where t Q(t) approximates log erfc(t) (the form
/// is N. Juffa's, the coefficients are our own fits).
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/math/exponential.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace math {

namespace impl {
/// e^x / 2^Halvings for -80 < x <= 0.
template <int Halvings, class Vector>
NSK_INLINE Vector halved_exp(const Vector& x) {
  const exponential<Vector> e = split_exp<-Halvings>(x);
  return fma(e.fraction, e.scale, e.scale);
}
}

/// 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
template <class Vector>
NSK_INLINE Vector erf(const Vector& x) {
  using namespace impl;
  const Vector magnitude = simd::abs(x), t = simd::min(splat(4.25f), magnitude),
               square = simd::mul(magnitude, magnitude);
  const Vector q = horner(t, -0x1.20fa86p+0f, -0x1.44d2fp-1f, -0x1.b83b54p-4f, 0x1.976bd2p-6f, -0x1.12b734p-8f,
                          0x1.ef803ep-12f, -0x1.04facp-15f, 0x1.d75194p-21f);
  const Vector p = horner(square, 0x1.06eba6p-3f, -0x1.8126eep-2f, 0x1.ce1c1ep-4f, -0x1.b6a7c6p-6f, 0x1.47f6fep-8f,
                          -0x1.3d5ffap-11f);
  const Vector far = simd::sub(splat(1), halved_exp<0>(simd::mul(t, q))), near = fma(magnitude, p, magnitude);
  return simd::copy_sign(simd::select(simd::less(splat(0.9f), magnitude), far, near), x);
}

/// x times the normal distribution function of x: x / 2 * (1 + erf(x / sqrt(2))). Exactly 0 below -6, where it is above
/// -6e-9.
template <class Vector>
NSK_INLINE Vector gelu(const Vector& x) {
  using namespace impl;
  const Vector a = simd::min(splat(6), simd::abs(x));
  const Vector q =
      horner(a, -0x1.988458p-1f, -0x1.45f292p-2f, -0x1.29b74cp-5f, 0x1.3a14dcp-8f, 0x1.1203fp-15f, -0x1.cc5a88p-13f,
             0x1.100a34p-14f, -0x1.6e071ep-17f, 0x1.324192p-20f, -0x1.286744p-24f, 0x1.fbbf64p-30f);
  const Vector half = halved_exp<1>(simd::mul(a, q));  // the distribution function at -|x|
  const Vector share = simd::select(simd::less(x, simd::zero()), half, simd::sub(splat(1), half));
  return simd::select(simd::less(x, splat(-6)), simd::zero(), simd::mul(x, share));
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
