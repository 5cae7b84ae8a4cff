// SPDX-License-Identifier: MIT
// Separable resampling by the tables of the file: a thread computes one pixel by one channel.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_RESIZE_2D_CONSTANTS)
#include "memory.h"
KERNEL {
  uint columns = pc.oc >= 8u ? 8u : pc.oc > 2u ? 4u : pc.oc;
  uint c = GROUP.x * columns + LOCAL.x % columns, pixel = BLOCK * (64u / columns) + LOCAL.x / columns;
  if (c >= pc.oc || pixel >= pc.count) return;
  uint ox = pixel % pc.ow, rest = pixel / pc.ow, oy = rest % pc.oh, n = rest / pc.oh;
  float sum = 0.0;
  for (uint i = 0u; i < pc.row_taps; ++i) {
    uint tap = oy * pc.row_taps + i, row = pc.x + n * pc.x_n + W[pc.row_index + tap] * pc.x_y + c;
    float across = 0.0;
    for (uint j = 0u; j < pc.column_taps; ++j) {
      uint t = ox * pc.column_taps + j;
      across = FMA(weight_at(pc.column_weight + t), arena_at(row + W[pc.column_index + t] * pc.x_x), across);
    }
    sum = FMA(weight_at(pc.row_weight + tap), across, sum);
  }
  set_arena(pc.y + n * pc.y_n + oy * pc.y_y + ox * pc.y_x + c, sum);
}
