// SPDX-License-Identifier: MIT
#pragma once
/// The vocabulary of vec.hpp on AVX2 with FMA and F16C.
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
  static constexpr int lanes = 8;
  static constexpr int registers = 16;
  __m256 v;
};
struct i32 {
  static constexpr int lanes = 8;
  __m256i v;
};
struct mask {
  __m256 v;
};

/// What kernels choose for this instruction set. Measured: 6 rows of a panel of 16 fill the 16
/// registers without a spill, 97 % of the FMA peak (docs/decisions/kernels.md).
struct tuning {
  static constexpr bool loads_inputs_first = false;  ///< compilers hold the inputs of all rows of a GEMM tile at once
  static constexpr bool keeps_order = false;         ///< compilers leave multiply-adds in the order of the source
  static constexpr int max_gemm_rows = 16;           ///< of a GEMM tile, whatever its registers allow
  static constexpr int max_narrow_rows = 8;          ///< the same for panels of 8 columns
  static constexpr int gemm_steps = 1;         ///< k between tests of a GEMM loop, which take ports of multiply-adds
  static constexpr int block_columns = 24;     ///< of results that wait for their functions, in whole registers
  static constexpr bool stores_parts = false;  ///< a register that is partly stored costs no more than a whole one
  static constexpr int lockstep_vectors = 2;   ///< of a long function (lockstep.hpp): as many as registers hold
};

namespace impl {
alignas(64) inline constexpr std::int32_t first_lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
/// All ones in the first n lanes, 0 <= n <= 8.
NSK_INLINE __m256i first(int n) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first_lanes + (8 - n))); }
}

NSK_INLINE f32 load(const float* p) { return {_mm256_loadu_ps(p)}; }
NSK_INLINE f32 load_partial(const float* p, int n) { return {_mm256_maskload_ps(p, impl::first(n))}; }
NSK_INLINE f32 broadcast(const float* p) { return {_mm256_broadcast_ss(p)}; }
NSK_INLINE f32 splat(float x) { return {_mm256_set1_ps(x)}; }
NSK_INLINE f32 zero() { return {_mm256_setzero_ps()}; }
NSK_INLINE void store(float* p, f32 a) { _mm256_storeu_ps(p, a.v); }
NSK_INLINE void store_partial(float* p, int n, f32 a) { _mm256_maskstore_ps(p, impl::first(n), a.v); }
NSK_INLINE f32 load_f16(const std::uint16_t* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
NSK_INLINE void store_f16(std::uint16_t* p, f32 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT));
}

NSK_INLINE f32 add(f32 a, f32 b) { return {_mm256_add_ps(a.v, b.v)}; }
NSK_INLINE f32 sub(f32 a, f32 b) { return {_mm256_sub_ps(a.v, b.v)}; }
NSK_INLINE f32 mul(f32 a, f32 b) { return {_mm256_mul_ps(a.v, b.v)}; }
NSK_INLINE f32 div(f32 a, f32 b) { return {_mm256_div_ps(a.v, b.v)}; }
NSK_INLINE f32 fma(f32 a, f32 b, f32 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
NSK_INLINE f32 neg_fma(f32 a, f32 b, f32 c) { return {_mm256_fnmadd_ps(a.v, b.v, c.v)}; }
NSK_INLINE f32 max(f32 a, f32 b) { return {_mm256_max_ps(a.v, b.v)}; }
NSK_INLINE f32 min(f32 a, f32 b) { return {_mm256_min_ps(a.v, b.v)}; }
NSK_INLINE f32 neg(f32 a) { return {_mm256_xor_ps(a.v, _mm256_set1_ps(-0.0f))}; }
NSK_INLINE f32 abs(f32 a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
NSK_INLINE f32 sqrt(f32 a) { return {_mm256_sqrt_ps(a.v)}; }
NSK_INLINE f32 round_even(f32 a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
NSK_INLINE f32 floor(f32 a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)}; }
NSK_INLINE f32 ceil(f32 a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)}; }
NSK_INLINE f32 trunc(f32 a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)}; }

NSK_INLINE mask less(f32 a, f32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
NSK_INLINE mask less_equal(f32 a, f32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)}; }
NSK_INLINE mask equal(f32 a, f32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)}; }
NSK_INLINE mask equal(i32 a, i32 b) { return {_mm256_castsi256_ps(_mm256_cmpeq_epi32(a.v, b.v))}; }
NSK_INLINE mask less(i32 a, i32 b) { return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(b.v, a.v))}; }
NSK_INLINE mask logical_and(mask a, mask b) { return {_mm256_and_ps(a.v, b.v)}; }
NSK_INLINE mask logical_or(mask a, mask b) { return {_mm256_or_ps(a.v, b.v)}; }
NSK_INLINE mask logical_not(mask a) { return {_mm256_xor_ps(a.v, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))}; }
NSK_INLINE bool any(mask a) { return _mm256_movemask_ps(a.v) != 0; }
NSK_INLINE f32 select(mask m, f32 a, f32 b) { return {_mm256_blendv_ps(b.v, a.v, m.v)}; }
NSK_INLINE i32 select(mask m, i32 a, i32 b) { return {_mm256_blendv_epi8(b.v, a.v, _mm256_castps_si256(m.v))}; }

NSK_INLINE i32 load_i32(const std::int32_t* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
NSK_INLINE i32 splat_i32(std::int32_t x) { return {_mm256_set1_epi32(x)}; }
NSK_INLINE void store_i32(std::int32_t* p, i32 a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.v); }
NSK_INLINE i32 add(i32 a, i32 b) { return {_mm256_add_epi32(a.v, b.v)}; }
NSK_INLINE i32 sub(i32 a, i32 b) { return {_mm256_sub_epi32(a.v, b.v)}; }
NSK_INLINE i32 bit_and(i32 a, i32 b) { return {_mm256_and_si256(a.v, b.v)}; }
NSK_INLINE i32 bit_or(i32 a, i32 b) { return {_mm256_or_si256(a.v, b.v)}; }
NSK_INLINE i32 bit_xor(i32 a, i32 b) { return {_mm256_xor_si256(a.v, b.v)}; }
template <int N>
NSK_INLINE i32 shift_left(i32 a) {
  return {_mm256_slli_epi32(a.v, N)};
}
template <int N>
NSK_INLINE i32 shift_right(i32 a) {
  return {_mm256_srai_epi32(a.v, N)};
}
template <int N>
NSK_INLINE i32 shift_right_logical(i32 a) {
  return {_mm256_srli_epi32(a.v, N)};
}
NSK_INLINE i32 as_i32(f32 a) { return {_mm256_castps_si256(a.v)}; }
NSK_INLINE f32 as_f32(i32 a) { return {_mm256_castsi256_ps(a.v)}; }
NSK_INLINE f32 to_f32(i32 a) { return {_mm256_cvtepi32_ps(a.v)}; }
NSK_INLINE i32 to_i32(f32 a) {
  const __m256 low = _mm256_set1_ps(-2147483648.0f), high = _mm256_set1_ps(2147483520.0f);
  return {_mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(a.v, low), high))};
}

/// Adds (or takes the maximum of) all lanes by halves: lane i with lane i + 4, then i + 2, then i + 1.
NSK_INLINE float reduce_add(f32 a) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
NSK_INLINE float reduce_max(f32 a) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
NSK_INLINE float reduce_min(f32 a) {
  __m128 s = _mm_min_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  s = _mm_min_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_min_ss(s, _mm_movehdup_ps(s)));
}
NSK_INLINE float reduce_mul(f32 a) {
  __m128 s = _mm_mul_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  s = _mm_mul_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_mul_ss(s, _mm_movehdup_ps(s)));
}
/// Transposes a square of registers: lane c of row r becomes lane r of row c.
NSK_INLINE void transpose(f32 (&row)[8]) {
  __m256 pair[8], four[8];
  for (int i = 0; i < 4; ++i) {
    pair[2 * i] = _mm256_unpacklo_ps(row[2 * i].v, row[2 * i + 1].v);
    pair[2 * i + 1] = _mm256_unpackhi_ps(row[2 * i].v, row[2 * i + 1].v);
  }
  for (int i = 0; i < 8; i += 4)
    for (int k = 0; k < 2; ++k) {
      four[i + 2 * k] = _mm256_shuffle_ps(pair[i + k], pair[i + k + 2], 0x44);
      four[i + 2 * k + 1] = _mm256_shuffle_ps(pair[i + k], pair[i + k + 2], 0xee);
    }
  for (int i = 0; i < 4; ++i) {
    row[i].v = _mm256_permute2f128_ps(four[i], four[i + 4], 0x20);
    row[i + 4].v = _mm256_permute2f128_ps(four[i], four[i + 4], 0x31);
  }
}
template <int Size, int I>
NSK_INLINE f32 spread(f32 a) {
  static_assert(Size == 2 || Size == 4, "groups of 8 are whole registers");
  return {_mm256_permute_ps(a.v, Size == 4 ? I * 0x55 : 0xa0 + I * 0x55)};
}
NSK_INLINE void zip(f32 a, f32 b, f32 (&out)[2]) {
  const __m256 low = _mm256_unpacklo_ps(a.v, b.v), high = _mm256_unpackhi_ps(a.v, b.v);
  out[0].v = _mm256_permute2f128_ps(low, high, 0x20);
  out[1].v = _mm256_permute2f128_ps(low, high, 0x31);
}
NSK_INLINE void store_zipped(float* p, f32 a, f32 b, f32 c) {
  // element j of the input with number i belongs to lane (3 * j + i) mod 8 of one of the results
  const __m256 x = _mm256_permutevar8x32_ps(a.v, _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5)),
               y = _mm256_permutevar8x32_ps(b.v, _mm256_setr_epi32(5, 0, 3, 6, 1, 4, 7, 2)),
               z = _mm256_permutevar8x32_ps(c.v, _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
  constexpr int of_0 = 0x49, of_1 = 0x92, of_2 = 0x24;  // lanes by their rest modulo 3
  _mm256_storeu_ps(p, _mm256_blend_ps(_mm256_blend_ps(x, y, of_1), z, of_2));
  _mm256_storeu_ps(p + 8, _mm256_blend_ps(_mm256_blend_ps(x, y, of_2), z, of_0));
  _mm256_storeu_ps(p + 16, _mm256_blend_ps(_mm256_blend_ps(x, y, of_0), z, of_1));
}
NSK_INLINE void zip_bytes(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* to) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a)),
                y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi8(x, y));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16), _mm_unpackhi_epi8(x, y));
}
NSK_INLINE void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

NSK_INLINE i32 load_quads(const std::int8_t* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
NSK_INLINE i32 broadcast_quad(const std::uint8_t* p) {
  std::int32_t x;
  std::memcpy(&x, p, sizeof x);
  return {_mm256_set1_epi32(x)};
}
NSK_INLINE i32 dot4(i32 sum, i32 a, i32 w) {
  const __m256i a_even = _mm256_and_si256(a.v, _mm256_set1_epi16(255)), a_odd = _mm256_srli_epi16(a.v, 8),
                w_even = _mm256_srai_epi16(_mm256_slli_epi16(w.v, 8), 8), w_odd = _mm256_srai_epi16(w.v, 8);
  const __m256i even = _mm256_add_epi32(sum.v, _mm256_madd_epi16(a_even, w_even));
  return {_mm256_add_epi32(even, _mm256_madd_epi16(a_odd, w_odd))};
}
NSK_INLINE i32 dot4_narrow(i32 sum, i32 a, i32 w) {
  const __m256i pairs = _mm256_maddubs_epi16(a.v, w.v);
  return {_mm256_add_epi32(sum.v, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))};
}
NSK_INLINE i32 dot4_native(i32 sum, i32 a, i32 w) {
#if defined(__GNUC__) || defined(__clang__)  // the intrinsic would want a target of its own for all its callers
  __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum.v) : "x"(a.v), "x"(w.v));
  return sum;
#else
  return {_mm256_dpbusd_avx_epi32(sum.v, a.v, w.v)};
#endif
}
NSK_INLINE i32 add_bytes(i32 sum, const std::uint8_t* p) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return {_mm256_add_epi32(sum.v, _mm256_sad_epu8(bytes, _mm256_setzero_si256()))};
}
NSK_INLINE void store16_u8(std::uint8_t* p, const f32 (&x)[2], u8_range to) {
  const __m256i words = _mm256_packs_epi32(_mm256_cvtps_epi32(x[0].v), _mm256_cvtps_epi32(x[1].v));
  const __m256i moved = _mm256_adds_epi16(_mm256_permute4x64_epi64(words, 0xd8), _mm256_set1_epi16(to.zero));
  const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(moved), _mm256_extracti128_si256(moved, 1));
  const __m128i low = _mm_set1_epi8(static_cast<char>(to.low)), high = _mm_set1_epi8(static_cast<char>(to.high));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_min_epu8(_mm_max_epu8(bytes, low), high));
}

namespace impl {
/// The instructions take 16 bytes of each row at a time: lanes 4 i to 4 i + 3 have channels of the i-th 16 bytes.
NSK_INLINE void interleave(__m256i a, __m256i b, __m256i c, __m256i d, i32 (&quads)[4]) {
  const __m256i low = _mm256_unpacklo_epi8(a, b), high = _mm256_unpackhi_epi8(a, b),
                low_last = _mm256_unpacklo_epi8(c, d), high_last = _mm256_unpackhi_epi8(c, d);
  quads[0].v = _mm256_unpacklo_epi16(low, low_last);
  quads[1].v = _mm256_unpackhi_epi16(low, low_last);
  quads[2].v = _mm256_unpacklo_epi16(high, high_last);
  quads[3].v = _mm256_unpackhi_epi16(high, high_last);
}
}
NSK_INLINE void interleave_quads(const std::uint8_t* const (&row)[4], i32 (&quads)[4]) {
  const auto all = [&](int i)
                       NSK_INLINE_LAMBDA { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row[i])); };
  impl::interleave(all(0), all(1), all(2), all(3), quads);
}
NSK_INLINE void interleave_quads(const std::uint8_t* const (&row)[4], const std::uint8_t* const (&other)[4],
                                 i32 (&quads)[4]) {
  const auto halves = [&](int i) NSK_INLINE_LAMBDA {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row[i]))),
                                   _mm_loadu_si128(reinterpret_cast<const __m128i*>(other[i])), 1);
  };
  impl::interleave(halves(0), halves(1), halves(2), halves(3), quads);
}
constexpr int place_of_channel(int channel) { return channel / 4 % 4 * i32::lanes + channel / 16 * 4 + channel % 4; }
namespace impl {
NSK_INLINE __m256i interleaved_bytes(const f32 (&x)[4], u8_range to) {
  const __m256i zero = _mm256_set1_epi16(to.zero);
  const __m256i low =
                    _mm256_adds_epi16(_mm256_packs_epi32(_mm256_cvtps_epi32(x[0].v), _mm256_cvtps_epi32(x[1].v)), zero),
                high =
                    _mm256_adds_epi16(_mm256_packs_epi32(_mm256_cvtps_epi32(x[2].v), _mm256_cvtps_epi32(x[3].v)), zero);
  const __m256i min_byte = _mm256_set1_epi8(static_cast<char>(to.low)),
                max_byte = _mm256_set1_epi8(static_cast<char>(to.high));
  return _mm256_min_epu8(_mm256_max_epu8(_mm256_packus_epi16(low, high), min_byte), max_byte);
}
}
NSK_INLINE void store_quads_u8(std::uint8_t* p, const f32 (&x)[4], u8_range to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), impl::interleaved_bytes(x, to));
}

struct bytes {
  static constexpr int lanes = 32;
  __m256i v;
};
NSK_INLINE bytes splat_bytes(std::uint8_t x) { return {_mm256_set1_epi8(static_cast<char>(x))}; }
NSK_INLINE bytes load_bytes(const std::uint8_t* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
NSK_INLINE void store_bytes(std::uint8_t* p, bytes x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x.v); }
using packed_bytes = bytes;
inline constexpr int packed_vectors = 4;
NSK_INLINE void store_packed(std::uint8_t* p, bytes x) { store_bytes(p, x); }
NSK_INLINE bytes to_bytes(const f32 (&x)[4], u8_range to) {
  return {_mm256_permutevar8x32_epi32(impl::interleaved_bytes(x, to), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))};
}
template <int Count, int First>
NSK_INLINE void store_part(std::uint8_t* p, bytes x) {
  const __m128i half = First < 16 ? _mm256_castsi256_si128(x.v) : _mm256_extracti128_si256(x.v, 1);
  if constexpr (Count == 16)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), half);
  else if constexpr (First % 16 == 0)
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), half);
  else
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_unpackhi_epi64(half, half));
}
NSK_INLINE bytes max(bytes a, bytes b) { return {_mm256_max_epu8(a.v, b.v)}; }
namespace impl {
struct table_words {
  using reg = __m256i;
  static NSK_INLINE reg all(int byte) { return _mm256_set1_epi8(static_cast<char>(byte)); }
  static NSK_INLINE reg row(const std::uint8_t* p) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static NSK_INLINE reg shuffle(reg row, reg indices) { return _mm256_shuffle_epi8(row, indices); }
  static NSK_INLINE reg xor_(reg a, reg b) { return _mm256_xor_si256(a, b); }
  static NSK_INLINE reg subtract(reg a, reg b) { return _mm256_subs_epi8(a, b); }
};
}
inline void arrange_table(const std::uint8_t* entries, std::uint8_t* table) {
  impl::differences_of_rows(entries, table);
}
NSK_INLINE bytes look_up(const std::uint8_t* table, bytes x) {
  return {impl::look_up_rows<impl::table_words>(table, x.v)};
}
NSK_INLINE f32 load_i8(const std::int8_t* p) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))))};
}
NSK_INLINE f32 load_u8(const std::uint8_t* p) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))))};
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
