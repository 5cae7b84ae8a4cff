// SPDX-License-Identifier: MIT
#pragma once
/// The elementwise functions of the format, by name in the headers included here and by number: `visit` chooses one
/// outside a loop, `apply` computes one vector.
#include <netsuke/core/op.hpp>
#include <netsuke/math/error_function.hpp>
#include <netsuke/math/exponential.hpp>
#include <netsuke/math/pow.hpp>
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

/// `F` as a callable with its parameters (schema/netsuke.fbs says which function has which). prelu takes its slope
/// elsewhere and passes x through.
template <function F>
struct applied {
  f32 alpha, beta;
  NSK_INLINE f32 operator()(f32 x) const {
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
      return x;
  }
};

/// Calls body(applied<f>) once, so that the body's loop knows the function.
template <class Body>
inline void visit(function f, float alpha, float beta, Body&& body) {
  const f32 a = simd::splat(alpha), b = simd::splat(beta);
  switch (f) {
    case function::clip: return body(applied<function::clip>{a, b});
    case function::leaky_relu: return body(applied<function::leaky_relu>{a, b});
    case function::sigmoid: return body(applied<function::sigmoid>{a, b});
    case function::hard_sigmoid: return body(applied<function::hard_sigmoid>{a, b});
    case function::hard_swish: return body(applied<function::hard_swish>{a, b});
    case function::silu: return body(applied<function::silu>{a, b});
    case function::tanh: return body(applied<function::tanh>{a, b});
    case function::exp: return body(applied<function::exp>{a, b});
    case function::log: return body(applied<function::log>{a, b});
    case function::sqrt: return body(applied<function::sqrt>{a, b});
    case function::reciprocal: return body(applied<function::reciprocal>{a, b});
    case function::neg: return body(applied<function::neg>{a, b});
    case function::abs: return body(applied<function::abs>{a, b});
    case function::floor: return body(applied<function::floor>{a, b});
    case function::ceil: return body(applied<function::ceil>{a, b});
    case function::round: return body(applied<function::round>{a, b});
    case function::erf: return body(applied<function::erf>{a, b});
    case function::gelu: return body(applied<function::gelu>{a, b});
    case function::elu: return body(applied<function::elu>{a, b});
    case function::softplus: return body(applied<function::softplus>{a, b});
    case function::square: return body(applied<function::square>{a, b});
    case function::sign: return body(applied<function::sign>{a, b});
    case function::identity:
    case function::prelu: break;
  }
  body(applied<function::identity>{a, b});
}

/// Returns f(x). Not inlined: loops over few vectors call it, loops over many use `visit`.
NSK_NOINLINE inline f32 apply(function f, float alpha, float beta, f32 x) {
  f32 y = x;
  visit(f, alpha, beta, [&](auto op) { y = op(x); });
  return y;
}

}
NSK_END
#include <netsuke/simd/end.hpp>
