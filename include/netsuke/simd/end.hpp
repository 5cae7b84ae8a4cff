// SPDX-License-Identifier: MIT
// Closes the region that begin.hpp opened.
#if !defined(NSK_IN_REGION)
#error "simd/end.hpp: no region is open"
#endif
#undef NSK_IN_REGION
#undef NSK_REGION_COMPACT
#if defined(__clang__)
#if defined(NSK_IMPL_FLOAT_STACK)
#pragma float_control(pop)
#endif
#if defined(NSK_ISA_AVX2) || defined(NSK_ISA_AVX512)
#pragma clang attribute pop
#endif
#elif defined(__GNUC__)
#pragma GCC pop_options
#elif defined(_MSC_VER)
#pragma float_control(pop)
// Its stack does not hold this: what the program was compiled with comes back. Before Visual Studio 2022 that was `on`
// with /fp:precise too. Source: Microsoft, "/fp (Specify floating-point behavior)".
#if defined(_M_FP_CONTRACT) || defined(_M_FP_FAST) || _MSC_VER < 1930
#pragma fp_contract(on)
#endif
#endif
