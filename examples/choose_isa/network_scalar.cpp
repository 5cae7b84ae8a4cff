// SPDX-License-Identifier: MIT
#define NSK_ISA_SCALAR
#define NETWORK_NAME scalar
#include "network.inc"
