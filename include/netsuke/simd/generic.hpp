// SPDX-License-Identifier: MIT
#pragma once
/// What follows from the vocabulary alone, whatever the instruction set: included by vec.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace simd {

NSK_INLINE mask greater(f32 a, f32 b) { return less(b, a); }
NSK_INLINE mask greater_equal(f32 a, f32 b) { return less_equal(b, a); }
NSK_INLINE mask not_equal(f32 a, f32 b) { return logical_not(equal(a, b)); }
NSK_INLINE mask greater(i32 a, i32 b) { return less(b, a); }
/// min(max(x, low), high): NaN gives low.
NSK_INLINE f32 clamp(f32 x, f32 low, f32 high) { return min(max(x, low), high); }
#if !defined(NSK_ISA_NEON)
constexpr bool has_plain_bounds(float, float) { return true; }
NSK_INLINE f32 clamp_result(f32 x, f32 low, f32 high) { return clamp(x, low, high); }
#endif
/// The magnitude of one and the sign of the other.
NSK_INLINE f32 copy_sign(f32 magnitude, f32 sign) {
  const i32 bit = splat_i32(-2147483647 - 1);
  return as_f32(bit_or(as_i32(abs(magnitude)), bit_and(as_i32(sign), bit)));
}

#if !defined(NSK_ISA_AVX512)
NSK_INLINE f32 load_low(const float* p) { return load(p); }
NSK_INLINE f32 broadcast_low(const float* p) { return broadcast(p); }
NSK_INLINE void store_partial_low(float* p, int n, f32 a) { store_partial(p, n, a); }
NSK_INLINE f32 fma_low(f32 a, f32 b, f32 c) { return fma(a, b, c); }
#endif

#if !defined(NSK_ISA_NEON)
inline constexpr bool dots_leave_out = false;
inline constexpr int max_widened_sums = 64;
NSK_INLINE i32 add_left_out(i32 sum, i32) { return sum; }
#endif

/// A weight of float16 that was widened.
struct widened_float {
  float value;
};
/// Weights as numbers, whatever their type.
NSK_INLINE f32 load_weights(const float* p) { return load(p); }
NSK_INLINE f32 load_weights(const widened_float* p) { return load(&p->value); }
NSK_INLINE f32 load_weights(const std::uint16_t* p) { return load_f16(p); }
NSK_INLINE f32 load_weights(const std::int8_t* p) { return load_i8(p); }
#if defined(NSK_ISA_AVX512)
NSK_INLINE f32 load_weights_low(const float* p) { return load_low(p); }
NSK_INLINE f32 load_weights_low(const widened_float* p) { return load_low(&p->value); }
NSK_INLINE f32 load_weights_low(const std::uint16_t* p) { return load_f16_low(p); }
NSK_INLINE f32 load_weights_low(const std::int8_t* p) { return load_i8(p); }
#else
template <class Weight>
NSK_INLINE f32 load_weights_low(const Weight* p) {
  return load_weights(p);
}
#endif

/// Copies `count` bytes, at most 64, without a call.
NSK_INLINE void copy_bytes(std::uint8_t* to, const std::uint8_t* from, std::ptrdiff_t count) {
  for (; count >= 16; count -= 16, to += 16, from += 16) std::memcpy(to, from, 16);
  if ((count & 8) != 0) std::memcpy(to, from, 8);
  to += count & 8, from += count & 8;
  if ((count & 4) != 0) std::memcpy(to, from, 4);
  to += count & 4, from += count & 4;
  for (int i = 0; i < (count & 3); ++i) to[i] = from[i];
}
/// Stores the first `count` bytes.
NSK_INLINE void store_first_bytes(std::uint8_t* p, bytes x, std::ptrdiff_t count) {
  std::uint8_t line[bytes::lanes];
  store_bytes(line, x);
  copy_bytes(p, line, count);
}
/// Loads the first `count` bytes, and zeros behind them.
NSK_INLINE bytes load_first_bytes(const std::uint8_t* p, std::ptrdiff_t count) {
  std::uint8_t line[bytes::lanes] = {};
  copy_bytes(line, p, count);
  return load_bytes(line);
}

/// Returns x, and hides from the compiler that it knows it: addresses computed from it stay in the loop instead of
/// being kept, by the dozen, on the stack.
NSK_INLINE std::ptrdiff_t opaque(std::ptrdiff_t x) {
#if defined(__GNUC__)
  __asm__("" : "+r"(x));
#endif
  return x;
}

/// Returns a, which compilers then load once: g++ reads what several multiply-adds share from memory again for each.
NSK_INLINE f32 in_register(f32 a) {
#if defined(__GNUC__) && (defined(NSK_ISA_AVX2) || (defined(NSK_ISA_AVX512) && !defined(__m512)))  // not emulated
  __asm__("" : "+v"(a.v));
#endif
  return a;
}

namespace impl {
template <class F, int... I>
NSK_INLINE void unroll(F&& f, std::integer_sequence<int, I...>) {
  (f(std::integral_constant<int, I>{}), ...);
}
}
/// Calls f(integral_constant<int, 0>) to f(integral_constant<int, N - 1>), without a loop.
template <int N, class F>
NSK_INLINE void unroll(F&& f) {
  impl::unroll(static_cast<F&&>(f), std::make_integer_sequence<int, N>{});
}

/// Stores Count registers, 2 to 4, interleaved.
template <int Count>
NSK_INLINE void store_zipped(float* p, const f32 (&x)[Count]) {
  static_assert(Count >= 2 && Count <= 4);
  if constexpr (Count == 3) return store_zipped(p, x[0], x[1], x[2]);
  f32 even[2], odd[2], pairs[2];
  zip(x[0], x[Count / 2], even);
  if constexpr (Count == 4) zip(x[1], x[3], odd);
  unroll<Count / 2>([&](auto half) NSK_INLINE_LAMBDA {
    if constexpr (Count == 4) zip(even[half], odd[half], pairs);
    unroll<2>([&](auto i)
                  NSK_INLINE_LAMBDA { store(p + (2 * half + i) * f32::lanes, Count == 4 ? pairs[i] : even[i]); });
  });
}

/// Sixteen partial results of a reduction along memory: element i of a line belongs to partial i mod 16. `combine16`
/// folds them as a fixed tree (i with i + 8, then + 4, + 2, + 1), so a reduction has the same bits on every width.
struct f32x16 {
  static constexpr int parts = 16 / f32::lanes;
  f32 part[parts];
};
NSK_INLINE f32x16 splat16(float x) {
  f32x16 r;
  for (f32& p : r.part) p = splat(x);
  return r;
}
NSK_INLINE f32x16 load16(const float* p) {
  f32x16 r;
  unroll<f32x16::parts>([&](auto i) NSK_INLINE_LAMBDA { r.part[i] = load(p + i * f32::lanes); });
  return r;
}
NSK_INLINE void store16(float* p, const f32x16& a) {
  unroll<f32x16::parts>([&](auto i) NSK_INLINE_LAMBDA { store(p + i * f32::lanes, a.part[i]); });
}
namespace impl {
template <class Op>
NSK_INLINE f32 fold16(f32x16 a, Op op) {
  for (int n = f32x16::parts / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i) a.part[i] = op(a.part[i], a.part[i + n]);
  return a.part[0];
}
}
NSK_INLINE float sum16(const f32x16& a) {
  return reduce_add(impl::fold16(a, [](f32 x, f32 y) NSK_INLINE_LAMBDA { return add(x, y); }));
}
NSK_INLINE float product16(const f32x16& a) {
  return reduce_mul(impl::fold16(a, [](f32 x, f32 y) NSK_INLINE_LAMBDA { return mul(x, y); }));
}
NSK_INLINE float max16(const f32x16& a) {
  return reduce_max(impl::fold16(a, [](f32 x, f32 y) NSK_INLINE_LAMBDA { return max(x, y); }));
}
NSK_INLINE float min16(const f32x16& a) {
  return reduce_min(impl::fold16(a, [](f32 x, f32 y) NSK_INLINE_LAMBDA { return min(x, y); }));
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
