// SPDX-License-Identifier: MIT
// Where the bias of four output channels is in packed panels (docs/format.md), in float4, and float4 from one row of
// the panel to the next. quad counts groups of four channels.
uint2 panel_of(uint base, uint quad, uint channels, uint depth) {
  uint padded = (channels + 7u) / 8u * 8u, panels = padded <= 16u ? 1u : padded / 16u;
  uint p = min(quad / 4u, panels - 1u), width = p + 1u < panels ? 16u : padded - 16u * p;
  return uint2((base + 16u * p * (depth + 1u) + quad * 4u - 16u * p) / 4u, width / 4u);
}
