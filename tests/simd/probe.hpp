// SPDX-License-Identifier: MIT
#pragma once
/// The vocabulary as plain functions on memory and numbers, because tests are outside of the regions.
#include <cstdint>
#include <netsuke/simd/vec.hpp>

#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace probe {
using namespace simd;
enum class one { neg, abs, sqrt, round_even, floor, ceil, trunc };
inline float apply(one op, float a) {
  const f32 x = splat(a);
  f32 y = x;
  switch (op) {
    case one::neg: y = neg(x); break;
    case one::abs: y = abs(x); break;
    case one::sqrt: y = sqrt(x); break;
    case one::round_even: y = round_even(x); break;
    case one::floor: y = floor(x); break;
    case one::ceil: y = ceil(x); break;
    case one::trunc: y = trunc(x); break;
  }
  float line[f32::lanes];
  store(line, y);
  return line[f32::lanes - 1];
}
enum class two { add, sub, mul, div, min, max, copy_sign };
inline float apply(two op, float a, float b) {
  const f32 x = splat(a), y = broadcast(&b);
  f32 z = x;
  switch (op) {
    case two::add: z = add(x, y); break;
    case two::sub: z = sub(x, y); break;
    case two::mul: z = mul(x, y); break;
    case two::div: z = div(x, y); break;
    case two::min: z = min(x, y); break;
    case two::max: z = max(x, y); break;
    case two::copy_sign: z = copy_sign(x, y); break;
  }
  float line[f32::lanes];
  store(line, z);
  return line[0];
}
/// clamp(), or clamp_result(), of f32::lanes numbers in place.
inline void apply_clamp(bool of_result, float* line, float low, float high) {
  const f32 x = load(line), a = splat(low), b = splat(high);
  store(line, of_result ? clamp_result(x, a, b) : clamp(x, a, b));
}
inline float apply_fma(float a, float b, float c) {
  float line[f32::lanes];
  store(line, fma(splat(a), splat(b), splat(c)));
  return line[0];
}
inline float apply_neg_fma(float a, float b, float c) {
  float line[f32::lanes];
  store(line, neg_fma(splat(a), splat(b), splat(c)));
  return line[f32::lanes - 1];
}
/// Spreads each lane of groups of Size; false where a register holds no more than one group.
template <int Size>
bool spread_each(const float* from, float (&to)[Size][f32::lanes]) {
  if constexpr (Size < f32::lanes)
    unroll<Size>([&](auto i) NSK_INLINE_LAMBDA { store(to[i], spread<Size, decltype(i)::value>(load(from))); });
  return Size < f32::lanes;
}
/// Interleaves Count registers of numbers that follow each other.
template <int Count>
void zip_each(const float* from, float* to) {
  f32 x[Count];
  for (int i = 0; i < Count; ++i) x[i] = load(from + i * f32::lanes);
  store_zipped(to, x);
}
inline std::int32_t to_integer(float a) {
  std::int32_t line[f32::lanes];
  store_i32(line, to_i32(splat(a)));
  return line[0];
}
inline float from_integer(std::int32_t a) {
  float line[f32::lanes];
  store(line, to_f32(splat_i32(a)));
  return line[0];
}
inline int comparisons(float a, float b) {
  const f32 x = splat(a), y = splat(b);
  return (any(less(x, y)) ? 1 : 0) | (any(less_equal(x, y)) ? 2 : 0) | (any(equal(x, y)) ? 4 : 0) |
         (any(greater(x, y)) ? 8 : 0) | (any(greater_equal(x, y)) ? 16 : 0) | (any(not_equal(x, y)) ? 32 : 0);
}
inline float choose(float a, float b, float yes, float no) {
  float line[f32::lanes];
  store(line, select(less(splat(a), splat(b)), splat(yes), splat(no)));
  return line[f32::lanes - 1];
}
inline std::int32_t integers(int op, std::int32_t a, std::int32_t b) {
  const i32 x = splat_i32(a), y = splat_i32(b);
  i32 z = x;
  if (op == 0) z = add(x, y);
  if (op == 1) z = sub(x, y);
  if (op == 2) z = bit_and(x, y);
  if (op == 3) z = bit_or(x, y);
  if (op == 4) z = bit_xor(x, y);
  if (op == 5) z = shift_left<7>(x);
  if (op == 6) z = shift_right<7>(x);
  if (op == 7) z = shift_right_logical<7>(x);
  if (op == 8) z = select(equal(x, y), splat_i32(1), splat_i32(0));
  if (op == 9) z = select(less(x, y), splat_i32(1), splat_i32(0));
  if (op == 10) z = select(greater(x, y), splat_i32(1), splat_i32(0));
  if (op == 11) z = as_i32(as_f32(x));
  std::int32_t line[f32::lanes];
  store_i32(line, z);
  return line[0];
}
inline float decode(std::uint16_t h) {
  std::uint16_t in[f32::lanes];
  for (std::uint16_t& x : in) x = h;
  float out[f32::lanes];
  store(out, load_f16(in));
  return out[0];
}
inline std::uint16_t encode(float x) {
  std::uint16_t out[f32::lanes];
  store_f16(out, splat(x));
  return out[0];
}
inline void partial(const float* from, float* to, int n) { store_partial(to, n, load_partial(from, n)); }
inline void partial_whole(const float* from, float* to, int n) { store(to, load_partial(from, n)); }
inline void low_products(const float* a, const float* b, const float* c, float* to) {
  store(to, fma_low(load_low(a), load_low(b), load_low(c)));
}
inline void low_stored(const float* from, float* to, int n) { store_partial_low(to, n, load_low(from)); }
inline void spread_low(const float* from, float* to) { store(to, broadcast_low(from)); }
inline void reductions(const float* p, float* out) {
  const f32x16 x = load16(p);
  out[0] = sum16(x);
  out[1] = product16(x);
  out[2] = max16(x);
  out[3] = min16(x);
}
inline float unfused(float a, float b, float c) {
  float line[f32::lanes];
  store(line, add(mul(splat(a), splat(b)), splat(c)));
  return line[0];
}
}
NSK_END
#include <netsuke/simd/end.hpp>
