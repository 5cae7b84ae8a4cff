// SPDX-License-Identifier: MIT
// Softmax of one dimension, or its logarithm (MODE 1), line by line; it may be in place.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_LINE_CONSTANTS)
#include "memory.h"
#include "line.h"
KERNEL {
  int2 at = line_of(min(LINE, pc.count - 1u));
  float largest = -LARGEST, sum = 0.0;
  for (uint a = FIRST; a < pc.m2; a += STEP) {
    float v = arena_at(uint(at.x + int(a) * pc.s2));
    largest = v > largest ? v : largest;
  }
  largest = OF_LINE(largest, 1u);
  for (uint b = FIRST; b < pc.m2; b += STEP) sum += exp(arena_at(uint(at.x + int(b) * pc.s2)) - largest);
  sum = OF_LINE(sum, 0u);
  float scale = MODE == 1u ? log(sum) : 1.0 / sum;
  if (LINE >= pc.count) return;
  for (uint c = FIRST; c < pc.m2; c += STEP) {
    float x = arena_at(uint(at.x + int(c) * pc.s2)) - largest;
    set_arena(uint(at.y + int(c) * pc.z2), MODE == 1u ? x - scale : exp(x) * scale);
  }
}
