// SPDX-License-Identifier: MIT
// Elementwise operators on elements of any type: a thread computes one element, or, where elements are smaller than
// a word, all of one word, whose other bytes it leaves as they are. MODE: 0 conversion, 1 choice (c ? a : b),
// 2 gather (of a by b), 3 fill, 4 comparison, 5 arithmetic.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_TYPED_ELEMENTWISE_CONSTANTS)
#include "wide.h"
#include "typed.h"
#include "convert.h"
// Bits of flags: an operand is in the weights section.
#define A_IN_WEIGHTS 4096u
#define B_IN_WEIGHTS 8192u
#define C_IN_WEIGHTS 16384u

// Position along an axis: negative indices count from the end, others outside are clamped.
int position_of(uint2 index) {
  int n = int(pc.extent), i = int(index.x);
  bool fits = index.y == (i < 0 ? 4294967295u : 0u);
  if (!fits) i = is_negative(index) ? -2147483647 : 2147483647;
  if (i < 0 && i >= -n) i += n;
  return clamp(i, 0, n - 1);
}
uint kind_of_step() { return (pc.flags >> 16) & 15u; }
// Kinds are those of nsk::compare_kind.
uint2 comparison(uint2 a, uint2 b, uint type) {
  bool equal = value_equal(a, b, type), less = value_less(a, b, type);
  bool holds = kind_of_step() == 0u ? equal : kind_of_step() == 1u ? !equal : kind_of_step() == 2u ? less : less || equal;
  return uint2(holds ? 1u : 0u, 0u);
}
// a / b towards zero (kind 3), or the rest with the sign of b (4) or of a (5); 0 where b is.
uint2 quotient(uint2 a, uint2 b, uint kind) {
  if (is_zero(b)) return b;
  uint4 q = magnitude_quotient(wide_magnitude(a), wide_magnitude(b));
  if (kind == 3u) {
    uint2 whole = uint2(q.x, q.y);
    return is_negative(a) != is_negative(b) ? wide_negative(whole) : whole;
  }
  uint2 rest = uint2(q.z, q.w);
  if (is_negative(a)) rest = wide_negative(rest);
  if (kind == 4u && !is_zero(rest) && is_negative(rest) != is_negative(b)) rest = wide_sum(rest, b);
  return rest;
}
// Kinds are those of nsk::arithmetic_kind.
uint2 calculated(uint2 a, uint2 b) {
  uint kind = kind_of_step();
  if (kind == 0u) return wide_sum(a, b);
  if (kind == 1u) return wide_difference(a, b);
  if (kind == 2u) return wide_product(a, b);
  if (kind == 6u) return wide_less(b, a) ? b : a;
  if (kind == 7u) return wide_less(a, b) ? b : a;
  if (kind == 8u) return uint2(a.x & b.x, a.y & b.y);
  if (kind == 9u) return uint2(a.x | b.x, a.y | b.y);
  if (kind == 10u) return uint2(a.x ^ b.x, a.y ^ b.y);
  return quotient(a, b, kind);
}
uint2 operand_at(int i, uint type, uint flag) {
  uint2 v = value_at(uint(i), type, (pc.flags & flag) != 0u);
  return type == 7u && v.x != 0u ? uint2(1u, 0u) : v;
}
uint2 result_at(int i0, int i1, int i2, int i3) {
  if (MODE == 3u) return uint2(pc.low, pc.high);
  uint from = (pc.flags >> 4) & 15u, second = (pc.flags >> 8) & 15u;
  int a = int(pc.a) + i0 * pc.a0 + i1 * pc.a1 + i2 * pc.a2 + i3 * pc.a3;
  int b = int(pc.b) + i0 * pc.b0 + i1 * pc.b1 + i2 * pc.b2 + i3 * pc.b3;
  if (MODE == 0u) return converted(operand_at(a, from, A_IN_WEIGHTS), from, pc.flags & 15u);
  if (MODE == 1u) {
    int c = int(pc.c) + i0 * pc.c0 + i1 * pc.c1 + i2 * pc.c2 + i3 * pc.c3;
    if (operand_at(c, 7u, C_IN_WEIGHTS).x != 0u) return operand_at(a, from, A_IN_WEIGHTS);
    return operand_at(b, second, B_IN_WEIGHTS);
  }
  uint2 y = operand_at(b, second, B_IN_WEIGHTS);
  if (MODE == 2u) return operand_at(a + position_of(y) * pc.along, from, A_IN_WEIGHTS);
  uint2 x = operand_at(a, from, A_IN_WEIGHTS);
  if (MODE == 4u) return comparison(x, y, from);
  return calculated(x, y);
}
KERNEL {
  uint type = pc.flags & 15u, of_word = type == 0u || type == 5u || type == 6u ? 1u : type == 4u ? 2u : 4u;
  uint skew = pc.y % of_word, i = THREAD, bits = 0u, mask = 0u;
  if (i >= (skew + pc.count + of_word - 1u) / of_word) return;
  for (uint k = 0u; k < of_word; ++k) {
    uint e = i * of_word + k - skew;
    if (i * of_word + k < skew || e >= pc.count) continue;
    uint rest = e;
    int i3 = int(rest % pc.l3);
    rest /= pc.l3;
    int i2 = int(rest % pc.l2);
    rest /= pc.l2;
    int i1 = int(rest % pc.l1), i0 = int(rest / pc.l1);
    uint2 v = result_at(i0, i1, i2, i3);
    if (of_word == 1u) {
      uint to = uint(int(pc.y) + i0 * pc.y0 + i1 * pc.y1 + i2 * pc.y2 + i3 * pc.y3);
      if (type == 6u) {
        A[2u * to] = v.x;
        A[2u * to + 1u] = v.y;
      } else {
        A[to] = v.x;
      }
    } else {
      uint element = (type == 4u ? 65535u : 255u), up = k * (32u / of_word);
      bits |= (v.x & element) << up;
      mask |= element << up;
    }
  }
  if (of_word == 1u) return;
  uint at = pc.y / of_word + i;
  A[at] = (A[at] & ~mask) | bits;
}
