// SPDX-License-Identifier: MIT
// Empty on AArch64.
#if defined(__x86_64__) || defined(_M_X64)
#define NSK_ISA_AVX512
#define NSK_ENGINE_FUNCTION avx512_engine
#define NSK_ENGINE_NAME "avx512"
#include "engine/engine.inc"
#endif
