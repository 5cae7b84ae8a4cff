// SPDX-License-Identifier: MIT
// Opens a region compiled for one instruction set, with every rounding written in the source. Closed by end.hpp.
// No include guard: it stands around each body. Nothing else in the library may use a target or float pragma.
// NSK_REGION_COMPACT, defined before, asks for O2 instead of O3: loops over any element type, which need not be fast.
// Inside a region: include no other header, and give no always_inline function to code outside it.
#if defined(NSK_IN_REGION)
#error "simd/begin.hpp: the previous region is still open"
#endif
#define NSK_IN_REGION
#if defined(__clang__)
#if defined(NSK_ISA_AVX2)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#elif defined(NSK_ISA_AVX512)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c"))), \
                             apply_to = function)
#endif
#if defined(NSK_IMPL_FLOAT_STACK)
#pragma float_control(push)
#endif
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC push_options
#if defined(NSK_ISA_AVX2)
#pragma GCC target("avx2,fma,f16c")
#elif defined(NSK_ISA_AVX512)
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c")
#endif
#if defined(NSK_KEEP_USER_OPT)
#pragma GCC optimize("no-fast-math", "fp-contract=off")
#elif defined(__OPTIMIZE_SIZE__) || defined(NSK_REGION_COMPACT)
#pragma GCC optimize("O2", "no-fast-math", "fp-contract=off")
#else
#pragma GCC optimize("O3", "no-fast-math", "fp-contract=off")
#endif
#elif defined(_MSC_VER)
#pragma float_control(precise, on, push)
#pragma fp_contract(off)
#endif
