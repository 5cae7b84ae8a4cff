// SPDX-License-Identifier: MIT
// Layer normalization of the last dimension, line by line; it may be in place. MODE 1: the mean counts as 0.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_LINE_CONSTANTS)
#include "memory.h"
#include "line.h"
KERNEL {
  int2 at = line_of(min(LINE, pc.count - 1u));
  float n = float(pc.m2), mean = 0.0, sum = 0.0;
  if (MODE == 0u) {
    for (uint a = FIRST; a < pc.m2; a += STEP) mean += arena_at(uint(at.x + int(a) * pc.s2));
    mean = OF_LINE(mean, 0u) / n;
  }
  for (uint b = FIRST; b < pc.m2; b += STEP) {
    float d = arena_at(uint(at.x + int(b) * pc.s2)) - mean;
    sum = FMA(d, d, sum);
  }
  sum = OF_LINE(sum, 0u);
  float scale = 1.0 / sqrt(sum / n + pc.alpha);
  if (LINE >= pc.count) return;
  for (uint c = FIRST; c < pc.m2; c += STEP) {
    float x = (arena_at(uint(at.x + int(c) * pc.s2)) - mean) * scale;
    set_arena(uint(at.y + int(c) * pc.z2), FMA(x, weight_at(pc.scale + c), weight_at(pc.bias + c)));
  }
}
