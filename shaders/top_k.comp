// SPDX-License-Identifier: MIT
// Positions of the k largest elements of a line (MODE 1: smallest), best first, of equal ones the first. A thread
// counts the elements that are better than one: that is where its position belongs. NaN is above every number.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_RANK_CONSTANTS)
#include "wide.h"
#include "typed.h"
#include "rank.h"
bool is_below(uint2 a, uint2 b) {
  uint type = type_of_line();
  return value_less(a, b, type) || (type == 0u && !is_nan(a.x) && is_nan(b.x));
}
KERNEL {
  uint number = THREAD;
  if (number >= pc.count) return;
  int2 first = first_of_line(number / pc.extent);
  uint own = number % pc.extent, rank = 0u;
  uint2 v = element_of_line(first.x, own);
  for (uint i = 0u; i < pc.extent; ++i) {
    uint2 other = element_of_line(first.x, i);
    bool better = MODE == 1u ? is_below(other, v) : is_below(v, other);
    bool worse = MODE == 1u ? is_below(v, other) : is_below(other, v);
    if (better || (!worse && i < own)) rank += 1u;
  }
  if (rank < pc.kept) set_position(first.y + int(rank) * pc.apart, own);
}
