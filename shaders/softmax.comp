// SPDX-License-Identifier: MIT
// Softmax of one dimension, or its logarithm (MODE 1): a thread computes one line, and may do so in place.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_LINE_CONSTANTS)
#include "memory.h"
#include "line.h"
KERNEL {
  uint number = THREAD;
  if (number >= pc.count) return;
  int2 at = line_of(number);
  float largest = -LARGEST, sum = 0.0;
  for (int a = 0; a < int(pc.m2); ++a) {
    float v = arena_at(uint(at.x + a * pc.s2));
    largest = v > largest ? v : largest;
  }
  for (int b = 0; b < int(pc.m2); ++b) sum += exp(arena_at(uint(at.x + b * pc.s2)) - largest);
  float scale = MODE == 1u ? log(sum) : 1.0 / sum;
  for (int c = 0; c < int(pc.m2); ++c) {
    float x = arena_at(uint(at.x + c * pc.s2)) - largest;
    set_arena(uint(at.y + c * pc.z2), MODE == 1u ? x - scale : exp(x) * scale);
  }
}
