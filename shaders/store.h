// SPDX-License-Identifier: MIT
// Stores four channels through the epilogue: `at` is their place in the output, `add` in the residual. Channels from
// `last` on do not exist.
void store_at(float4 v, uint at, uint add, uint channel, uint last) {
  float4 r = SPLAT(0.0), slope = SPLAT(0.0);
  if (RESIDUAL != 0u) r = quad_at(add, last - channel, OUTPUT4 != 0u, (HALVES & 4u) != 0u);
  if (FUNCTION == 3u) {
    uint s = pc.slope + channel;
    slope = float4(weight_at(s), weight_at(s + 1u), weight_at(s + 2u), weight_at(s + 3u));
  }
  if (RESIDUAL == 1u) v += r;
  v = activate4(v, pc.alpha, pc.beta, slope);
  if (RESIDUAL == 2u) v += r;
  set_quad(at, v, last - channel);
}
void store_quad(float4 v, uint3 pixel, uint channel, uint last) {
  store_at(v, output_at(pixel) + channel, residual_at(pixel) + channel, channel, last);
}
