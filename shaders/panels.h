// SPDX-License-Identifier: MIT
// Packed panels (docs/reference/file.md): [bias][depth][width], weights as floats, or where HALVES says so as 16-bit floats.
// quad counts groups of four channels.
#define HALF_WEIGHTS ((HALVES & 16u) != 0u)
// Words of a matrix of `padded` columns.
uint words_of_panels(uint padded, uint depth) { return HALF_WEIGHTS ? padded * (depth + 2u) / 2u : padded * (depth + 1u); }
// Of four output channels: where their bias is, in float4; from one row of the panel to the next, and where the first
// row is: numbers for weights_at.
uint3 panel_of(uint base, uint quad, uint channels, uint depth) {
  uint padded = (channels + 7u) / 8u * 8u, panels = padded <= 16u ? 1u : padded / 16u;
  uint p = min(quad / 4u, panels - 1u), width = (p + 1u < panels ? 16u : padded - 16u * p) / 4u, own = quad - 4u * p;
  uint panel = (base + words_of_panels(16u * p, depth)) / 4u;
  return uint3(panel + own, width, HALF_WEIGHTS ? (panel + width) * 2u + own : panel + width + own);
}
float4 weights_at(uint i) {
  if (!HALF_WEIGHTS) return W4[i];
  float2 a = UNPACK_HALVES(W[2u * i]), b = UNPACK_HALVES(W[2u * i + 1u]);
  return float4(a.x, a.y, b.x, b.y);
}
