// SPDX-License-Identifier: MIT
#pragma once
/// The AVX-512 intrinsics of simd/avx512.hpp, lane by lane, for processors without them. Source: Intel 64 and IA-32
/// Architectures Software Developer's Manual, volume 2, the "Operation" section of each instruction. Lanes are computed
/// with scalar and AVX instructions, which round alike.
#include_next <immintrin.h>
#include <cstdint>
#include <cstring>

/// Calls, because a kernel with all lanes of all its registers inlined takes minutes to compile.
#define NSK_EMULATED_INLINE inline __attribute__((noinline))

namespace emulated_avx512 {
using mask16 = std::uint16_t;

struct floats {
  float at[16];
};
struct integers {
  std::int32_t at[16];
};

/// A register of f(lane).
template <class R, class F>
inline R lanes(F f) {
  R r;
  for (int i = 0; i < 16; ++i) r.at[i] = f(i);
  return r;
}
template <class F>
NSK_EMULATED_INLINE mask16 mask_of(F f) {
  unsigned m = 0;
  for (int i = 0; i < 16; ++i) m |= f(i) ? 1u << i : 0u;
  return static_cast<mask16>(m);
}
template <class To, class From>
inline To cast(const From& x) {
  To r;
  static_assert(sizeof r == sizeof x, "registers have one size");
  std::memcpy(&r, &x, sizeof r);
  return r;
}
/// Lanes whose bit is set; zero in the others.
template <class R>
NSK_EMULATED_INLINE R only(mask16 m, R x) {
  for (int i = 0; i < 16; ++i)
    if (!(m >> i & 1)) x.at[i] = 0;
  return x;
}
inline std::uint32_t word(std::int32_t x) { return static_cast<std::uint32_t>(x); }
inline std::int32_t number(std::uint32_t x) { return cast<std::int32_t>(x); }

NSK_EMULATED_INLINE floats set(float x) {
  return lanes<floats>([&](int) { return x; });
}
NSK_EMULATED_INLINE integers set(std::int32_t x) {
  return lanes<integers>([&](int) { return x; });
}
/// Touches the lanes of the mask alone: memory behind the others may not exist.
NSK_EMULATED_INLINE floats load(mask16 m, const float* p) {
  return lanes<floats>([&](int i) { return m >> i & 1 ? p[i] : 0.0f; });
}
NSK_EMULATED_INLINE void store(float* p, mask16 m, const floats& x) {
  for (int i = 0; i < 16; ++i)
    if (m >> i & 1) p[i] = x.at[i];
}
NSK_EMULATED_INLINE void store_words(void* p, const integers& x) { std::memcpy(p, x.at, sizeof x.at); }
template <class F>
NSK_EMULATED_INLINE floats two(const floats& a, const floats& b, F f) {
  return lanes<floats>([&](int i) { return f(a.at[i], b.at[i]); });
}
template <class F>
NSK_EMULATED_INLINE integers two(const integers& a, const integers& b, F f) {
  return lanes<integers>([&](int i) { return number(f(word(a.at[i]), word(b.at[i]))); });
}
NSK_EMULATED_INLINE floats fused(const floats& a, const floats& b, const floats& c) {
  return lanes<floats>([&](int i) { return __builtin_fmaf(a.at[i], b.at[i], c.at[i]); });
}
NSK_EMULATED_INLINE __m256 low_half(const floats& a) { return _mm256_loadu_ps(a.at); }
NSK_EMULATED_INLINE floats from_half(__m256 a) {
  floats r = set(0.0f);
  _mm256_storeu_ps(r.at, a);
  return r;
}
NSK_EMULATED_INLINE floats sign_flipped(floats a) {
  for (float& x : a.at) x = -x;
  return a;
}
NSK_EMULATED_INLINE floats square_root(const floats& a) {
  return lanes<floats>([&](int i) { return __builtin_sqrtf(a.at[i]); });
}
NSK_EMULATED_INLINE floats rounded(const floats& a, int mode) {
  return lanes<floats>([&](int i) {
    switch (mode & 3) {
      case 0: return __builtin_rintf(a.at[i]);
      case 1: return __builtin_floorf(a.at[i]);
      case 2: return __builtin_ceilf(a.at[i]);
      default: return __builtin_truncf(a.at[i]);
    }
  });
}
NSK_EMULATED_INLINE integers converted(const floats& a) {
  return lanes<integers>([&](int i) { return _mm_cvtss_si32(_mm_set_ss(a.at[i])); });
}
NSK_EMULATED_INLINE floats converted(const integers& a) {
  return lanes<floats>([&](int i) { return static_cast<float>(a.at[i]); });
}
NSK_EMULATED_INLINE floats widened(const __m256i& h) {
  const auto half = [&](int i) { return reinterpret_cast<const std::uint16_t*>(&h)[i]; };
  return lanes<floats>([&](int i) { return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half(i)))); });
}
NSK_EMULATED_INLINE __m256i narrowed(const floats& a) {
  std::uint16_t h[16];
  for (int i = 0; i < 16; ++i)
    h[i] = static_cast<std::uint16_t>(_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(a.at[i]), _MM_FROUND_TO_NEAREST_INT)));
  return cast<__m256i>(h);
}
/// Lanes of b where the mask is set, of a elsewhere.
template <class R>
NSK_EMULATED_INLINE R blended(mask16 m, const R& a, const R& b) {
  return lanes<R>([&](int i) { return m >> i & 1 ? b.at[i] : a.at[i]; });
}
/// To the right, keeping the sign.
NSK_EMULATED_INLINE integers shifted(const integers& a, int n) {
  return lanes<integers>([&](int i) { return a.at[i] >> n; });
}
/// VSHUFF32X4: parts of four lanes, the first two of the result from a, the others from b.
NSK_EMULATED_INLINE floats shuffled_parts(const floats& a, const floats& b, int control) {
  return lanes<floats>([&](int i) { return (i < 8 ? a : b).at[(control >> (i / 4 * 2) & 3) * 4 + i % 4]; });
}
/// VSHUFPS: within each part, the first two lanes from a, the others from b.
NSK_EMULATED_INLINE floats shuffled(const floats& a, const floats& b, int control) {
  return lanes<floats>([&](int i) { return (i % 4 < 2 ? a : b).at[i / 4 * 4 + (control >> (i % 4 * 2) & 3)]; });
}
/// VUNPCKLPS and VUNPCKHPS: lanes `first` and first + 1 of each part, of a and b in turn.
NSK_EMULATED_INLINE floats unpacked(const floats& a, const floats& b, int first) {
  return lanes<floats>([&](int i) { return (i % 2 == 0 ? a : b).at[i / 4 * 4 + first + i % 4 / 2]; });
}
/// What an instruction of SSE gives for each part of four lanes.
template <class F>
NSK_EMULATED_INLINE integers parts(const integers& a, const integers& b, F f) {
  integers r;
  const auto part = [](const integers& x, int i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(x.at + i));
  };
  for (int i = 0; i < 16; i += 4) _mm_storeu_si128(reinterpret_cast<__m128i*>(r.at + i), f(part(a, i), part(b, i)));
  return r;
}
NSK_EMULATED_INLINE integers repeated(__m128i part) {
  const integers none{};
  return parts(none, none, [&](__m128i, __m128i) { return part; });
}
/// VPERMILPS: within each part, the lanes that the control names.
NSK_EMULATED_INLINE floats permuted_parts(const floats& a, int control) { return shuffled(a, a, control); }
/// VPERMPS, VPERMD and VPERMT2PS: the lanes that the indices name, of a, from 16 on of b.
template <class R>
NSK_EMULATED_INLINE R permuted(const R& a, const integers& indices, const R& b) {
  return lanes<R>([&](int i) { return ((indices.at[i] & 16) != 0 ? b : a).at[indices.at[i] & 15]; });
}
NSK_EMULATED_INLINE integers with_halves(__m256i low, __m256i high) {
  integers r;
  std::memcpy(r.at, &low, 32);
  std::memcpy(r.at + 8, &high, 32);
  return r;
}
NSK_EMULATED_INLINE __m256i half(const integers& a, int number) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a.at + 8 * number));
}
NSK_EMULATED_INLINE __m128i quarter(const integers& a, int number) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(a.at + 4 * number));
}
template <class Byte>
NSK_EMULATED_INLINE integers widened_bytes(__m128i x) {
  Byte bytes[16];
  std::memcpy(bytes, &x, 16);
  return lanes<integers>([&](int i) { return std::int32_t{bytes[i]}; });
}
/// VPMOVSDW: saturated to 16 bits.
NSK_EMULATED_INLINE __m256i saturated_words(const integers& a) {
  std::int16_t words[16];
  for (int i = 0; i < 16; ++i)
    words[i] = static_cast<std::int16_t>(a.at[i] < -32768 ? -32768 : a.at[i] > 32767 ? 32767 : a.at[i]);
  return cast<__m256i>(words);
}
/// VPDPBUSD: adds the products of four unsigned bytes and four signed ones to each lane.
NSK_EMULATED_INLINE integers with_products(const integers& sum, const integers& a, const integers& w) {
  return lanes<integers>([&](int i) {
    std::uint32_t lane = word(sum.at[i]);
    for (int byte = 0; byte < 32; byte += 8)
      lane += word(static_cast<std::uint8_t>(word(a.at[i]) >> byte) * static_cast<std::int8_t>(word(w.at[i]) >> byte));
    return number(lane);
  });
}
/// The lanes of the mask, of eight.
NSK_EMULATED_INLINE void store_some(float* p, unsigned m, __m256 x) {
  float all[8];
  _mm256_storeu_ps(all, x);
  for (int i = 0; i < 8; ++i)
    if (m >> i & 1) p[i] = all[i];
}
}

#define __m512 emulated_avx512::floats
#define __m512i emulated_avx512::integers
#define NSK_EMULATED(name) emulated_avx512::name
#define _mm512_loadu_ps(p) NSK_EMULATED(load)(0xffff, p)
#define _mm512_maskz_loadu_ps(m, p) NSK_EMULATED(load)(m, p)
#define _mm512_storeu_ps(p, a) NSK_EMULATED(store)(p, 0xffff, a)
#define _mm512_mask_storeu_ps(p, m, a) NSK_EMULATED(store)(p, m, a)
#define _mm512_set1_ps(x) NSK_EMULATED(set)(static_cast<float>(x))
#define _mm512_setzero_ps() NSK_EMULATED(set)(0.0f)
#define _mm512_set1_epi32(x) NSK_EMULATED(set)(static_cast<std::int32_t>(x))
#define _mm512_loadu_si512(p) emulated_avx512::cast<__m512i>(*reinterpret_cast<const std::int32_t(*)[16]>(p))
#define _mm512_storeu_si512(p, a) NSK_EMULATED(store_words)(p, a)
#define _mm512_maskz_cvtph_ps(m, h) NSK_EMULATED(only)(m, NSK_EMULATED(widened)(h))
#define _mm512_maskz_cvtps_ph(m, a, mode) NSK_EMULATED(narrowed)(a)
#define _mm512_add_ps(a, b) NSK_EMULATED(two)(a, b, [](float x, float y) { return x + y; })
#define _mm512_sub_ps(a, b) NSK_EMULATED(two)(a, b, [](float x, float y) { return x - y; })
#define _mm512_mul_ps(a, b) NSK_EMULATED(two)(a, b, [](float x, float y) { return x * y; })
#define _mm512_div_ps(a, b) NSK_EMULATED(two)(a, b, [](float x, float y) { return x / y; })
#define _mm512_maskz_extractf32x8_ps(mask, a, part) NSK_EMULATED(low_half)(a)
#define _mm512_castps256_ps512(a) NSK_EMULATED(from_half)(a)
#define _mm512_fmadd_ps(a, b, c) NSK_EMULATED(fused)(a, b, c)
#define _mm512_fnmadd_ps(a, b, c) NSK_EMULATED(fused)(NSK_EMULATED(sign_flipped)(a), b, c)
#define _mm512_maskz_max_ps(m, a, b) \
  NSK_EMULATED(only)(m, NSK_EMULATED(two)(a, b, [](float x, float y) { return x > y ? x : y; }))
#define _mm512_maskz_min_ps(m, a, b) \
  NSK_EMULATED(only)(m, NSK_EMULATED(two)(a, b, [](float x, float y) { return x < y ? x : y; }))
#define _mm512_castps_si512(a) emulated_avx512::cast<__m512i>(a)
#define _mm512_castsi512_ps(a) emulated_avx512::cast<__m512>(a)
#define _mm512_xor_ps(a, b) _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_castps_si512(b)))
#define _mm512_andnot_ps(a, b)                                                          \
  _mm512_castsi512_ps(NSK_EMULATED(two)(_mm512_castps_si512(a), _mm512_castps_si512(b), \
                                        [](std::uint32_t x, std::uint32_t y) { return ~x & y; }))
#define _mm512_maskz_sqrt_ps(m, a) NSK_EMULATED(only)(m, NSK_EMULATED(square_root)(a))
#define _mm512_maskz_roundscale_ps(m, a, mode) NSK_EMULATED(only)(m, NSK_EMULATED(rounded)(a, mode))
#define _mm512_cmp_ps_mask(a, b, kind)                      \
  NSK_EMULATED(mask_of)                                     \
  ([&](int i) {                                             \
    return (kind) == _CMP_LT_OQ   ? (a).at[i] < (b).at[i]   \
           : (kind) == _CMP_LE_OQ ? (a).at[i] <= (b).at[i]  \
                                  : (a).at[i] == (b).at[i]; \
  })
#define _mm512_cmpeq_epi32_mask(a, b) NSK_EMULATED(mask_of)([&](int i) { return (a).at[i] == (b).at[i]; })
#define _mm512_cmplt_epi32_mask(a, b) NSK_EMULATED(mask_of)([&](int i) { return (a).at[i] < (b).at[i]; })
#define _mm512_mask_blend_ps(m, a, b) NSK_EMULATED(blended)(m, a, b)
#define _mm512_mask_blend_epi32(m, a, b) NSK_EMULATED(blended)(m, a, b)
#define NSK_EMULATED_WORDS(a, b, expression) \
  NSK_EMULATED(two)(a, b, [](std::uint32_t x, std::uint32_t y) -> std::uint32_t { return expression; })
#define _mm512_add_epi32(a, b) NSK_EMULATED_WORDS(a, b, x + y)
#define _mm512_sub_epi32(a, b) NSK_EMULATED_WORDS(a, b, x - y)
#define _mm512_and_si512(a, b) NSK_EMULATED_WORDS(a, b, x& y)
#define _mm512_or_si512(a, b) NSK_EMULATED_WORDS(a, b, x | y)
#define _mm512_xor_si512(a, b) NSK_EMULATED_WORDS(a, b, x ^ y)
#define _mm512_maskz_slli_epi32(m, a, n) NSK_EMULATED(only)(m, NSK_EMULATED_WORDS(a, emulated_avx512::set(n), x << y))
#define _mm512_maskz_srli_epi32(m, a, n) NSK_EMULATED(only)(m, NSK_EMULATED_WORDS(a, emulated_avx512::set(n), x >> y))
#define _mm512_maskz_srai_epi32(m, a, n) NSK_EMULATED(only)(m, NSK_EMULATED(shifted)(a, n))
#define _mm512_maskz_cvtepi32_ps(m, a) NSK_EMULATED(only)(m, NSK_EMULATED(converted)(a))
#define _mm512_maskz_cvtps_epi32(m, a) NSK_EMULATED(only)(m, NSK_EMULATED(converted)(a))
#define _mm512_maskz_shuffle_f32x4(m, a, b, c) NSK_EMULATED(only)(m, NSK_EMULATED(shuffled_parts)(a, b, c))
#define _mm512_shuffle_ps(a, b, c) NSK_EMULATED(shuffled)(a, b, c)
#define _mm512_maskz_unpacklo_ps(m, a, b) NSK_EMULATED(only)(m, NSK_EMULATED(unpacked)(a, b, 0))
#define _mm512_maskz_unpackhi_ps(m, a, b) NSK_EMULATED(only)(m, NSK_EMULATED(unpacked)(a, b, 2))
#define _mm512_cvtss_f32(a) (a).at[0]
#define NSK_EMULATED_PARTS(a, b, instruction) \
  NSK_EMULATED(parts)(a, b, [&](__m128i x, __m128i y) { return static_cast<void>(y), instruction; })
#define _mm512_adds_epi16(a, b) NSK_EMULATED_PARTS(a, b, _mm_adds_epi16(x, y))
#define _mm512_madd_epi16(a, b) NSK_EMULATED_PARTS(a, b, _mm_madd_epi16(x, y))
#define _mm512_maddubs_epi16(a, b) NSK_EMULATED_PARTS(a, b, _mm_maddubs_epi16(x, y))
#define _mm512_max_epu8(a, b) NSK_EMULATED_PARTS(a, b, _mm_max_epu8(x, y))
#define _mm512_min_epu8(a, b) NSK_EMULATED_PARTS(a, b, _mm_min_epu8(x, y))
#define _mm512_packs_epi32(a, b) NSK_EMULATED_PARTS(a, b, _mm_packs_epi32(x, y))
#define _mm512_packus_epi16(a, b) NSK_EMULATED_PARTS(a, b, _mm_packus_epi16(x, y))
#define _mm512_sad_epu8(a, b) NSK_EMULATED_PARTS(a, b, _mm_sad_epu8(x, y))
#define _mm512_shuffle_epi8(a, b) NSK_EMULATED_PARTS(a, b, _mm_shuffle_epi8(x, y))
#define _mm512_subs_epi8(a, b) NSK_EMULATED_PARTS(a, b, _mm_subs_epi8(x, y))
#define _mm512_unpackhi_epi16(a, b) NSK_EMULATED_PARTS(a, b, _mm_unpackhi_epi16(x, y))
#define _mm512_unpackhi_epi8(a, b) NSK_EMULATED_PARTS(a, b, _mm_unpackhi_epi8(x, y))
#define _mm512_unpacklo_epi16(a, b) NSK_EMULATED_PARTS(a, b, _mm_unpacklo_epi16(x, y))
#define _mm512_unpacklo_epi8(a, b) NSK_EMULATED_PARTS(a, b, _mm_unpacklo_epi8(x, y))
#define _mm512_slli_epi16(a, n) NSK_EMULATED_PARTS(a, a, _mm_slli_epi16(x, n))
#define _mm512_srai_epi16(a, n) NSK_EMULATED_PARTS(a, a, _mm_srai_epi16(x, n))
#define _mm512_srli_epi16(a, n) NSK_EMULATED_PARTS(a, a, _mm_srli_epi16(x, n))
#define _mm512_set1_epi16(x) NSK_EMULATED(repeated)(_mm_set1_epi16(x))
#define _mm512_set1_epi8(x) NSK_EMULATED(repeated)(_mm_set1_epi8(x))
#define _mm512_setr_epi32(...) (emulated_avx512::integers{{__VA_ARGS__}})
#define _mm512_setzero_si512() NSK_EMULATED(set)(std::int32_t{0})
#define _mm512_castsi256_si512(a) NSK_EMULATED(with_halves)(a, _mm256_setzero_si256())
#define _mm512_maskz_inserti64x4(m, a, b, part) NSK_EMULATED(with_halves)(NSK_EMULATED(half)(a, 0), b)
#define _mm512_maskz_extracti64x4_epi64(m, a, part) NSK_EMULATED(half)(a, part)
#define _mm512_maskz_extracti32x4_epi32(m, a, part) NSK_EMULATED(quarter)(a, part)
#define _mm512_maskz_broadcast_i32x4(m, a) NSK_EMULATED(repeated)(a)
#define _mm512_maskz_cvtepi8_epi32(m, a) NSK_EMULATED(widened_bytes)<std::int8_t>(a)
#define _mm512_maskz_cvtepu8_epi32(m, a) NSK_EMULATED(widened_bytes)<std::uint8_t>(a)
#define _mm512_maskz_cvtsepi32_epi16(m, a) NSK_EMULATED(saturated_words)(a)
#define _mm512_maskz_permute_ps(m, a, control) NSK_EMULATED(permuted_parts)(a, control)
#define _mm512_maskz_permutexvar_ps(m, indices, a) NSK_EMULATED(permuted)(a, indices, a)
#define _mm512_maskz_permutexvar_epi32(m, indices, a) NSK_EMULATED(permuted)(a, indices, a)
#define _mm512_permutex2var_ps(a, indices, b) NSK_EMULATED(permuted)(a, indices, b)
#define _mm512_dpbusd_epi32(sum, a, w) NSK_EMULATED(with_products)(sum, a, w)
#define _mm256_mask_storeu_ps(p, m, a) NSK_EMULATED(store_some)(p, m, a)
