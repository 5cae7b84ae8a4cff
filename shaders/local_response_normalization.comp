// SPDX-License-Identifier: MIT
// Normalization of an element by the squares of its neighbours in the last dimension: a thread computes one element.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_NEIGHBOUR_CONSTANTS)
#include "memory.h"
KERNEL {
  uint number = THREAD;
  if (number >= pc.count) return;
  int c = int(number % pc.channels);
  uint rest = number / pc.channels;
  int i2 = int(rest % pc.l2), i1 = int(rest / pc.l2 % pc.l1), i0 = int(rest / pc.l2 / pc.l1);
  int x = int(pc.x) + i0 * pc.x0 + i1 * pc.x1 + i2 * pc.x2, begin = c - int((pc.size - 1u) / 2u);
  float sum = 0.0;
  for (int i = begin; i < begin + int(pc.size); ++i) {
    if (i < 0 || i >= int(pc.channels)) continue;
    float v = arena_at(uint(x + i));
    sum = FMA(v, v, sum);
  }
  float s = FMA(pc.alpha, sum, pc.bias);
  set_arena(uint(int(pc.y) + i0 * pc.y0 + i1 * pc.y1 + i2 * pc.y2 + c), arena_at(uint(x + c)) / exp2(pc.beta * log2(s)));
}
