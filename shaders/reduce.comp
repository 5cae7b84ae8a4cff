// SPDX-License-Identifier: MIT
// Reduction of up to three joined dimensions, line by line. MODE: nsk::reduce_kind.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_LINE_CONSTANTS)
#include "memory.h"
#include "epilogue.h"
#include "line.h"
#include "halves.h"
KERNEL {
  uint number = min(LINE, pc.count - 1u), total = pc.m0 * pc.m1 * pc.m2;
  int2 at = line_of(number);
  float acc = MODE == 2u ? -INFINITE : MODE == 3u ? INFINITE : MODE == 4u ? 1.0 : 0.0;
  for (uint k = FIRST; k < total; k += STEP) {
    int from = at.x + int(k) * pc.s2;
    if (total != pc.m2) {
      int c = int(k % pc.m2), b = int(k / pc.m2 % pc.m1), a = int(k / pc.m2 / pc.m1);
      from = at.x + a * pc.s0 + b * pc.s1 + c * pc.s2;
    }
    uint i = uint(from);
    float v = (HALVES & 1u) != 0u ? packed_at(i) : arena_at(i);
    if (MODE <= 1u) acc += v;
    if (MODE == 2u) acc = v > acc ? v : acc;
    if (MODE == 3u) acc = v < acc ? v : acc;
    if (MODE == 4u) acc *= v;
    if (MODE == 5u) acc = FMA(v, v, acc);
  }
  acc = OF_LINE(acc, MODE == 2u ? 1u : MODE == 3u ? 2u : MODE == 4u ? 3u : 0u);
  if (MODE == 0u) acc = acc / float(total);
  float slope = 0.0;
  if (FUNCTION == 3u) slope = weight_at(pc.slope + number % pc.k2);
  if (FIRST == 0u && LINE < pc.count) set_arena(uint(at.y), activate(acc, pc.alpha, pc.beta, slope));
}
