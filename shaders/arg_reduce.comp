// SPDX-License-Identifier: MIT
// Position of the largest (MODE 0) or smallest (1) element of a line, of equal ones the first; MODE 2 and 3: the last.
// A thread computes one line. NaN is never better than anything.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_RANK_CONSTANTS)
#include "wide.h"
#include "typed.h"
#include "rank.h"
KERNEL {
  uint number = THREAD;
  if (number >= pc.count) return;
  int2 first = first_of_line(number);
  uint type = type_of_line(), best = 0u;
  uint2 found = element_of_line(first.x, 0u);
  for (uint i = 1u; i < pc.extent; ++i) {
    uint2 v = element_of_line(first.x, i);
    bool better = (MODE & 1u) == 0u ? value_less(found, v, type) : value_less(v, found, type);
    if (MODE >= 2u && value_equal(found, v, type)) better = true;
    if (better) {
      found = v;
      best = i;
    }
  }
  set_position(first.y, best);
}
