// SPDX-License-Identifier: MIT
#pragma once
/// The vocabulary of vec.hpp on AArch64's Advanced SIMD: every ARMv8-A processor has it.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/simd/isa.hpp>
#include <netsuke/simd/u8_range.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace simd {

struct f32 {
  static constexpr int lanes = 4;
  static constexpr int registers = 32;
  float32x4_t v;
};
struct i32 {
  static constexpr int lanes = 4;
  int32x4_t v;
};
struct mask {
  uint32x4_t v;
};

/// What kernels choose for this instruction set. Measured on its code: compilers load the inputs of
/// all rows first, so 5 rows of a panel of 16 and 3 of one of 24 spill nothing (docs/decisions/kernels.md).
struct tuning {
  static constexpr bool loads_inputs_first = true;  ///< compilers hold the inputs of all rows of a GEMM tile at once
  static constexpr bool keeps_order = false;        ///< compilers leave multiply-adds in the order of the source
  static constexpr int max_gemm_rows = 16;          ///< of a GEMM tile, whatever its registers allow
  static constexpr int max_narrow_rows = 8;         ///< the same for panels of 8 columns
  static constexpr int gemm_steps = 1;         ///< k between tests of a GEMM loop, which take ports of multiply-adds
  static constexpr int block_columns = 24;     ///< of results that wait for their functions, in whole registers
  static constexpr bool stores_parts = false;  ///< a register that is partly stored costs no more than a whole one
  static constexpr int lockstep_vectors = 4;   ///< of a long function (lockstep.hpp): as many as registers hold
};

struct f64 {
  static constexpr int lanes = 2;
  float64x2_t v;
};
NSK_INLINE f64 widen(const float* p) { return {vcvt_f64_f32(vld1_f32(p))}; }
NSK_INLINE f64 add(f64 a, f64 b) { return {vaddq_f64(a.v, b.v)}; }
NSK_INLINE f64 sub(f64 a, f64 b) { return {vsubq_f64(a.v, b.v)}; }
NSK_INLINE f64 scaled(f64 a, double factor) { return {vmulq_f64(a.v, vdupq_n_f64(factor))}; }
NSK_INLINE void store_narrowed(float* p, f64 a) { vst1_f32(p, vcvt_f32_f64(a.v)); }

NSK_INLINE f32 load(const float* p) { return {vld1q_f32(p)}; }
NSK_INLINE f32 load_partial(const float* p, int n) {
  float line[4] = {};
  for (int i = 0; i < 4; ++i)
    if (i < n) line[i] = p[i];
  return {vld1q_f32(line)};
}
NSK_INLINE f32 broadcast(const float* p) { return {vld1q_dup_f32(p)}; }
NSK_INLINE f32 splat(float x) { return {vdupq_n_f32(x)}; }
NSK_INLINE f32 zero() { return {vdupq_n_f32(0)}; }
NSK_INLINE void store(float* p, f32 a) { vst1q_f32(p, a.v); }
NSK_INLINE void store_partial(float* p, int n, f32 a) {
  float line[4];
  vst1q_f32(line, a.v);
  for (int i = 0; i < 4; ++i)
    if (i < n) p[i] = line[i];
}
NSK_INLINE f32 load_f16(const std::uint16_t* p) { return {vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)))}; }
NSK_INLINE void store_f16(std::uint16_t* p, f32 a) { vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(a.v))); }

NSK_INLINE f32 add(f32 a, f32 b) { return {vaddq_f32(a.v, b.v)}; }
NSK_INLINE f32 sub(f32 a, f32 b) { return {vsubq_f32(a.v, b.v)}; }
NSK_INLINE f32 mul(f32 a, f32 b) { return {vmulq_f32(a.v, b.v)}; }
NSK_INLINE f32 div(f32 a, f32 b) { return {vdivq_f32(a.v, b.v)}; }
NSK_INLINE f32 fma(f32 a, f32 b, f32 c) { return {vfmaq_f32(c.v, a.v, b.v)}; }
NSK_INLINE f32 neg_fma(f32 a, f32 b, f32 c) { return {vfmsq_f32(c.v, a.v, b.v)}; }
namespace impl {
/// Returns m, of which clang no longer knows that it is a comparison: of one with a constant and the choice behind it
/// it makes FMAXNM or FMINNM, which treat signalling NaN otherwise.
NSK_INLINE uint32x4_t kept(uint32x4_t m) {
#if defined(__clang__)
  __asm__("" : "+w"(m));
#endif
  return m;
}
}
/// Compared and selected: the instructions FMAX and FMIN treat NaN and zeros of both signs otherwise.
NSK_INLINE f32 max(f32 a, f32 b) { return {vbslq_f32(impl::kept(vcgtq_f32(a.v, b.v)), a.v, b.v)}; }
NSK_INLINE f32 min(f32 a, f32 b) { return {vbslq_f32(impl::kept(vcltq_f32(a.v, b.v)), a.v, b.v)}; }
/// Neither bound is NaN, the lower one is not -0, the upper one not a zero.
inline bool has_plain_bounds(float low, float high) {
  std::uint32_t a, b;
  std::memcpy(&a, &low, sizeof a);
  std::memcpy(&b, &high, sizeof b);
  constexpr std::uint32_t sign = 0x80000000, infinity = 0x7f800000;
  return (a & ~sign) <= infinity && a != sign && (b & ~sign) <= infinity && (b & ~sign) != 0;
}
/// FMAXNM and FMINNM give what comparing and selecting gives but for zeros of both signs, of which they order -0 below
/// +0, and signalling NaN, which they make quiet: a quiet NaN becomes the other operand. Between plain bounds the zeros
/// that meet are -0 and a lower bound of +0, which is the result either way.
NSK_INLINE f32 clamp_result(f32 x, f32 low, f32 high) { return {vminnmq_f32(vmaxnmq_f32(x.v, low.v), high.v)}; }
NSK_INLINE f32 neg(f32 a) { return {vnegq_f32(a.v)}; }
NSK_INLINE f32 abs(f32 a) { return {vabsq_f32(a.v)}; }
NSK_INLINE f32 sqrt(f32 a) { return {vsqrtq_f32(a.v)}; }
NSK_INLINE f32 round_even(f32 a) { return {vrndnq_f32(a.v)}; }
NSK_INLINE f32 floor(f32 a) { return {vrndmq_f32(a.v)}; }
NSK_INLINE f32 ceil(f32 a) { return {vrndpq_f32(a.v)}; }
NSK_INLINE f32 trunc(f32 a) { return {vrndq_f32(a.v)}; }

NSK_INLINE mask less(f32 a, f32 b) { return {vcltq_f32(a.v, b.v)}; }
NSK_INLINE mask less_equal(f32 a, f32 b) { return {vcleq_f32(a.v, b.v)}; }
NSK_INLINE mask equal(f32 a, f32 b) { return {vceqq_f32(a.v, b.v)}; }
NSK_INLINE mask equal(i32 a, i32 b) { return {vceqq_s32(a.v, b.v)}; }
NSK_INLINE mask less(i32 a, i32 b) { return {vcltq_s32(a.v, b.v)}; }
NSK_INLINE mask logical_and(mask a, mask b) { return {vandq_u32(a.v, b.v)}; }
NSK_INLINE mask logical_or(mask a, mask b) { return {vorrq_u32(a.v, b.v)}; }
NSK_INLINE mask logical_not(mask a) { return {vmvnq_u32(a.v)}; }
NSK_INLINE bool any(mask a) { return vmaxvq_u32(a.v) != 0; }
NSK_INLINE f32 select(mask m, f32 a, f32 b) { return {vbslq_f32(m.v, a.v, b.v)}; }
NSK_INLINE i32 select(mask m, i32 a, i32 b) { return {vbslq_s32(m.v, a.v, b.v)}; }

NSK_INLINE i32 load_i32(const std::int32_t* p) { return {vld1q_s32(p)}; }
NSK_INLINE i32 splat_i32(std::int32_t x) { return {vdupq_n_s32(x)}; }
NSK_INLINE void store_i32(std::int32_t* p, i32 a) { vst1q_s32(p, a.v); }
NSK_INLINE i32 add(i32 a, i32 b) { return {vaddq_s32(a.v, b.v)}; }
NSK_INLINE i32 sub(i32 a, i32 b) { return {vsubq_s32(a.v, b.v)}; }
NSK_INLINE i32 bit_and(i32 a, i32 b) { return {vandq_s32(a.v, b.v)}; }
NSK_INLINE i32 bit_or(i32 a, i32 b) { return {vorrq_s32(a.v, b.v)}; }
NSK_INLINE i32 bit_xor(i32 a, i32 b) { return {veorq_s32(a.v, b.v)}; }
template <int N>
NSK_INLINE i32 shift_left(i32 a) {
  return {vshlq_n_s32(a.v, N)};
}
template <int N>
NSK_INLINE i32 shift_right(i32 a) {
  if constexpr (N == 0)  // the instruction has no shift of 0
    return a;
  else
    return {vshrq_n_s32(a.v, N)};
}
template <int N>
NSK_INLINE i32 shift_right_logical(i32 a) {
  if constexpr (N == 0)
    return a;
  else
    return {vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(a.v), N))};
}
NSK_INLINE i32 as_i32(f32 a) { return {vreinterpretq_s32_f32(a.v)}; }
NSK_INLINE f32 as_f32(i32 a) { return {vreinterpretq_f32_s32(a.v)}; }
NSK_INLINE f32 to_f32(i32 a) { return {vcvtq_f32_s32(a.v)}; }
NSK_INLINE i32 to_i32(f32 a) {
  const f32 low = splat(-2147483648.0f), high = splat(2147483520.0f);
  return {vcvtnq_s32_f32(vminnmq_f32(max(a, low).v, high.v))};  // no NaN is left, and no zero meets another
}

namespace impl {
/// Folds all lanes by halves: lane i with lane i + 2, then i + 1.
template <class Op>
NSK_INLINE float fold(f32 a, Op op) {
  a = op(a, f32{vextq_f32(a.v, a.v, 2)});
  a = op(a, f32{vextq_f32(a.v, a.v, 1)});
  return vgetq_lane_f32(a.v, 0);
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
/// Transposes a square of registers: lane c of row r becomes lane r of row c.
NSK_INLINE void transpose(f32 (&row)[4]) {
  const auto pairs = [](float32x4_t x) NSK_INLINE_LAMBDA { return vreinterpretq_f64_f32(x); };
  const float64x2_t even_top = pairs(vtrn1q_f32(row[0].v, row[1].v)), odd_top = pairs(vtrn2q_f32(row[0].v, row[1].v));
  const float64x2_t even_low = pairs(vtrn1q_f32(row[2].v, row[3].v)), odd_low = pairs(vtrn2q_f32(row[2].v, row[3].v));
  row[0].v = vreinterpretq_f32_f64(vtrn1q_f64(even_top, even_low));
  row[1].v = vreinterpretq_f32_f64(vtrn1q_f64(odd_top, odd_low));
  row[2].v = vreinterpretq_f32_f64(vtrn2q_f64(even_top, even_low));
  row[3].v = vreinterpretq_f32_f64(vtrn2q_f64(odd_top, odd_low));
}
template <int Size, int I>
NSK_INLINE f32 spread(f32 a) {
  static_assert(Size == 2, "groups of 4 are whole registers");
  return {I == 0 ? vtrn1q_f32(a.v, a.v) : vtrn2q_f32(a.v, a.v)};
}
NSK_INLINE void zip(f32 a, f32 b, f32 (&out)[2]) {
  out[0].v = vzip1q_f32(a.v, b.v);
  out[1].v = vzip2q_f32(a.v, b.v);
}
NSK_INLINE void store_zipped(float* p, f32 a, f32 b, f32 c) {
  const float32x4x3_t all = {{a.v, b.v, c.v}};
  vst3q_f32(p, all);
}
NSK_INLINE void zip_bytes(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* to) {
  const uint8x16_t x = vld1q_u8(a), y = vld1q_u8(b);
  vst1q_u8(to, vzip1q_u8(x, y));
  vst1q_u8(to + 16, vzip2q_u8(x, y));
}
NSK_INLINE void prefetch(const void* p) {
#if defined(_MSC_VER) && !defined(__clang__)
  __prefetch(p);
#else
  __builtin_prefetch(p);
#endif
}

NSK_INLINE i32 load_quads(const std::int8_t* p) { return {vreinterpretq_s32_s8(vld1q_s8(p))}; }
/// NEON multiplies bytes of one kind: inputs are made signed by taking off 128.
inline constexpr bool dots_leave_out = true;
inline constexpr int max_widened_sums = 12;
NSK_INLINE i32 add_left_out(i32 sum, i32 w) {
  return {vaddq_s32(sum.v, vshlq_n_s32(vpaddlq_s16(vpaddlq_s8(vreinterpretq_s8_s32(w.v))), 7))};
}
/// Inputs of dot products, less 128.
struct signed_quads {
  int8x16_t v;
};
NSK_INLINE signed_quads less_128(i32 a) { return {vreinterpretq_s8_s32(veorq_s32(a.v, vdupq_n_s32(-2139062144)))}; }
/// The 128 is taken off in a general register, and clang kept from doing it in a vector: the ports of dot products are
/// what tiles wait for.
NSK_INLINE signed_quads broadcast_quad(const std::uint8_t* p) {
  std::uint32_t x;
  std::memcpy(&x, p, sizeof x);
  x ^= 0x80808080;
#if defined(__clang__)
  __asm__("" : "+r"(x));
#endif
  return {vreinterpretq_s8_u32(vdupq_n_u32(x))};
}
NSK_INLINE i32 dot4(i32 sum, signed_quads a, i32 w) {
  const int8x16_t weights = vreinterpretq_s8_s32(w.v);
  const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(a.v), vget_low_s8(weights))),
                  high = vpaddlq_s16(vmull_high_s8(a.v, weights));
  return {vaddq_s32(sum.v, vpaddq_s32(low, high))};
}
/// Two products of neighbours are an int16: at most 128 * (127 + 128), where the signs of the weights differ.
NSK_INLINE i32 dot4_narrow(i32 sum, signed_quads a, i32 w) {
  const int8x16_t weights = vreinterpretq_s8_s32(w.v);
  const int16x8_t low = vmull_s8(vget_low_s8(a.v), vget_low_s8(weights)), high = vmull_high_s8(a.v, weights);
  return {vpadalq_s16(sum.v, vpaddq_s16(low, high))};
}
/// Visual C++ has the intrinsic for every target. That of others would want a target of its own for all its callers,
/// and assemblers want one for the name: this is the instruction's encoding (Arm Architecture Reference Manual, SDOT by
/// vector), its registers known by their names.
NSK_INLINE i32 dot4_native(i32 sum, signed_quads a, i32 w) {
  const int8x16_t weights = vreinterpretq_s8_s32(w.v);
#if defined(__ARM_FEATURE_DOTPROD) || (defined(_MSC_VER) && !defined(__clang__))
  return {vdotq_s32(sum.v, a.v, weights)};
#else
  __asm__(
      ".irp reg,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
      ".equ nsk_v\\reg, \\reg\n\t.endr\n\t"
      ".inst 0x4e809400 | (nsk_%2 << 16) | (nsk_%1 << 5) | nsk_%0"
      : "+w"(sum.v)
      : "w"(a.v), "w"(weights));
  return sum;
#endif
}
NSK_INLINE i32 dot4(i32 sum, i32 a, i32 w) { return dot4(sum, less_128(a), w); }
NSK_INLINE i32 dot4_narrow(i32 sum, i32 a, i32 w) { return dot4_narrow(sum, less_128(a), w); }
NSK_INLINE i32 dot4_native(i32 sum, i32 a, i32 w) { return dot4_native(sum, less_128(a), w); }
NSK_INLINE i32 add_bytes(i32 sum, const std::uint8_t* p) {
  return {vaddq_s32(sum.v, vreinterpretq_s32_u32(vpaddlq_u16(vpaddlq_u8(vld1q_u8(p)))))};
}
namespace impl {
NSK_INLINE uint8x16_t stored_bytes(const f32 (&x)[4], u8_range to) {
  const int16x8_t zero = vdupq_n_s16(to.zero);
  const int16x8_t low = vcombine_s16(vqmovn_s32(vcvtnq_s32_f32(x[0].v)), vqmovn_s32(vcvtnq_s32_f32(x[1].v))),
                  high = vcombine_s16(vqmovn_s32(vcvtnq_s32_f32(x[2].v)), vqmovn_s32(vcvtnq_s32_f32(x[3].v)));
  const uint8x16_t bytes = vcombine_u8(vqmovun_s16(vqaddq_s16(low, zero)), vqmovun_s16(vqaddq_s16(high, zero)));
  return vminq_u8(vmaxq_u8(bytes, vdupq_n_u8(to.low)), vdupq_n_u8(to.high));
}
}
NSK_INLINE void store16_u8(std::uint8_t* p, const f32 (&x)[4], u8_range to) { vst1q_u8(p, impl::stored_bytes(x, to)); }

namespace impl {
NSK_INLINE void interleave(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d, i32 (&quads)[4]) {
  const uint8x16x2_t first = vzipq_u8(a, b), last = vzipq_u8(c, d);
  for (int half = 0; half < 2; ++half) {
    const uint16x8x2_t both = vzipq_u16(vreinterpretq_u16_u8(first.val[half]), vreinterpretq_u16_u8(last.val[half]));
    quads[2 * half].v = vreinterpretq_s32_u16(both.val[0]);
    quads[2 * half + 1].v = vreinterpretq_s32_u16(both.val[1]);
  }
}
}
NSK_INLINE void interleave_quads(const std::uint8_t* const (&row)[4], i32 (&quads)[4]) {
  impl::interleave(vld1q_u8(row[0]), vld1q_u8(row[1]), vld1q_u8(row[2]), vld1q_u8(row[3]), quads);
}
NSK_INLINE void interleave_quads(const std::uint8_t* const (&row)[4], const std::uint8_t* const (&other)[4],
                                 i32 (&quads)[4]) {
  const auto halves = [&](int i) NSK_INLINE_LAMBDA { return vcombine_u8(vld1_u8(row[i]), vld1_u8(other[i])); };
  impl::interleave(halves(0), halves(1), halves(2), halves(3), quads);
}
constexpr int place_of_channel(int channel) { return channel; }
NSK_INLINE void store_quads_u8(std::uint8_t* p, const f32 (&x)[4], u8_range to) { store16_u8(p, x, to); }

struct bytes {
  static constexpr int lanes = 16;
  uint8x16_t v;
};
NSK_INLINE bytes splat_bytes(std::uint8_t x) { return {vdupq_n_u8(x)}; }
NSK_INLINE bytes load_bytes(const std::uint8_t* p) { return {vld1q_u8(p)}; }
NSK_INLINE void store_bytes(std::uint8_t* p, bytes x) { vst1q_u8(p, x.v); }
using packed_bytes = bytes;
inline constexpr int packed_vectors = 4;
NSK_INLINE void store_packed(std::uint8_t* p, bytes x) { store_bytes(p, x); }
NSK_INLINE bytes to_bytes(const f32 (&x)[4], u8_range to) { return {impl::stored_bytes(x, to)}; }
template <int Count, int First>
NSK_INLINE void store_part(std::uint8_t* p, bytes x) {
  if constexpr (Count == 16)
    vst1q_u8(p, x.v);
  else
    vst1_u8(p, First == 0 ? vget_low_u8(x.v) : vget_high_u8(x.v));
}
NSK_INLINE bytes max(bytes a, bytes b) { return {vmaxq_u8(a.v, b.v)}; }
inline void arrange_table(const std::uint8_t* entries, std::uint8_t* table) { std::memcpy(table, entries, 256); }
/// An index outside of a quarter gives 0.
NSK_INLINE bytes look_up(const std::uint8_t* table, bytes x) {
  uint8x16_t result = vdupq_n_u8(0), index = x.v;
  for (int i = 0; i < 4; ++i) {
    const uint8x16x4_t quarter = {{vld1q_u8(table + 64 * i), vld1q_u8(table + 64 * i + 16),
                                   vld1q_u8(table + 64 * i + 32), vld1q_u8(table + 64 * i + 48)}};
    result = vorrq_u8(result, vqtbl4q_u8(quarter, index));
    index = vsubq_u8(index, vdupq_n_u8(64));
  }
  return {result};
}
NSK_INLINE f32 load_i8(const std::int8_t* p) {
  std::uint32_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  const int16x8_t wide = vmovl_s8(vreinterpret_s8_u64(vcreate_u64(bytes)));
  return {vcvtq_f32_s32(vmovl_s16(vget_low_s16(wide)))};
}
NSK_INLINE f32 load_u8(const std::uint8_t* p) {
  std::uint32_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  const uint16x8_t wide = vmovl_u8(vcreate_u8(bytes));
  return {vcvtq_f32_u32(vmovl_u16(vget_low_u16(wide)))};
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
