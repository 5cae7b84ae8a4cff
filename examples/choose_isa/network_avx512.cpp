// SPDX-License-Identifier: MIT
#if defined(__x86_64__) || defined(_M_X64)
#define NSK_ISA_AVX512
#define NETWORK_NAME avx512
#include "network.inc"
#endif
