// SPDX-License-Identifier: MIT
#if defined(__x86_64__)
#undef NSK_ISA_AVX2
#undef NSK_ISA_SCALAR
#define NSK_ISA_AVX2
#define NSK_RESULTS results_avx2
#include "equal_bits.inc"
#endif
