// SPDX-License-Identifier: MIT
// Layer normalization of the last dimension: a thread computes one line, and may do so in place. MODE 1: the mean
// counts as 0.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_LINE_CONSTANTS)
#include "memory.h"
#include "line.h"
KERNEL {
  uint number = THREAD;
  if (number >= pc.count) return;
  int2 at = line_of(number);
  float n = float(pc.m2), mean = 0.0, sum = 0.0;
  if (MODE == 0u) {
    for (int a = 0; a < int(pc.m2); ++a) mean += arena_at(uint(at.x + a * pc.s2));
    mean = mean / n;
  }
  for (int b = 0; b < int(pc.m2); ++b) {
    float d = arena_at(uint(at.x + b * pc.s2)) - mean;
    sum = FMA(d, d, sum);
  }
  float scale = 1.0 / sqrt(sum / n + pc.alpha);
  for (int c = 0; c < int(pc.m2); ++c) {
    float x = (arena_at(uint(at.x + c * pc.s2)) - mean) * scale;
    set_arena(uint(at.y + c * pc.z2), FMA(x, weight_at(pc.scale + uint(c)), weight_at(pc.bias + uint(c))));
  }
}
