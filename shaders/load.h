// SPDX-License-Identifier: MIT
// Four channels of the arena, of which `left` exist. wide: all of them do, and the index is a multiple of four; halves:
// they are 16-bit floats, and index and channels are multiples of two.
#include "halves.h"
float4 quad_at(uint at, uint left, bool wide, bool halves) {
  if (halves) return halves_at(at, wide || left > 2u);
  if (wide) return A4[at >> 2];
  float4 v = SPLAT(0.0);
  v.x = arena_at(at);
  if (left > 1u) v.y = arena_at(at + 1u);
  if (left > 2u) v.z = arena_at(at + 2u);
  if (left > 3u) v.w = arena_at(at + 3u);
  return v;
}
void set_quad(uint at, float4 v, uint left) {
  if ((HALVES & 2u) != 0u) {
    set_halves(at, v, OUTPUT4 != 0u || left > 2u);
    return;
  }
  if (OUTPUT4 != 0u) {
    A4[at >> 2] = v;
    return;
  }
  set_arena(at, v.x);
  if (left > 1u) set_arena(at + 1u, v.y);
  if (left > 2u) set_arena(at + 2u, v.z);
  if (left > 3u) set_arena(at + 3u, v.w);
}
// Of the input.
float4 load_quad(uint at, uint left) { return quad_at(at, left, INPUT4 != 0u, (HALVES & 1u) != 0u); }
