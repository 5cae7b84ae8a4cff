// SPDX-License-Identifier: MIT
// Four channels of the arena; of those, `left` exist. INPUT4: all of them do, and the index is a multiple of four.
float4 load_quad(uint at, uint left) {
  if (INPUT4 != 0u) return A4[at >> 2];
  float4 v = SPLAT(0.0);
  v.x = arena_at(at);
  if (left > 1u) v.y = arena_at(at + 1u);
  if (left > 2u) v.z = arena_at(at + 2u);
  if (left > 3u) v.w = arena_at(at + 3u);
  return v;
}
