// SPDX-License-Identifier: MIT
// Stores four channels through the epilogue: `at` is their place in the output, `add` in the residual. Channels from
// `last` on do not exist.
void store_at(float4 v, uint at, uint add, uint channel, uint last) {
  float4 r = SPLAT(0.0), slope = SPLAT(0.0);
  if (RESIDUAL != 0u) {
    if (OUTPUT4 != 0u) {
      r = A4[add >> 2];
    } else {
      r.x = arena_at(add);
      if (channel + 1u < last) r.y = arena_at(add + 1u);
      if (channel + 2u < last) r.z = arena_at(add + 2u);
      if (channel + 3u < last) r.w = arena_at(add + 3u);
    }
  }
  if (FUNCTION == 3u) {
    uint s = pc.slope + channel;
    slope = float4(weight_at(s), weight_at(s + 1u), weight_at(s + 2u), weight_at(s + 3u));
  }
  if (RESIDUAL == 1u) v += r;
  v = activate4(v, pc.alpha, pc.beta, slope);
  if (RESIDUAL == 2u) v += r;
  if (OUTPUT4 != 0u) {
    A4[at >> 2] = v;
    return;
  }
  set_arena(at, v.x);
  if (channel + 1u < last) set_arena(at + 1u, v.y);
  if (channel + 2u < last) set_arena(at + 2u, v.z);
  if (channel + 3u < last) set_arena(at + 3u, v.w);
}
// Places of a pixel in output and residual.
uint output_at(uint3 p) { return pc.y + p.z * pc.y_n + p.y * pc.y_y + p.x * pc.y_x; }
uint residual_at(uint3 p) { return pc.r + p.z * pc.r_n + p.y * pc.r_y + p.x * pc.r_x; }
void store_quad(float4 v, uint3 pixel, uint channel, uint last) {
  store_at(v, output_at(pixel) + channel, residual_at(pixel) + channel, channel, last);
}
