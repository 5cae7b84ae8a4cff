// SPDX-License-Identifier: MIT
// Reduction of up to three joined dimensions: a thread reduces one line. MODE: nsk::reduce_kind.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_LINE_CONSTANTS)
#include "memory.h"
#include "epilogue.h"
#include "line.h"
#include "halves.h"
KERNEL {
  uint number = THREAD;
  if (number >= pc.count) return;
  int2 at = line_of(number);
  float acc = MODE == 2u ? -INFINITE : MODE == 3u ? INFINITE : MODE == 4u ? 1.0 : 0.0;
  for (int a = 0; a < int(pc.m0); ++a) {
    for (int b = 0; b < int(pc.m1); ++b) {
      for (int c = 0; c < int(pc.m2); ++c) {
        uint i = uint(at.x + a * pc.s0 + b * pc.s1 + c * pc.s2);
        float v = (HALVES & 1u) != 0u ? packed_at(i) : arena_at(i);
        if (MODE <= 1u) acc += v;
        if (MODE == 2u) acc = v > acc ? v : acc;
        if (MODE == 3u) acc = v < acc ? v : acc;
        if (MODE == 4u) acc *= v;
        if (MODE == 5u) acc = FMA(v, v, acc);
      }
    }
  }
  if (MODE == 0u) acc = acc / float(pc.m0 * pc.m1 * pc.m2);
  float slope = 0.0;
  if (FUNCTION == 3u) slope = weight_at(pc.slope + number % pc.k2);
  set_arena(uint(at.y), activate(acc, pc.alpha, pc.beta, slope));
}
