// SPDX-License-Identifier: MIT
#pragma once
/// The elementwise functions of the format, by name in the headers included here and by number: `visit` chooses one
/// outside a loop.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/op.hpp>
#include <netsuke/math/error_function.hpp>
#include <netsuke/math/exponential.hpp>
#include <netsuke/math/hyperbolic.hpp>
#include <netsuke/math/inverse_trigonometry.hpp>
#include <netsuke/math/pow.hpp>
#include <netsuke/math/remainder.hpp>
#include <netsuke/math/trigonometry.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace math {

/// max(x, low) then min(., high), with simd's rule for NaN: it becomes `low`.
NSK_INLINE f32 clip(f32 x, f32 low, f32 high) { return simd::clamp(x, low, high); }
/// x below 0 times slope, else x.
NSK_INLINE f32 leaky_relu(f32 x, f32 slope) {
  return simd::select(simd::less(x, simd::zero()), simd::mul(x, slope), x);
}

/// -1, 0 or 1; zeros keep their sign, NaN stays.
NSK_INLINE f32 sign(f32 x) {
  const f32 one = simd::splat(1), zero = simd::zero();
  return simd::select(simd::less(x, zero), simd::neg(one), simd::select(simd::less(zero, x), one, x));
}

/// The trigonometric and hyperbolic ones; identity for all others.
template <function F>
NSK_INLINE f32 trigonometric(f32 x) {
  if constexpr (F == function::sin)
    return sin(x);
  else if constexpr (F == function::cos)
    return cos(x);
  else if constexpr (F == function::asin)
    return asin(x);
  else if constexpr (F == function::acos)
    return acos(x);
  else if constexpr (F == function::atan)
    return atan(x);
  else if constexpr (F == function::sinh)
    return sinh(x);
  else if constexpr (F == function::cosh)
    return cosh(x);
  else if constexpr (F == function::asinh)
    return asinh(x);
  else if constexpr (F == function::acosh)
    return acosh(x);
  else if constexpr (F == function::atanh)
    return atanh(x);
  else
    return x;
}

/// `F` as a callable with its parameters (schema/netsuke.fbs says which function has which). prelu takes its slope
/// elsewhere and passes x through.
template <function F>
struct applied {
  f32 alpha, beta;

  /// Whether vectors are worth being computed in lockstep: long chains of operations without a division, for which
  /// others wait.
  static constexpr bool is_long = F == function::exp || F == function::erf || F == function::gelu;

  /// For a vector; where is_long also for a group of them.
  template <class Vector>
  NSK_INLINE Vector operator()(const Vector& x) const {
    if constexpr (F == function::clip)
      return clip(x, alpha, beta);
    else if constexpr (F == function::leaky_relu)
      return leaky_relu(x, alpha);
    else if constexpr (F == function::sigmoid)
      return sigmoid(x);
    else if constexpr (F == function::hard_sigmoid)
      return hard_sigmoid(x, alpha, beta);
    else if constexpr (F == function::hard_swish)
      return hard_swish(x);
    else if constexpr (F == function::silu)
      return silu(x);
    else if constexpr (F == function::tanh)
      return tanh(x);
    else if constexpr (F == function::exp)
      return exp(x);
    else if constexpr (F == function::log)
      return log(x);
    else if constexpr (F == function::sqrt)
      return simd::sqrt(x);
    else if constexpr (F == function::reciprocal)
      return simd::div(simd::splat(1), x);
    else if constexpr (F == function::neg)
      return simd::neg(x);
    else if constexpr (F == function::abs)
      return simd::abs(x);
    else if constexpr (F == function::floor)
      return simd::floor(x);
    else if constexpr (F == function::ceil)
      return simd::ceil(x);
    else if constexpr (F == function::round)
      return simd::round_even(x);
    else if constexpr (F == function::erf)
      return erf(x);
    else if constexpr (F == function::gelu)
      return gelu(x);
    else if constexpr (F == function::elu)
      return elu(x, alpha);
    else if constexpr (F == function::softplus)
      return softplus(x);
    else if constexpr (F == function::square)
      return simd::mul(x, x);
    else if constexpr (F == function::sign)
      return sign(x);
    else
      return trigonometric<F>(x);
  }
};

/// Calls body(applied<f>) once, so that the body's loop knows the function. There is no code for functions that are not
/// in the list; prelu and functions outside the list give identity.
template <class Set = all_functions, class Body>
NSK_INLINE void visit(function f, float alpha, float beta, Body&& body) {
  const f32 a = simd::splat(alpha), b = simd::splat(beta);
#define NSK_CASE(name)                            \
  case function::name:                            \
    if constexpr (Set::has(function::name)) {     \
      return body(applied<function::name>{a, b}); \
    }                                             \
    break;
  switch (f) {
    NSK_CASE(clip)
    NSK_CASE(leaky_relu)
    NSK_CASE(sigmoid)
    NSK_CASE(hard_sigmoid)
    NSK_CASE(hard_swish)
    NSK_CASE(silu)
    NSK_CASE(tanh)
    NSK_CASE(exp)
    NSK_CASE(log)
    NSK_CASE(sqrt)
    NSK_CASE(reciprocal)
    NSK_CASE(neg)
    NSK_CASE(abs)
    NSK_CASE(floor)
    NSK_CASE(ceil)
    NSK_CASE(round)
    NSK_CASE(erf)
    NSK_CASE(gelu)
    NSK_CASE(elu)
    NSK_CASE(softplus)
    NSK_CASE(square)
    NSK_CASE(sign)
    NSK_CASE(sin)
    NSK_CASE(cos)
    NSK_CASE(asin)
    NSK_CASE(acos)
    NSK_CASE(atan)
    NSK_CASE(sinh)
    NSK_CASE(cosh)
    NSK_CASE(asinh)
    NSK_CASE(acosh)
    NSK_CASE(atanh)
    case function::identity:
    case function::prelu: break;
  }
#undef NSK_CASE
  body(applied<function::identity>{a, b});
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
