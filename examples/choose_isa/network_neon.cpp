// SPDX-License-Identifier: MIT
#if defined(__aarch64__) || defined(_M_ARM64)
#define NSK_ISA_NEON
#define NETWORK_NAME neon
#include "network.inc"
#endif
