// SPDX-License-Identifier: MIT
// Part of a kernel's body, between two barriers: adds the product of a slice to acc[8], which are the pixels from
// row * 8 on by the output quad `column`.
for (uint s = 0u; s < 4u; ++s) {
  float4 w0 = weights[(4u * s) * 8u + column], w1 = weights[(4u * s + 1u) * 8u + column];
  float4 w2 = weights[(4u * s + 2u) * 8u + column], w3 = weights[(4u * s + 3u) * 8u + column];
  for (int p = 0; p < 8; ++p) {
    float4 x = inputs[(row * 8u + uint(p)) * 5u + s];
    acc[p] = FMA(SPLAT(x.x), w0, acc[p]);
    acc[p] = FMA(SPLAT(x.y), w1, acc[p]);
    acc[p] = FMA(SPLAT(x.z), w2, acc[p]);
    acc[p] = FMA(SPLAT(x.w), w3, acc[p]);
  }
}
