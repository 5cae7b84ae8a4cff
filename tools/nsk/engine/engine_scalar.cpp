// SPDX-License-Identifier: MIT
#define NSK_ISA_SCALAR
#define NSK_KEEP_USER_OPT  // for comparison, not for speed: compiles in half the time
#define NSK_ENGINE_FUNCTION scalar_engine
#define NSK_ENGINE_NAME "scalar"
#include "engine/engine.inc"
