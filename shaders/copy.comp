// SPDX-License-Identifier: MIT
// A strided copy of 32-bit elements, of any type; of 16-bit floats to 32-bit ones where the input has them. OUTPUT4: a
// thread copies four neighbours of the last dimension, whose length counts threads; of floats only, since devices may
// change other bits that they see as floats.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_COPY_CONSTANTS)
#include "memory.h"
#include "halves.h"
bool of_weights() { return (pc.flags & 1u) != 0u; }
uint word_at(uint from) { return of_weights() ? W[from] : A[from]; }
float float_at(uint from) { return (HALVES & 1u) != 0u ? packed_at(from) : AS_FLOAT(word_at(from)); }
float4 four_at(uint from) {
  if (INPUT4 != 0u) {
    if ((HALVES & 1u) != 0u) return halves_at(from, true);
    if (of_weights()) return W4[from >> 2];
    return A4[from >> 2];
  }
  uint step = uint(pc.x5);
  return float4(float_at(from), float_at(from + step), float_at(from + 2u * step), float_at(from + 3u * step));
}
KERNEL {
  uint i = THREAD;
  if (i >= pc.count) return;
  uint width = OUTPUT4 != 0u ? 4u : 1u;
  int i5 = int(i % pc.l5 * width);
  i /= pc.l5;
  int i4 = int(i % pc.l4);
  i /= pc.l4;
  int i3 = int(i % pc.l3);
  i /= pc.l3;
  int i2 = int(i % pc.l2);
  i /= pc.l2;
  int i1 = int(i % pc.l1), i0 = int(i / pc.l1);
  uint from = uint(int(pc.x) + i0 * pc.x0 + i1 * pc.x1 + i2 * pc.x2 + i3 * pc.x3 + i4 * pc.x4 + i5 * pc.x5);
  uint to = uint(int(pc.y) + i0 * pc.y0 + i1 * pc.y1 + i2 * pc.y2 + i3 * pc.y3 + i4 * pc.y4 + i5 * pc.y5);
  if (OUTPUT4 != 0u) A4[to >> 2] = four_at(from);
  else if ((HALVES & 1u) != 0u) set_arena(to, packed_at(from));
  else A[to] = word_at(from);
}
