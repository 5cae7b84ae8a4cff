// SPDX-License-Identifier: MIT
#pragma once
/// a * b + c, rounded once, on WebAssembly's vectors: for wasm.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/simd/isa.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace simd {
namespace impl {

#if defined(__wasm_relaxed_simd__)

/// Keeps what is computed in the order of the source: LLVM delays multiply-adds to the end of a loop's body, where all
/// that they multiply takes registers.
NSK_INLINE v128_t in_order(v128_t sum) {
  __asm__ volatile("" : "+r"(sum));
  return sum;
}
/// One instruction. On engines that fuse it, which cpu_supports() asks for, it rounds once.
NSK_INLINE v128_t multiply_add(v128_t a, v128_t b, v128_t c) { return in_order(wasm_f32x4_relaxed_madd(a, b, c)); }
/// c - a * b.
NSK_INLINE v128_t multiply_subtract(v128_t a, v128_t b, v128_t c) {
  return in_order(wasm_f32x4_relaxed_nmadd(a, b, c));
}

#else

/// Lanes 0 and 1, or 2 and 3, as doubles.
template <int Half>
NSK_INLINE v128_t doubles(v128_t a) {
  return wasm_f64x2_promote_low_f32x4(Half == 0 ? a : wasm_i32x4_shuffle(a, a, 2, 3, 2, 3));
}
/// Two lanes of a * b + c as doubles that are rounded to odd, so that one more rounding gives what one rounding gives:
/// `fused` of scalar.hpp.
template <int Half>
NSK_INLINE v128_t odd_sum(v128_t a, v128_t b, v128_t c) {
  const v128_t product = wasm_f64x2_mul(doubles<Half>(a), doubles<Half>(b)), term = doubles<Half>(c),
               sum = wasm_f64x2_add(product, term), back = wasm_f64x2_sub(sum, product),
               error = wasm_f64x2_add(wasm_f64x2_sub(product, wasm_f64x2_sub(sum, back)), wasm_f64x2_sub(term, back));
  const v128_t none = wasm_f64x2_const_splat(0), above = wasm_f64x2_gt(error, none),
               inexact = wasm_v128_or(above, wasm_f64x2_lt(error, none)),
               is_even = wasm_i64x2_sub(wasm_v128_and(sum, wasm_i64x2_const_splat(1)), wasm_i64x2_const_splat(1)),
               away = wasm_v128_xor(above, wasm_f64x2_gt(sum, none)),  // all ones: towards zero, -1
      step = wasm_v128_or(away, wasm_i64x2_const_splat(1));
  return wasm_i64x2_add(sum, wasm_v128_and(wasm_v128_and(inexact, is_even), step));
}
/// Four floats of doubles.
NSK_INLINE v128_t narrowed(v128_t low, v128_t high) {
  return wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high), 0, 1, 4, 5);
}
NSK_NOINLINE NSK_COLD inline v128_t multiply_add_by_odd_sums(v128_t a, v128_t b, v128_t c) {
  return narrowed(odd_sum<0>(a, b, c), odd_sum<1>(a, b, c));
}
/// The product is exact in double. A sum that is rounded to double and then to float is rounded once, unless the double
/// is halfway between floats, which is asked of its 29 last bits, or the float is subnormal and its halves elsewhere;
/// a float that is 0 has an exact sum.
NSK_INLINE v128_t multiply_add(v128_t a, v128_t b, v128_t c) {
  const v128_t low = wasm_f64x2_add(wasm_f64x2_mul(doubles<0>(a), doubles<0>(b)), doubles<0>(c)),
               high = wasm_f64x2_add(wasm_f64x2_mul(doubles<1>(a), doubles<1>(b)), doubles<1>(c)),
               result = narrowed(low, high);
  const v128_t last = wasm_v128_and(wasm_i32x4_shuffle(low, high, 0, 2, 4, 6), wasm_i32x4_const_splat(0x1fffffff)),
               halfway = wasm_i32x4_eq(last, wasm_i32x4_const_splat(0x10000000)),
               magnitude = wasm_v128_and(result, wasm_i32x4_const_splat(0x7fffffff)),
               small = wasm_u32x4_lt(wasm_i32x4_sub(magnitude, wasm_i32x4_const_splat(1)),
                                     wasm_i32x4_const_splat(0x00ffffff));  // below 2^-125
  if (wasm_v128_any_true(wasm_v128_or(halfway, small))) return multiply_add_by_odd_sums(a, b, c);
  return result;
}
/// c - a * b.
NSK_INLINE v128_t multiply_subtract(v128_t a, v128_t b, v128_t c) { return multiply_add(wasm_f32x4_neg(a), b, c); }

#endif

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
