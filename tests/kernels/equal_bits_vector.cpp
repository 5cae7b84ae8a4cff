// SPDX-License-Identifier: MIT
// The instruction set of this program, or the platform's vectors where that is scalar.
#if defined(NSK_ISA_SCALAR)
#undef NSK_ISA_SCALAR
#endif
#define NSK_RESULTS results_vector
#include "equal_bits.inc"
