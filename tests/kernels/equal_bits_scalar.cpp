// SPDX-License-Identifier: MIT
#undef NSK_ISA_AVX2
#undef NSK_ISA_AVX512
#undef NSK_ISA_NEON
#undef NSK_ISA_WASM
#undef NSK_ISA_SCALAR
#define NSK_ISA_SCALAR
#define NSK_RESULTS results_scalar
#include "equal_bits.inc"
