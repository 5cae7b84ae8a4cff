// SPDX-License-Identifier: MIT
#pragma once
/// Doubles of AVX2 and AVX-512: four at a time. What uses them waits for memory, not for wider registers.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/simd/isa.hpp>
#if defined(NSK_ISA_AVX2) || defined(NSK_ISA_AVX512)
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace simd {

struct f64 {
  static constexpr int lanes = 4;
  __m256d v;
};
NSK_INLINE f64 widen(const float* p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }
NSK_INLINE f64 add(f64 a, f64 b) { return {_mm256_add_pd(a.v, b.v)}; }
NSK_INLINE f64 sub(f64 a, f64 b) { return {_mm256_sub_pd(a.v, b.v)}; }
NSK_INLINE f64 scaled(f64 a, double factor) { return {_mm256_mul_pd(a.v, _mm256_set1_pd(factor))}; }
NSK_INLINE void store_narrowed(float* p, f64 a) { _mm_storeu_ps(p, _mm256_cvtpd_ps(a.v)); }

}
NSK_END
#include <netsuke/simd/end.hpp>
#endif
#include <netsuke/core/restore_macros.hpp>
