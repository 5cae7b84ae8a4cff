// SPDX-License-Identifier: MIT
// What a group of 64 pixels by 32 channels shares: a slice of 16 input channels, and its weights.
GROUP_SHARED float4 inputs[64 * 5];   // [pixel][4 channel quads, and one against bank conflicts]
GROUP_SHARED float4 weights[16 * 8];  // [input channel][output quad]
