// SPDX-License-Identifier: MIT
// Separable resampling by the tables of the file: a thread computes one pixel by four channels.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_RESIZE_2D_CONSTANTS)
#include "memory.h"
#include "load.h"
KERNEL {
  uint quads = (pc.oc + 3u) / 4u, columns = quads >= 8u ? 8u : quads > 2u ? 4u : quads;
  uint quad = GROUP.x * columns + LOCAL.x % columns, pixel = BLOCK * (64u / columns) + LOCAL.x / columns;
  if (quad >= quads || pixel >= pc.count) return;
  uint ox = pixel % pc.ow, rest = pixel / pc.ow, oy = rest % pc.oh, n = rest / pc.oh, left = pc.oc - quad * 4u;
  float4 sum = SPLAT(0.0);
  for (uint i = 0u; i < pc.row_taps; ++i) {
    uint tap = oy * pc.row_taps + i, row = pc.x + n * pc.x_n + W[pc.row_index + tap] * pc.x_y + quad * 4u;
    float4 across = SPLAT(0.0);
    for (uint j = 0u; j < pc.column_taps; ++j) {
      uint t = ox * pc.column_taps + j;
      float4 v = load_quad(row + W[pc.column_index + t] * pc.x_x, left);
      across = FMA(SPLAT(weight_at(pc.column_weight + t)), v, across);
    }
    sum = FMA(SPLAT(weight_at(pc.row_weight + tap)), across, sum);
  }
  set_quad(pc.y + n * pc.y_n + oy * pc.y_y + ox * pc.y_x + quad * 4u, sum, left);
}
