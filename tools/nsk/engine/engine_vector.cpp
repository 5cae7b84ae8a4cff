// SPDX-License-Identifier: MIT
#define NSK_ENGINE_FUNCTION vector_engine
#if defined(__aarch64__)
#define NSK_ISA_NEON
#define NSK_ENGINE_NAME "neon"
#else
#define NSK_ISA_AVX2
#define NSK_ENGINE_NAME "avx2"
#endif
#include "engine/engine.inc"
