// SPDX-License-Identifier: MIT
#pragma once
/// The vocabulary of vec.hpp on AVX-512 (F, VL, BW, DQ): every server and client processor that has AVX-512 at all has
/// these four, except Xeon Phi.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/simd/isa.hpp>
#include <netsuke/simd/u8_range.hpp>
#include <netsuke/simd/x86_doubles.hpp>
#include <netsuke/simd/x86_tables.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace simd {

struct f32 {
  static constexpr int lanes = 16;
  static constexpr int registers = 32;
  __m512 v;
};
struct i32 {
  static constexpr int lanes = 16;
  __m512i v;
};
struct mask {
  __mmask16 v;
};

/// What kernels choose for this instruction set. Measured: from eleven rows on pointers to rows and
/// bounds of loops are spilled, ten rows of one or two registers spill none (docs/decisions/kernels.md). Masks make
/// parts of registers as cheap as whole ones.
struct tuning {
  static constexpr bool loads_inputs_first = false;  ///< compilers hold the inputs of all rows of a GEMM tile at once
  static constexpr bool keeps_order = false;         ///< compilers leave multiply-adds in the order of the source
  static constexpr int max_gemm_rows = 10;           ///< of a GEMM tile, whatever its registers allow
  static constexpr int max_narrow_rows = 12;         ///< the same for panels of 8 columns
  static constexpr int gemm_steps = 2;        ///< k between tests of a GEMM loop, which take ports of multiply-adds
  static constexpr int block_columns = 32;    ///< of results that wait for their functions, in whole registers
  static constexpr bool stores_parts = true;  ///< a register that is partly stored costs no more than a whole one
  static constexpr int lockstep_vectors = 4;  ///< of a long function (lockstep.hpp): as many as registers hold
};

namespace impl {
/// Every lane. Where g++'s unmasked intrinsics start from an undefined register, it warns of that register after
/// inlining: the masked ones start from zeros, and give the same instructions.
inline constexpr __mmask16 all = 0xffff;
/// The first n lanes, 0 <= n <= 16.
NSK_INLINE __mmask16 first(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
/// The first 8 lanes.
NSK_INLINE __m256 low(f32 a) { return _mm512_maskz_extractf32x8_ps(0xff, a.v, 0); }
}

NSK_INLINE f32 load(const float* p) { return {_mm512_loadu_ps(p)}; }
NSK_INLINE f32 load_partial(const float* p, int n) { return {_mm512_maskz_loadu_ps(impl::first(n), p)}; }
NSK_INLINE f32 broadcast(const float* p) { return {_mm512_set1_ps(*p)}; }
NSK_INLINE f32 splat(float x) { return {_mm512_set1_ps(x)}; }
NSK_INLINE f32 zero() { return {_mm512_setzero_ps()}; }
NSK_INLINE void store(float* p, f32 a) { _mm512_storeu_ps(p, a.v); }
NSK_INLINE void store_partial(float* p, int n, f32 a) { _mm512_mask_storeu_ps(p, impl::first(n), a.v); }
NSK_INLINE f32 load_f16(const std::uint16_t* p) {
  return {_mm512_maskz_cvtph_ps(impl::all, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
NSK_INLINE void store_f16(std::uint16_t* p, f32 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_maskz_cvtps_ph(impl::all, a.v, _MM_FROUND_TO_NEAREST_INT));
}

NSK_INLINE f32 add(f32 a, f32 b) { return {_mm512_add_ps(a.v, b.v)}; }
NSK_INLINE f32 sub(f32 a, f32 b) { return {_mm512_sub_ps(a.v, b.v)}; }
NSK_INLINE f32 mul(f32 a, f32 b) { return {_mm512_mul_ps(a.v, b.v)}; }
NSK_INLINE f32 div(f32 a, f32 b) { return {_mm512_div_ps(a.v, b.v)}; }
NSK_INLINE f32 fma(f32 a, f32 b, f32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
NSK_INLINE f32 neg_fma(f32 a, f32 b, f32 c) { return {_mm512_fnmadd_ps(a.v, b.v, c.v)}; }
NSK_INLINE f32 load_low(const float* p) { return {_mm512_castps256_ps512(_mm256_loadu_ps(p))}; }
/// As an integer: on a Zen 4 the instruction for floats delays the multiply-adds of 256 bits
/// (docs/decisions/kernels.md).
NSK_INLINE f32 broadcast_low(const float* p) {
  std::int32_t bits;
  std::memcpy(&bits, p, sizeof(bits));
  return {_mm512_castsi512_ps(_mm512_set1_epi32(bits))};
}
NSK_INLINE void store_partial_low(float* p, int n, f32 a) {
  _mm256_mask_storeu_ps(p, static_cast<__mmask8>(impl::first(n)), impl::low(a));
}
NSK_INLINE f32 load_f16_low(const std::uint16_t* p) {
  return {_mm512_castps256_ps512(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}
NSK_INLINE f32 fma_low(f32 a, f32 b, f32 c) {
  return {_mm512_castps256_ps512(_mm256_fmadd_ps(impl::low(a), impl::low(b), impl::low(c)))};
}
NSK_INLINE f32 max(f32 a, f32 b) { return {_mm512_maskz_max_ps(impl::all, a.v, b.v)}; }
NSK_INLINE f32 min(f32 a, f32 b) { return {_mm512_maskz_min_ps(impl::all, a.v, b.v)}; }
NSK_INLINE f32 neg(f32 a) { return {_mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f))}; }
NSK_INLINE f32 abs(f32 a) { return {_mm512_andnot_ps(_mm512_set1_ps(-0.0f), a.v)}; }
NSK_INLINE f32 sqrt(f32 a) { return {_mm512_maskz_sqrt_ps(impl::all, a.v)}; }
NSK_INLINE f32 round_even(f32 a) {
  return {_mm512_maskz_roundscale_ps(impl::all, a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
NSK_INLINE f32 floor(f32 a) {
  return {_mm512_maskz_roundscale_ps(impl::all, a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}
NSK_INLINE f32 ceil(f32 a) {
  return {_mm512_maskz_roundscale_ps(impl::all, a.v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)};
}
NSK_INLINE f32 trunc(f32 a) {
  return {_mm512_maskz_roundscale_ps(impl::all, a.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)};
}

NSK_INLINE mask less(f32 a, f32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
NSK_INLINE mask less_equal(f32 a, f32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)}; }
NSK_INLINE mask equal(f32 a, f32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)}; }
NSK_INLINE mask equal(i32 a, i32 b) { return {_mm512_cmpeq_epi32_mask(a.v, b.v)}; }
NSK_INLINE mask less(i32 a, i32 b) { return {_mm512_cmplt_epi32_mask(a.v, b.v)}; }
NSK_INLINE mask logical_and(mask a, mask b) { return {static_cast<__mmask16>(a.v & b.v)}; }
NSK_INLINE mask logical_or(mask a, mask b) { return {static_cast<__mmask16>(a.v | b.v)}; }
NSK_INLINE mask logical_not(mask a) { return {static_cast<__mmask16>(~a.v)}; }
NSK_INLINE bool any(mask a) { return a.v != 0; }
NSK_INLINE f32 select(mask m, f32 a, f32 b) { return {_mm512_mask_blend_ps(m.v, b.v, a.v)}; }
NSK_INLINE i32 select(mask m, i32 a, i32 b) { return {_mm512_mask_blend_epi32(m.v, b.v, a.v)}; }

NSK_INLINE i32 load_i32(const std::int32_t* p) { return {_mm512_loadu_si512(p)}; }
NSK_INLINE i32 splat_i32(std::int32_t x) { return {_mm512_set1_epi32(x)}; }
NSK_INLINE void store_i32(std::int32_t* p, i32 a) { _mm512_storeu_si512(p, a.v); }
NSK_INLINE i32 add(i32 a, i32 b) { return {_mm512_add_epi32(a.v, b.v)}; }
NSK_INLINE i32 sub(i32 a, i32 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
NSK_INLINE i32 bit_and(i32 a, i32 b) { return {_mm512_and_si512(a.v, b.v)}; }
NSK_INLINE i32 bit_or(i32 a, i32 b) { return {_mm512_or_si512(a.v, b.v)}; }
NSK_INLINE i32 bit_xor(i32 a, i32 b) { return {_mm512_xor_si512(a.v, b.v)}; }
template <int N>
NSK_INLINE i32 shift_left(i32 a) {
  return {_mm512_maskz_slli_epi32(impl::all, a.v, N)};
}
template <int N>
NSK_INLINE i32 shift_right(i32 a) {
  return {_mm512_maskz_srai_epi32(impl::all, a.v, N)};
}
template <int N>
NSK_INLINE i32 shift_right_logical(i32 a) {
  return {_mm512_maskz_srli_epi32(impl::all, a.v, N)};
}
NSK_INLINE i32 as_i32(f32 a) { return {_mm512_castps_si512(a.v)}; }
NSK_INLINE f32 as_f32(i32 a) { return {_mm512_castsi512_ps(a.v)}; }
NSK_INLINE f32 to_f32(i32 a) { return {_mm512_maskz_cvtepi32_ps(impl::all, a.v)}; }
NSK_INLINE i32 to_i32(f32 a) {
  const f32 low = splat(-2147483648.0f), high = splat(2147483520.0f);
  return {_mm512_maskz_cvtps_epi32(impl::all, min(max(a, low), high).v)};
}

namespace impl {
/// Folds all lanes by halves: lane i with lane i + 8, then i + 4, i + 2, i + 1.
template <class Op>
NSK_INLINE float fold(f32 a, Op op) {
  a = op(a, f32{_mm512_maskz_shuffle_f32x4(impl::all, a.v, a.v, 0x4e)});
  a = op(a, f32{_mm512_maskz_shuffle_f32x4(impl::all, a.v, a.v, 0xb1)});
  a = op(a, f32{_mm512_shuffle_ps(a.v, a.v, 0x4e)});
  a = op(a, f32{_mm512_shuffle_ps(a.v, a.v, 0xb1)});
  return _mm512_cvtss_f32(a.v);
}
/// Transposes a square of four by four parts of four floats: part c of x[r] becomes part r of x[c].
NSK_INLINE void transpose_parts(__m512& x0, __m512& x1, __m512& x2, __m512& x3) {
  const __m512 top = _mm512_maskz_shuffle_f32x4(impl::all, x0, x1, 0x44),
               top_right = _mm512_maskz_shuffle_f32x4(impl::all, x0, x1, 0xee);
  const __m512 low = _mm512_maskz_shuffle_f32x4(impl::all, x2, x3, 0x44),
               low_right = _mm512_maskz_shuffle_f32x4(impl::all, x2, x3, 0xee);
  x0 = _mm512_maskz_shuffle_f32x4(impl::all, top, low, 0x88);
  x1 = _mm512_maskz_shuffle_f32x4(impl::all, top, low, 0xdd);
  x2 = _mm512_maskz_shuffle_f32x4(impl::all, top_right, low_right, 0x88);
  x3 = _mm512_maskz_shuffle_f32x4(impl::all, top_right, low_right, 0xdd);
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
NSK_INLINE void transpose(f32 (&row)[16]) {
  __m512 pair[16], four[16];
  for (int i = 0; i < 8; ++i) {
    pair[2 * i] = _mm512_maskz_unpacklo_ps(impl::all, row[2 * i].v, row[2 * i + 1].v);
    pair[2 * i + 1] = _mm512_maskz_unpackhi_ps(impl::all, row[2 * i].v, row[2 * i + 1].v);
  }
  for (int i = 0; i < 16; i += 4)
    for (int k = 0; k < 2; ++k) {
      four[i + 2 * k] = _mm512_shuffle_ps(pair[i + k], pair[i + k + 2], 0x44);
      four[i + 2 * k + 1] = _mm512_shuffle_ps(pair[i + k], pair[i + k + 2], 0xee);
    }
  for (int c = 0; c < 4; ++c) {
    impl::transpose_parts(four[c], four[c + 4], four[c + 8], four[c + 12]);
    for (int part = 0; part < 4; ++part) row[c + 4 * part].v = four[c + 4 * part];
  }
}
template <int Size, int I>
NSK_INLINE f32 spread(f32 a) {
  if constexpr (Size == 8) {
    const __m512i lanes =
        _mm512_setr_epi32(I, I, I, I, I, I, I, I, I + 8, I + 8, I + 8, I + 8, I + 8, I + 8, I + 8, I + 8);
    return {_mm512_maskz_permutexvar_ps(impl::all, lanes, a.v)};
  } else {
    return {_mm512_maskz_permute_ps(impl::all, a.v, Size == 4 ? I * 0x55 : 0xa0 + I * 0x55)};
  }
}
NSK_INLINE void zip(f32 a, f32 b, f32 (&out)[2]) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  out[0].v = _mm512_permutex2var_ps(a.v, low, b.v);
  out[1].v = _mm512_permutex2var_ps(a.v, high, b.v);
}
NSK_INLINE void store_zipped(float* p, f32 a, f32 b, f32 c) {
  // element j of the input with number i belongs to lane (3 * j + i) mod 16 of one of the results
  const f32 x{_mm512_maskz_permutexvar_ps(
      impl::all, _mm512_setr_epi32(0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5), a.v)};
  const f32 y{_mm512_maskz_permutexvar_ps(
      impl::all, _mm512_setr_epi32(5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10), b.v)};
  const f32 z{_mm512_maskz_permutexvar_ps(
      impl::all, _mm512_setr_epi32(10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15), c.v)};
  const mask of_0{0x9249}, of_1{0x2492}, of_2{0x4924};  // lanes by their rest modulo 3
  store(p, select(of_2, z, select(of_1, y, x)));
  store(p + 16, select(of_1, z, select(of_0, y, x)));
  store(p + 32, select(of_0, z, select(of_2, y, x)));
}
NSK_INLINE void zip_bytes(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* to) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a)),
                y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi8(x, y));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16), _mm_unpackhi_epi8(x, y));
}
NSK_INLINE void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

NSK_INLINE i32 load_quads(const std::int8_t* p) { return {_mm512_loadu_si512(p)}; }
NSK_INLINE i32 broadcast_quad(const std::uint8_t* p) {
  std::int32_t x;
  std::memcpy(&x, p, sizeof x);
  return {_mm512_set1_epi32(x)};
}
NSK_INLINE i32 dot4(i32 sum, i32 a, i32 w) {
  const __m512i a_even = _mm512_and_si512(a.v, _mm512_set1_epi16(255)), a_odd = _mm512_srli_epi16(a.v, 8),
                w_even = _mm512_srai_epi16(_mm512_slli_epi16(w.v, 8), 8), w_odd = _mm512_srai_epi16(w.v, 8);
  const __m512i even = _mm512_add_epi32(sum.v, _mm512_madd_epi16(a_even, w_even));
  return {_mm512_add_epi32(even, _mm512_madd_epi16(a_odd, w_odd))};
}
NSK_INLINE i32 dot4_narrow(i32 sum, i32 a, i32 w) {
  const __m512i pairs = _mm512_maddubs_epi16(a.v, w.v);
  return {_mm512_add_epi32(sum.v, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))};
}
NSK_INLINE i32 dot4_native(i32 sum, i32 a, i32 w) {
#if (defined(__GNUC__) || defined(__clang__)) && !defined(__m512)  // the intrinsic wants a target of its own
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum.v) : "v"(a.v), "v"(w.v));
  return sum;
#else
  return {_mm512_dpbusd_epi32(sum.v, a.v, w.v)};
#endif
}
NSK_INLINE i32 add_bytes(i32 sum, const std::uint8_t* p) {
  return {_mm512_add_epi32(sum.v, _mm512_sad_epu8(_mm512_loadu_si512(p), _mm512_setzero_si512()))};
}
NSK_INLINE void store16_u8(std::uint8_t* p, const f32 (&x)[1], u8_range to) {
  const __m256i words = _mm512_maskz_cvtsepi32_epi16(impl::all, _mm512_maskz_cvtps_epi32(impl::all, x[0].v));
  const __m256i moved = _mm256_adds_epi16(words, _mm256_set1_epi16(to.zero));
  const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(moved), _mm256_extracti128_si256(moved, 1));
  const __m128i low = _mm_set1_epi8(static_cast<char>(to.low)), high = _mm_set1_epi8(static_cast<char>(to.high));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_min_epu8(_mm_max_epu8(bytes, low), high));
}

namespace impl {
/// The instructions take 16 bytes of each row at a time: lanes 4 i to 4 i + 3 have channels of the i-th 16 bytes.
NSK_INLINE void interleave(__m512i a, __m512i b, __m512i c, __m512i d, i32 (&quads)[4]) {
  const __m512i low = _mm512_unpacklo_epi8(a, b), high = _mm512_unpackhi_epi8(a, b),
                low_last = _mm512_unpacklo_epi8(c, d), high_last = _mm512_unpackhi_epi8(c, d);
  quads[0].v = _mm512_unpacklo_epi16(low, low_last);
  quads[1].v = _mm512_unpackhi_epi16(low, low_last);
  quads[2].v = _mm512_unpacklo_epi16(high, high_last);
  quads[3].v = _mm512_unpackhi_epi16(high, high_last);
}
}
NSK_INLINE void interleave_quads(const std::uint8_t* const (&row)[4], i32 (&quads)[4]) {
  impl::interleave(_mm512_loadu_si512(row[0]), _mm512_loadu_si512(row[1]), _mm512_loadu_si512(row[2]),
                   _mm512_loadu_si512(row[3]), quads);
}
NSK_INLINE void interleave_quads(const std::uint8_t* const (&row)[4], const std::uint8_t* const (&other)[4],
                                 i32 (&quads)[4]) {
  const auto halves = [&](int i) NSK_INLINE_LAMBDA {
    return _mm512_maskz_inserti64x4(
        255, _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row[i]))),
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(other[i])), 1);
  };
  impl::interleave(halves(0), halves(1), halves(2), halves(3), quads);
}
constexpr int place_of_channel(int channel) { return channel / 4 % 4 * i32::lanes + channel / 16 * 4 + channel % 4; }
namespace impl {
NSK_INLINE __m512i interleaved_bytes(const f32 (&x)[4], u8_range to) {
  const __m512i zero = _mm512_set1_epi16(to.zero);
  const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(_mm512_maskz_cvtps_epi32(impl::all, x[0].v),
                                                           _mm512_maskz_cvtps_epi32(impl::all, x[1].v)),
                                        zero),
                high = _mm512_adds_epi16(_mm512_packs_epi32(_mm512_maskz_cvtps_epi32(impl::all, x[2].v),
                                                            _mm512_maskz_cvtps_epi32(impl::all, x[3].v)),
                                         zero);
  const __m512i min_byte = _mm512_set1_epi8(static_cast<char>(to.low)),
                max_byte = _mm512_set1_epi8(static_cast<char>(to.high));
  return _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(low, high), min_byte), max_byte);
}
}
NSK_INLINE void store_quads_u8(std::uint8_t* p, const f32 (&x)[4], u8_range to) {
  _mm512_storeu_si512(p, impl::interleaved_bytes(x, to));
}

struct bytes {
  static constexpr int lanes = 64;
  __m512i v;
};
NSK_INLINE bytes splat_bytes(std::uint8_t x) { return {_mm512_set1_epi8(static_cast<char>(x))}; }
NSK_INLINE bytes load_bytes(const std::uint8_t* p) { return {_mm512_loadu_si512(p)}; }
NSK_INLINE void store_bytes(std::uint8_t* p, bytes x) { _mm512_storeu_si512(p, x.v); }
using packed_bytes = bytes;
inline constexpr int packed_vectors = 4;
NSK_INLINE void store_packed(std::uint8_t* p, bytes x) { store_bytes(p, x); }
NSK_INLINE bytes to_bytes(const f32 (&x)[4], u8_range to) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return {_mm512_maskz_permutexvar_epi32(impl::all, order, impl::interleaved_bytes(x, to))};
}
template <int Count, int First>
NSK_INLINE void store_part(std::uint8_t* p, bytes x) {
  if constexpr (Count == 32) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_maskz_extracti64x4_epi64(15, x.v, First / 32));
    return;
  }
  const __m128i part = _mm512_maskz_extracti32x4_epi32(15, x.v, First / 16);
  if constexpr (Count == 16)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), part);
  else if constexpr (First % 16 == 0)
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), part);
  else
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_unpackhi_epi64(part, part));
}
NSK_INLINE bytes max(bytes a, bytes b) { return {_mm512_max_epu8(a.v, b.v)}; }
namespace impl {
struct table_words {
  using reg = __m512i;
  static NSK_INLINE reg all(int byte) { return _mm512_set1_epi8(static_cast<char>(byte)); }
  static NSK_INLINE reg row(const std::uint8_t* p) {
    return _mm512_maskz_broadcast_i32x4(impl::all, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static NSK_INLINE reg shuffle(reg row, reg indices) { return _mm512_shuffle_epi8(row, indices); }
  static NSK_INLINE reg xor_(reg a, reg b) { return _mm512_xor_si512(a, b); }
  static NSK_INLINE reg subtract(reg a, reg b) { return _mm512_subs_epi8(a, b); }
};
}
inline void arrange_table(const std::uint8_t* entries, std::uint8_t* table) {
  impl::differences_of_rows(entries, table);
}
NSK_INLINE bytes look_up(const std::uint8_t* table, bytes x) {
  return {impl::look_up_rows<impl::table_words>(table, x.v)};
}
NSK_INLINE f32 load_i8(const std::int8_t* p) {
  return {_mm512_maskz_cvtepi32_ps(
      impl::all, _mm512_maskz_cvtepi8_epi32(impl::all, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}
NSK_INLINE f32 load_u8(const std::uint8_t* p) {
  return {_mm512_maskz_cvtepi32_ps(
      impl::all, _mm512_maskz_cvtepu8_epi32(impl::all, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
