// SPDX-License-Identifier: MIT
#pragma once
/// The vocabulary of vec.hpp on WebAssembly's 128-bit vectors. A module that is compiled with -mrelaxed-simd multiplies
/// and adds by one instruction, which an engine may round once or twice: cpu_supports() finds out. A module compiled
/// without computes the same bits on every engine, in about twenty instructions (wasm_fma.hpp).
///
/// The other relaxed instructions here have one result for all operands that they get.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/simd/isa.hpp>
#include <netsuke/simd/u8_range.hpp>
#include <netsuke/simd/wasm_fma.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace simd {

struct f32 {
  static constexpr int lanes = 4;
  static constexpr int registers = 15;  ///< engines on x86-64 keep one of 16 for themselves
  v128_t v;
};
struct i32 {
  static constexpr int lanes = 4;
  v128_t v;
};
struct mask {
  v128_t v;
};

/// What kernels choose for this instruction set. Measured in V8 on x86-64: 6 rows of 8 columns, 2 of 16 and 2 of 24 run
/// at 95 % of the multiply-add peak and more; one register more halves that.
struct tuning {
  static constexpr bool loads_inputs_first = false;  ///< compilers hold the inputs of all rows of a GEMM tile at once
  static constexpr bool keeps_order = true;          ///< compilers leave multiply-adds in the order of the source
  static constexpr int max_gemm_rows = 16;           ///< of a GEMM tile, whatever its registers allow
  static constexpr int max_narrow_rows = 8;          ///< the same for panels of 8 columns
  static constexpr int gemm_steps = 1;         ///< k between tests of a GEMM loop, which take ports of multiply-adds
  static constexpr int block_columns = 24;     ///< of results that wait for their functions, in whole registers
  static constexpr bool stores_parts = false;  ///< a register that is partly stored costs no more than a whole one
  static constexpr int lockstep_vectors = 2;   ///< of a long function (lockstep.hpp): as many as registers hold
};

namespace impl {
/// Bits of b where those of m are 0, of a where they are 1; each lane of m has equal bits.
NSK_INLINE v128_t choose(v128_t m, v128_t a, v128_t b) {
#if defined(__wasm_relaxed_simd__)
  return wasm_i32x4_relaxed_laneselect(a, b, m);
#else
  return wasm_v128_bitselect(a, b, m);
#endif
}
/// Integers of numbers without a fraction, all in the range of int32.
NSK_INLINE v128_t integers(v128_t a) {
#if defined(__wasm_relaxed_simd__)
  return wasm_i32x4_relaxed_trunc_f32x4(a);
#else
  return wasm_i32x4_trunc_sat_f32x4(a);
#endif
}
}

struct f64 {
  static constexpr int lanes = 2;
  v128_t v;
};
NSK_INLINE f64 widen(const float* p) { return {wasm_f64x2_promote_low_f32x4(wasm_v128_load64_zero(p))}; }
NSK_INLINE f64 add(f64 a, f64 b) { return {wasm_f64x2_add(a.v, b.v)}; }
NSK_INLINE f64 sub(f64 a, f64 b) { return {wasm_f64x2_sub(a.v, b.v)}; }
NSK_INLINE f64 scaled(f64 a, double factor) { return {wasm_f64x2_mul(a.v, wasm_f64x2_splat(factor))}; }
NSK_INLINE void store_narrowed(float* p, f64 a) { wasm_v128_store64_lane(p, wasm_f32x4_demote_f64x2_zero(a.v), 0); }

NSK_INLINE f32 load(const float* p) { return {wasm_v128_load(p)}; }
NSK_INLINE f32 load_partial(const float* p, int n) {
  float line[4] = {};
  for (int i = 0; i < 4; ++i)
    if (i < n) line[i] = p[i];
  return {wasm_v128_load(line)};
}
NSK_INLINE f32 broadcast(const float* p) { return {wasm_v128_load32_splat(p)}; }
NSK_INLINE f32 splat(float x) { return {wasm_f32x4_splat(x)}; }
NSK_INLINE f32 zero() { return {wasm_f32x4_const_splat(0)}; }
NSK_INLINE void store(float* p, f32 a) { wasm_v128_store(p, a.v); }
NSK_INLINE void store_partial(float* p, int n, f32 a) {
  float line[4];
  wasm_v128_store(line, a.v);
  for (int i = 0; i < 4; ++i)
    if (i < n) p[i] = line[i];
}
/// A half's bits at the place of a float's are the number times 2^-112, subnormal ones too.
NSK_INLINE f32 load_f16(const std::uint16_t* p) {
  const v128_t half = wasm_u32x4_load16x4(p),
               sign = wasm_v128_and(wasm_i32x4_shl(half, 16), wasm_i32x4_splat(INT32_MIN)),
               scaled = wasm_i32x4_shl(wasm_v128_and(half, wasm_i32x4_const_splat(0x7fff)), 13),
               number = wasm_f32x4_mul(scaled, wasm_i32x4_const_splat(0x77800000)),  // 2^112
      infinite = wasm_f32x4_ge(number, wasm_f32x4_const_splat(65536)),               // and numbers that are none
      rest = wasm_v128_and(infinite, wasm_i32x4_const_splat(0x7f800000));
  return {wasm_v128_or(wasm_v128_or(number, rest), sign)};
}
/// As f16_of_float of scalar.hpp: integers round, but below 2^-14, where adding 0.5 leaves multiples of 2^-24.
NSK_INLINE void store_f16(std::uint16_t* p, f32 a) {
  const auto all = [](std::int32_t x) NSK_INLINE_LAMBDA { return wasm_i32x4_splat(x); };
  const v128_t magnitude = wasm_v128_and(a.v, all(0x7fffffff)),
               odd = wasm_v128_and(wasm_u32x4_shr(magnitude, 13), all(1)),
               rounded = wasm_u32x4_shr(wasm_i32x4_add(wasm_i32x4_add(magnitude, all(0xfff - 0x38000000)), odd), 13),
               small = wasm_i32x4_sub(wasm_f32x4_add(magnitude, all(0x3f000000)), all(0x3f000000)),
               quiet = wasm_v128_or(wasm_v128_and(wasm_u32x4_shr(magnitude, 13), all(0x3ff)), all(0x7e00));
  v128_t half = impl::choose(wasm_i32x4_lt(magnitude, all(0x38800000)), small, rounded);
  half = impl::choose(wasm_i32x4_lt(magnitude, all(0x477ff000)), half, all(0x7c00));
  half = impl::choose(wasm_i32x4_gt(magnitude, all(0x7f800000)), quiet, half);
  half = wasm_v128_or(half, wasm_v128_and(wasm_u32x4_shr(a.v, 16), all(0x8000)));
  wasm_v128_store64_lane(p, wasm_u16x8_narrow_i32x4(half, half), 0);
}

NSK_INLINE f32 add(f32 a, f32 b) { return {wasm_f32x4_add(a.v, b.v)}; }
NSK_INLINE f32 sub(f32 a, f32 b) { return {wasm_f32x4_sub(a.v, b.v)}; }
NSK_INLINE f32 mul(f32 a, f32 b) { return {wasm_f32x4_mul(a.v, b.v)}; }
NSK_INLINE f32 div(f32 a, f32 b) { return {wasm_f32x4_div(a.v, b.v)}; }
NSK_INLINE f32 fma(f32 a, f32 b, f32 c) { return {impl::multiply_add(a.v, b.v, c.v)}; }
NSK_INLINE f32 neg_fma(f32 a, f32 b, f32 c) { return {impl::multiply_subtract(a.v, b.v, c.v)}; }
/// `pmax(b, a)` is `b < a ? a : b`, `pmin(b, a)` is `a < b ? a : b`; min and max treat NaN and zeros otherwise.
NSK_INLINE f32 max(f32 a, f32 b) { return {wasm_f32x4_pmax(b.v, a.v)}; }
NSK_INLINE f32 min(f32 a, f32 b) { return {wasm_f32x4_pmin(b.v, a.v)}; }
NSK_INLINE f32 neg(f32 a) { return {wasm_f32x4_neg(a.v)}; }
NSK_INLINE f32 abs(f32 a) { return {wasm_f32x4_abs(a.v)}; }
NSK_INLINE f32 sqrt(f32 a) { return {wasm_f32x4_sqrt(a.v)}; }
NSK_INLINE f32 round_even(f32 a) { return {wasm_f32x4_nearest(a.v)}; }
NSK_INLINE f32 floor(f32 a) { return {wasm_f32x4_floor(a.v)}; }
NSK_INLINE f32 ceil(f32 a) { return {wasm_f32x4_ceil(a.v)}; }
NSK_INLINE f32 trunc(f32 a) { return {wasm_f32x4_trunc(a.v)}; }

NSK_INLINE mask less(f32 a, f32 b) { return {wasm_f32x4_lt(a.v, b.v)}; }
NSK_INLINE mask less_equal(f32 a, f32 b) { return {wasm_f32x4_le(a.v, b.v)}; }
NSK_INLINE mask equal(f32 a, f32 b) { return {wasm_f32x4_eq(a.v, b.v)}; }
NSK_INLINE mask equal(i32 a, i32 b) { return {wasm_i32x4_eq(a.v, b.v)}; }
NSK_INLINE mask less(i32 a, i32 b) { return {wasm_i32x4_lt(a.v, b.v)}; }
NSK_INLINE mask logical_and(mask a, mask b) { return {wasm_v128_and(a.v, b.v)}; }
NSK_INLINE mask logical_or(mask a, mask b) { return {wasm_v128_or(a.v, b.v)}; }
NSK_INLINE mask logical_not(mask a) { return {wasm_v128_not(a.v)}; }
NSK_INLINE bool any(mask a) { return wasm_v128_any_true(a.v); }
NSK_INLINE f32 select(mask m, f32 a, f32 b) { return {impl::choose(m.v, a.v, b.v)}; }
NSK_INLINE i32 select(mask m, i32 a, i32 b) { return {impl::choose(m.v, a.v, b.v)}; }

NSK_INLINE i32 load_i32(const std::int32_t* p) { return {wasm_v128_load(p)}; }
NSK_INLINE i32 splat_i32(std::int32_t x) { return {wasm_i32x4_splat(x)}; }
NSK_INLINE void store_i32(std::int32_t* p, i32 a) { wasm_v128_store(p, a.v); }
NSK_INLINE i32 add(i32 a, i32 b) { return {wasm_i32x4_add(a.v, b.v)}; }
NSK_INLINE i32 sub(i32 a, i32 b) { return {wasm_i32x4_sub(a.v, b.v)}; }
NSK_INLINE i32 bit_and(i32 a, i32 b) { return {wasm_v128_and(a.v, b.v)}; }
NSK_INLINE i32 bit_or(i32 a, i32 b) { return {wasm_v128_or(a.v, b.v)}; }
NSK_INLINE i32 bit_xor(i32 a, i32 b) { return {wasm_v128_xor(a.v, b.v)}; }
template <int N>
NSK_INLINE i32 shift_left(i32 a) {
  return {wasm_i32x4_shl(a.v, N)};
}
template <int N>
NSK_INLINE i32 shift_right(i32 a) {
  return {wasm_i32x4_shr(a.v, N)};
}
template <int N>
NSK_INLINE i32 shift_right_logical(i32 a) {
  return {wasm_u32x4_shr(a.v, N)};
}
NSK_INLINE i32 as_i32(f32 a) { return {a.v}; }
NSK_INLINE f32 as_f32(i32 a) { return {a.v}; }
NSK_INLINE f32 to_f32(i32 a) { return {wasm_f32x4_convert_i32x4(a.v)}; }
NSK_INLINE i32 to_i32(f32 a) {
  const f32 low = splat(-2147483648.0f), high = splat(2147483520.0f);
  return {impl::integers(round_even(min(max(a, low), high)).v)};
}

namespace impl {
/// Folds all lanes by halves: lane i with lane i + 2, then i + 1.
template <class Op>
NSK_INLINE float fold(f32 a, Op op) {
  a = op(a, f32{wasm_i32x4_shuffle(a.v, a.v, 2, 3, 0, 1)});
  a = op(a, f32{wasm_i32x4_shuffle(a.v, a.v, 1, 2, 3, 0)});
  return wasm_f32x4_extract_lane(a.v, 0);
}
}
NSK_INLINE float reduce_add(f32 a) {
  return impl::fold(a, [](f32 x, f32 y) NSK_INLINE_LAMBDA { return add(x, y); });
}
NSK_INLINE float reduce_max(f32 a) {
  return impl::fold(a, [](f32 x, f32 y) NSK_INLINE_LAMBDA { return max(x, y); });
}
NSK_INLINE float reduce_min(f32 a) {
  return impl::fold(a, [](f32 x, f32 y) NSK_INLINE_LAMBDA { return min(x, y); });
}
NSK_INLINE float reduce_mul(f32 a) {
  return impl::fold(a, [](f32 x, f32 y) NSK_INLINE_LAMBDA { return mul(x, y); });
}
NSK_INLINE void zip(f32 a, f32 b, f32 (&out)[2]) {
  out[0].v = wasm_i32x4_shuffle(a.v, b.v, 0, 4, 1, 5);
  out[1].v = wasm_i32x4_shuffle(a.v, b.v, 2, 6, 3, 7);
}
/// Transposes a square of registers: lane c of row r becomes lane r of row c.
NSK_INLINE void transpose(f32 (&row)[4]) {
  f32 even[2], odd[2];
  zip(row[0], row[2], even);
  zip(row[1], row[3], odd);
  f32 top[2], low[2];
  zip(even[0], odd[0], top);
  zip(even[1], odd[1], low);
  row[0] = top[0], row[1] = top[1], row[2] = low[0], row[3] = low[1];
}
template <int Size, int I>
NSK_INLINE f32 spread(f32 a) {
  static_assert(Size == 2, "groups of 4 are whole registers");
  return {wasm_i32x4_shuffle(a.v, a.v, I, I, 2 + I, 2 + I)};
}
NSK_INLINE void store_zipped(float* p, f32 a, f32 b, f32 c) {
  const v128_t ab = wasm_i32x4_shuffle(a.v, b.v, 0, 4, 1, 5), ca = wasm_i32x4_shuffle(c.v, a.v, 0, 5, 2, 7),
               bc = wasm_i32x4_shuffle(b.v, c.v, 1, 5, 2, 6), ab_high = wasm_i32x4_shuffle(a.v, b.v, 2, 6, 3, 7);
  wasm_v128_store(p, wasm_i32x4_shuffle(ab, ca, 0, 1, 4, 5));
  wasm_v128_store(p + 4, wasm_i32x4_shuffle(bc, ab_high, 0, 1, 4, 5));
  wasm_v128_store(p + 8, wasm_i32x4_shuffle(wasm_i32x4_shuffle(ca, ab_high, 2, 3, 7, 7), c.v, 0, 1, 2, 7));
}
NSK_INLINE void zip_bytes(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* to) {
  const v128_t x = wasm_v128_load(a), y = wasm_v128_load(b);
  wasm_v128_store(to, wasm_i8x16_shuffle(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  wasm_v128_store(to + 16, wasm_i8x16_shuffle(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
}
NSK_INLINE void prefetch(const void*) {}

NSK_INLINE i32 load_quads(const std::int8_t* p) { return {wasm_v128_load(p)}; }
NSK_INLINE i32 broadcast_quad(const std::uint8_t* p) { return {wasm_v128_load32_splat(p)}; }
/// Bytes 0 and 2 of each quad, then 1 and 3, as int16, of which an instruction adds up two products: exact.
NSK_INLINE i32 dot4(i32 sum, i32 a, i32 w) {
  const v128_t even_inputs = wasm_v128_and(a.v, wasm_i16x8_const_splat(255)), odd_inputs = wasm_u16x8_shr(a.v, 8),
               even_weights = wasm_i16x8_shr(wasm_i16x8_shl(w.v, 8), 8), odd_weights = wasm_i16x8_shr(w.v, 8),
               even = wasm_i32x4_dot_i16x8(even_inputs, even_weights),
               odd = wasm_i32x4_dot_i16x8(odd_inputs, odd_weights);
  return {wasm_i32x4_add(wasm_i32x4_add(sum.v, even), odd)};
}
NSK_INLINE i32 dot4_narrow(i32 sum, i32 a, i32 w) { return dot4(sum, a, w); }
NSK_INLINE i32 dot4_native(i32 sum, i32 a, i32 w) { return dot4(sum, a, w); }
NSK_INLINE i32 add_bytes(i32 sum, const std::uint8_t* p) {
  return {wasm_i32x4_add(sum.v, wasm_u32x4_extadd_pairwise_u16x8(wasm_u16x8_extadd_pairwise_u8x16(wasm_v128_load(p))))};
}
namespace impl {
NSK_INLINE v128_t stored_bytes(const f32 (&x)[4], u8_range to) {
  const auto pair = [&](int i) NSK_INLINE_LAMBDA {
    const v128_t both = wasm_i16x8_narrow_i32x4(integers(round_even(x[i]).v), integers(round_even(x[i + 1]).v));
    return wasm_i16x8_add_sat(both, wasm_i16x8_splat(to.zero));
  };
  const v128_t bytes = wasm_u8x16_narrow_i16x8(pair(0), pair(2));
  return wasm_u8x16_min(wasm_u8x16_max(bytes, wasm_u8x16_splat(to.low)), wasm_u8x16_splat(to.high));
}
}
NSK_INLINE void store16_u8(std::uint8_t* p, const f32 (&x)[4], u8_range to) {
  wasm_v128_store(p, impl::stored_bytes(x, to));
}

namespace impl {
NSK_INLINE void interleave(v128_t a, v128_t b, v128_t c, v128_t d, i32 (&quads)[4]) {
  const auto low = [](v128_t x, v128_t y) NSK_INLINE_LAMBDA {
    return wasm_i8x16_shuffle(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  };
  const auto high = [](v128_t x, v128_t y) NSK_INLINE_LAMBDA {
    return wasm_i8x16_shuffle(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  };
  const v128_t first[2] = {low(a, b), high(a, b)}, last[2] = {low(c, d), high(c, d)};
  for (int half = 0; half < 2; ++half) {
    quads[2 * half].v = wasm_i16x8_shuffle(first[half], last[half], 0, 8, 1, 9, 2, 10, 3, 11);
    quads[2 * half + 1].v = wasm_i16x8_shuffle(first[half], last[half], 4, 12, 5, 13, 6, 14, 7, 15);
  }
}
}
NSK_INLINE void interleave_quads(const std::uint8_t* const (&row)[4], i32 (&quads)[4]) {
  impl::interleave(wasm_v128_load(row[0]), wasm_v128_load(row[1]), wasm_v128_load(row[2]), wasm_v128_load(row[3]),
                   quads);
}
NSK_INLINE void interleave_quads(const std::uint8_t* const (&row)[4], const std::uint8_t* const (&other)[4],
                                 i32 (&quads)[4]) {
  const auto halves = [&](int i) NSK_INLINE_LAMBDA {
    return wasm_v128_load64_lane(other[i], wasm_v128_load64_zero(row[i]), 1);
  };
  impl::interleave(halves(0), halves(1), halves(2), halves(3), quads);
}
constexpr int place_of_channel(int channel) { return channel; }
NSK_INLINE void store_quads_u8(std::uint8_t* p, const f32 (&x)[4], u8_range to) { store16_u8(p, x, to); }

struct bytes {
  static constexpr int lanes = 16;
  v128_t v;
};
NSK_INLINE bytes splat_bytes(std::uint8_t x) { return {wasm_u8x16_splat(x)}; }
NSK_INLINE bytes load_bytes(const std::uint8_t* p) { return {wasm_v128_load(p)}; }
NSK_INLINE void store_bytes(std::uint8_t* p, bytes x) { wasm_v128_store(p, x.v); }
using packed_bytes = bytes;
inline constexpr int packed_vectors = 4;
NSK_INLINE void store_packed(std::uint8_t* p, bytes x) { store_bytes(p, x); }
NSK_INLINE bytes to_bytes(const f32 (&x)[4], u8_range to) { return {impl::stored_bytes(x, to)}; }
template <int Count, int First>
NSK_INLINE void store_part(std::uint8_t* p, bytes x) {
  if constexpr (Count == 16)
    wasm_v128_store(p, x.v);
  else
    wasm_v128_store64_lane(p, x.v, First / 8);
}
NSK_INLINE bytes max(bytes a, bytes b) { return {wasm_u8x16_max(a.v, b.v)}; }
inline void arrange_table(const std::uint8_t* entries, std::uint8_t* table) { std::memcpy(table, entries, 256); }
/// An index outside of a row of 16 gives 0.
NSK_INLINE bytes look_up(const std::uint8_t* table, bytes x) {
  v128_t result = wasm_u8x16_const_splat(0), index = x.v;
  for (int i = 0; i < 16; ++i) {
    result = wasm_v128_or(result, wasm_i8x16_swizzle(wasm_v128_load(table + 16 * i), index));
    index = wasm_i8x16_sub(index, wasm_i8x16_const_splat(16));
  }
  return {result};
}
NSK_INLINE f32 load_i8(const std::int8_t* p) {
  return {wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(p))))};
}
NSK_INLINE f32 load_u8(const std::uint8_t* p) {
  return {wasm_f32x4_convert_i32x4(wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(p))))};
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
