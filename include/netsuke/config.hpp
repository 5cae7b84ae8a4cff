// SPDX-License-Identifier: MIT
#pragma once
/// Every macro that a user may define before the first include, each with its default. Define NSK_USER_CONFIG to the
/// name of a header ("my_nsk_config.hpp") to keep them in one file.
///
/// - NSK_ISA_SCALAR, NSK_ISA_AVX2, NSK_ISA_AVX512, NSK_ISA_NEON: instruction set of this translation unit, without any
///   compiler flag; x86-64 defaults to AVX2+FMA+F16C, AArch64 to NEON, others to scalar
/// - NSK_ISA_WASM: vectors of WebAssembly, the default where it is compiled with -msimd128; add -mrelaxed-simd for
///   engines that have it, which are far faster with it
/// - NSK_HAS_DOT_PRODUCT: says that every AArch64 processor that runs the program has dot products of bytes (SDOT),
///   where neither the library can ask the system nor the compiler's flags say it; all files of a program define it or
///   none
/// - NSK_ASSERT(condition, text): reports a caller's mistake, an expression; defaults to nothing when NDEBUG is
///   defined, otherwise to NSK_STOP
/// - NSK_STOP(text): ends the program where a caller goes on without what a call has refused, an expression, in every
///   build; defaults to printing file, line and text on standard error, and a trap
/// - NSK_KEEP_USER_OPT: keeps the translation unit's own optimisation level in kernels (g++ only: they ask for O3
///   otherwise)
/// - NSK_NO_BIT_EQUALITY: accepts -ffast-math around the kernels, and gives up equal bits
#if defined(NSK_USER_CONFIG)
#include NSK_USER_CONFIG
#endif

#if !defined(NSK_ISA_SCALAR) && !defined(NSK_ISA_AVX2) && !defined(NSK_ISA_AVX512) && !defined(NSK_ISA_NEON) && \
    !defined(NSK_ISA_WASM)
#if defined(__x86_64__) || defined(_M_X64)
#define NSK_ISA_AVX2
#elif defined(__aarch64__) || defined(_M_ARM64)
#define NSK_ISA_NEON
#elif defined(__wasm_simd128__)
#define NSK_ISA_WASM
#else
#define NSK_ISA_SCALAR
#endif
#endif

#if defined(NSK_ISA_AVX2)
#define NSK_ISA_NAME avx2
#elif defined(NSK_ISA_AVX512)
#define NSK_ISA_NAME avx512
#elif defined(NSK_ISA_NEON)
#define NSK_ISA_NAME neon
#elif defined(NSK_ISA_WASM) && defined(__wasm_relaxed_simd__)
#define NSK_ISA_NAME wasm_relaxed
#elif defined(NSK_ISA_WASM)
#define NSK_ISA_NAME wasm
#else
#define NSK_ISA_NAME scalar
#endif

#if defined(NSK_ISA_WASM) && !defined(__wasm_simd128__)
#error "netsuke: NSK_ISA_WASM needs -msimd128."
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "netsuke: files are little endian and are read in place. Big endian machines are not supported."
#endif

#if defined(__FAST_MATH__) && !defined(NSK_NO_BIT_EQUALITY) && defined(__clang__)
// clang-format off
#error "netsuke: -ffast-math defeats clang's pragmas, and with them equal bits on every machine. Compile this file with -fno-fast-math -ffp-contract=on, or define NSK_NO_BIT_EQUALITY."
// clang-format on
#endif

#if defined(__clang__) && (defined(__x86_64__) || defined(__i386__) || (defined(__aarch64__) && __clang_major__ >= 15))
// clang can restore the rounding rules that it found. Elsewhere contraction stays off from the first header to the end
// of the file.
#define NSK_IMPL_FLOAT_STACK
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define NSK_INLINE __forceinline
#define NSK_NOINLINE __declspec(noinline)
#define NSK_COLD
#define NSK_RESTRICT __restrict
#define NSK_FLATTEN
#else
#define NSK_INLINE inline __attribute__((always_inline))
#define NSK_NOINLINE __attribute__((noinline))
#define NSK_COLD __attribute__((cold))  // compiled for size, which takes a compiler less time
#define NSK_RESTRICT __restrict__
#define NSK_FLATTEN __attribute__((flatten))  // inlines all that the function calls, lambdas first of all
#endif
