// SPDX-License-Identifier: MIT
// A strided copy of 32-bit elements, of any type; of 16-bit floats to 32-bit ones where the input has them.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_COPY_CONSTANTS)
#include "memory.h"
#include "halves.h"
KERNEL {
  uint i = THREAD;
  if (i >= pc.count) return;
  int i5 = int(i % pc.l5);
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
  if ((HALVES & 1u) != 0u) set_arena(to, packed_at(from));
  else if ((pc.flags & 1u) != 0u) A[to] = W[from];
  else A[to] = A[from];
}
