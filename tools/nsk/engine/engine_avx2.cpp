// SPDX-License-Identifier: MIT
#define NSK_ISA_AVX2
#define NSK_ENGINE_FUNCTION avx2_engine
#define NSK_ENGINE_NAME "avx2"
#include "engine/engine.inc"
