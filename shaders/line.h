// SPDX-License-Identifier: MIT
// Lines of a reduction. A thread computes one, or, where the macro PIXELS is 64, a group of threads does.
#if !defined(PIXELS)
#define PIXELS 0
#endif
#if PIXELS == 64
#include "group.h"
#define STEP 64u
#define FIRST LOCAL.x
#define LINE (GROUP.x + GROUP.y * 65535u)
#define OF_LINE(v, kind) of_group(v, LOCAL.x, kind)
#else
#define STEP 1u
#define FIRST 0u
#define LINE THREAD
#define OF_LINE(v, kind) (v)
#endif
// Where a line begins: x in the input, y in the output; and its number in the innermost kept dimension.
int2 line_of(uint number) {
  int i2 = int(number % pc.k2), i1 = int(number / pc.k2 % pc.k1), i0 = int(number / pc.k2 / pc.k1);
  return int2(int(pc.x) + i0 * pc.x0 + i1 * pc.x1 + i2 * pc.x2, int(pc.y) + i0 * pc.y0 + i1 * pc.y1 + i2 * pc.y2);
}
