// SPDX-License-Identifier: MIT
#pragma once
/// Brings in the intrinsics of the instruction set that config.hpp chose, and answers whether this machine has it.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/assert.hpp>

// What AVX2 needs of immintrin.h: g++ takes 0.6 s to read the whole, nearly all of it for AVX-512. The parts ask for
// its name; including the whole later adds the rest.
#if defined(NSK_ISA_AVX2) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9 && __GNUC__ <= 15 && \
    !defined(_IMMINTRIN_H_INCLUDED)
#define _IMMINTRIN_H_INCLUDED
#include <smmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#include <f16cintrin.h>
#include <fmaintrin.h>
#undef _IMMINTRIN_H_INCLUDED
#elif defined(NSK_ISA_AVX2) && defined(__clang__) && !defined(_MSC_VER) && !defined(__apple_build_version__) && \
    __clang_major__ >= 13 && __clang_major__ <= 22 && !defined(__IMMINTRIN_H)
#define __IMMINTRIN_H
#include <smmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#include <f16cintrin.h>
#include <fmaintrin.h>
#undef __IMMINTRIN_H
#elif defined(NSK_ISA_AVX2) || defined(NSK_ISA_AVX512)
#include <immintrin.h>
#elif defined(NSK_ISA_NEON)
#include <arm_neon.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif
#elif defined(NSK_ISA_WASM)
#include <netsuke/simd/wasm_probe.hpp>
#endif
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

/// Stands between the parameters and the body of a lambda that must be inlined: `[&](auto i) NSK_INLINE_LAMBDA { ...
/// }`.
#if defined(_MSC_VER) && !defined(__clang__)
#define NSK_INLINE_LAMBDA [[msvc::forceinline]]
#else
#define NSK_INLINE_LAMBDA __attribute__((always_inline))
#endif

/// A function that exists once: neither inlined nor cloned for constant arguments, because it is large or seldom
/// called.
#if defined(__GNUC__) && !defined(__clang__)
#define NSK_ONE_COPY __attribute__((noinline, noclone))
#else
#define NSK_ONE_COPY NSK_NOINLINE
#endif

#if defined(__clang__)
NSK_BEGIN
namespace simd {
namespace impl {
// clang-cl before C++20 reads the bodies of templates at the end of the file, where no region of begin.hpp is open: it
// finds names that come behind them, and gives code of other instructions and roundings.
char which_is_found(long);
template <class>
void require_templates_in_place() {
  static_assert(sizeof(which_is_found(0)) == sizeof(char), "netsuke: compile with /Zc:twoPhase, or with /std:c++20");
}
double which_is_found(int);
}
}
NSK_END
#endif

#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace simd {
namespace impl {
/// Returns whether a product that is added to something is rounded first. False where the compiler fuses the two in
/// spite of the pragmas of simd/begin.hpp (clang with -ffp-contract=fast), which macros cannot see: then results differ
/// from machine to machine.
inline bool rounds_products() {
  const volatile float near_one = 1.000244140625f, rounded_square = -1.00048828125f;  // 1 + 2^-12, -(1 + 2^-11)
  const float a = near_one, c = rounded_square;
#if defined(NSK_ISA_AVX2) || defined(NSK_ISA_AVX512)
  const __m256 x = _mm256_set1_ps(a);
  return _mm256_cvtss_f32(_mm256_add_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(c))) == 0.0f;
#elif defined(NSK_ISA_NEON)
  const float32x4_t x = vdupq_n_f32(a);
  return vgetq_lane_f32(vaddq_f32(vmulq_f32(x, x), vdupq_n_f32(c)), 0) == 0.0f;
#elif defined(NSK_ISA_WASM)
  const v128_t x = wasm_f32x4_splat(a);
  return wasm_f32x4_extract_lane(wasm_f32x4_add(wasm_f32x4_mul(x, x), wasm_f32x4_splat(c)), 0) == 0.0f;
#else
  return a * a + c == 0.0f;
#endif
}
#if defined(NSK_ISA_WASM) && defined(__wasm_relaxed_simd__)
/// Returns whether this engine rounds relaxed multiply-adds once, in all lanes: those of one engine are all alike.
/// Source: WebAssembly specification, "Relaxed Operations".
inline bool fuses_relaxed_products() {
  const volatile float near_one = 1.000244140625f, rounded_square = 1.00048828125f;  // 1 + 2^-12, 1 + 2^-11
  const v128_t x = wasm_f32x4_splat(near_one), square = wasm_f32x4_splat(rounded_square),
               rest = wasm_f32x4_const_splat(5.9604644775390625e-8f);  // 2^-24
  const v128_t sum = wasm_f32x4_relaxed_madd(x, x, wasm_f32x4_neg(square)),
               difference = wasm_f32x4_relaxed_nmadd(x, x, square);
  return wasm_i32x4_all_true(wasm_f32x4_eq(sum, rest)) &&
         wasm_i32x4_all_true(wasm_f32x4_eq(difference, wasm_f32x4_neg(rest)));
}
#endif
}
}
NSK_END
#include <netsuke/simd/end.hpp>

NSK_BEGIN
#if defined(NSK_ISA_AVX2) || defined(NSK_ISA_AVX512)
namespace simd {
namespace impl {
struct cpuid_registers {
  std::uint32_t a, b, c, d;
};
inline cpuid_registers cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
#if defined(_MSC_VER) && !defined(__clang__)
  int r[4];
  __cpuidex(r, static_cast<int>(leaf), static_cast<int>(subleaf));
  return {static_cast<std::uint32_t>(r[0]), static_cast<std::uint32_t>(r[1]), static_cast<std::uint32_t>(r[2]),
          static_cast<std::uint32_t>(r[3])};
#else
  cpuid_registers r;
  __asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(subleaf));
  return r;
#endif
}
/// Returns which register sets the operating system saves (XCR0); valid only where cpuid reports OSXSAVE.
inline std::uint32_t saved_registers() {
#if defined(_MSC_VER) && !defined(__clang__)
  return static_cast<std::uint32_t>(_xgetbv(0));
#else
  std::uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
#endif
}
}
}
#endif

namespace simd {
#if defined(NSK_ISA_NEON)
namespace impl {
// Functions of the systems, without their headers, which are long and full of macros.
#if defined(_WIN32) && defined(_MSC_VER) && !defined(__clang__)
extern "C" __declspec(dllimport) int __stdcall IsProcessorFeaturePresent(unsigned long feature);
#elif defined(_WIN32)
// By a name of its own: headers of Windows differ in whether they import the function.
extern "C" int nsk_processor_feature(unsigned long feature) __asm__("IsProcessorFeaturePresent");
#elif defined(__APPLE__)
extern "C" int sysctlbyname(const char* name, void* to, std::size_t* bytes, void* from, std::size_t from_bytes);
#endif
}
#endif

/// Returns whether this machine has the instruction of `dot4_native`: AVX-VNNI, VNNI of AVX-512, or NEON's dot
/// product, which is known where the program is compiled for it (NSK_HAS_DOT_PRODUCT of config.hpp says the same), and
/// asked for on Linux, Android, Windows and Apple's systems; others answer false. Ask it where cpu_supports() is true.
/// With NSK_NO_VNNI, which all files of a program define or none, it answers false, so that this machine can be
/// measured as one without. Sources: Intel SDM volume 2, CPUID; Linux, "ARM64 ELF hwcaps"; Microsoft,
/// IsProcessorFeaturePresent; Apple, "Determining instruction set characteristics".
inline bool has_native_dot4() {
#if defined(NSK_NO_VNNI)
  return false;
#elif defined(NSK_ISA_AVX512)
  return (impl::cpuid(7, 0).c & (1u << 11)) != 0;
#elif defined(NSK_ISA_AVX2)
  return impl::cpuid(7, 0).a >= 1 && (impl::cpuid(7, 1).a & (1u << 4)) != 0;
#elif defined(NSK_ISA_NEON) && (defined(__ARM_FEATURE_DOTPROD) || defined(NSK_HAS_DOT_PRODUCT))
  return true;
#elif defined(NSK_ISA_NEON) && defined(__linux__)
  constexpr unsigned long capabilities = 16, dot_products = 1ul << 20;  // AT_HWCAP, HWCAP_ASIMDDP
  return (getauxval(capabilities) & dot_products) != 0;
#elif defined(NSK_ISA_NEON) && defined(_WIN32)
  constexpr unsigned long dot_products = 43;  // PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE
#if defined(_MSC_VER) && !defined(__clang__)
  return impl::IsProcessorFeaturePresent(dot_products) != 0;
#else
  return impl::nsk_processor_feature(dot_products) != 0;
#endif
#elif defined(NSK_ISA_NEON) && defined(__APPLE__)
  int found = 0;
  std::size_t bytes = sizeof found;
  return impl::sysctlbyname("hw.optional.arm.FEAT_DotProd", &found, &bytes, nullptr, 0) == 0 && found != 0;
#else
  return false;
#endif
}
}

/// Returns whether this machine and its operating system can run the instruction set of this translation unit, and
/// whether it was compiled so that products are rounded (false: add -ffp-contract=on to its compiler flags). Ask it
/// before anything else when one program carries several builds of the library. A WebAssembly module with relaxed SIMD
/// answers false where the engine does not fuse multiply-adds, or plain loops are relaxed too (wasm_probe.hpp): load
/// one without. Source: Intel SDM volume 1, section 14.3.
inline bool cpu_supports() {
#if defined(__clang__)
  simd::impl::require_templates_in_place<int>();
#endif
#if defined(NSK_ISA_AVX2) || defined(NSK_ISA_AVX512)
  using simd::impl::cpuid;
  if (cpuid(0, 0).a < 7) return false;
  constexpr std::uint32_t fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
  const std::uint32_t wanted = fma | osxsave | avx | f16c;
  if ((cpuid(1, 0).c & wanted) != wanted) return false;
  const std::uint32_t saved = simd::impl::saved_registers(), extended = cpuid(7, 0).b;
  if ((saved & 0x6u) != 0x6u || (extended & (1u << 5)) == 0) return false;
#if defined(NSK_ISA_AVX512)
  constexpr std::uint32_t f_dq_bw_vl = (1u << 16) | (1u << 17) | (1u << 30) | (1u << 31);
  if ((saved & 0xe6u) != 0xe6u || (extended & f_dq_bw_vl) != f_dq_bw_vl) return false;
#endif
#elif defined(NSK_ISA_WASM) && defined(__wasm_relaxed_simd__)
  if (!simd::impl::fuses_relaxed_products() || !simd::impl::keeps_selects()) return false;
#endif
  return simd::impl::rounds_products();
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
