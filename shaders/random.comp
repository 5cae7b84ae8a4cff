// SPDX-License-Identifier: MIT
// Random numbers by Philox 4x32-10: a thread computes one element. MODE: nsk::random_kind.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_RANDOM_CONSTANTS)
#include "memory.h"
#include "wide.h"
#include "logarithm.h"
// The four words that ten rounds make of a counter under the key.
uint4 philox(uint4 counter) {
  uint4 c = counter;
  uint low_key = pc.key_low, high_key = pc.key_high;
  for (int i = 0; i < 10; ++i) {
    uint2 a = word_product(3528531795u, c.x), b = word_product(3449720151u, c.z);
    c = uint4(b.y ^ c.y ^ low_key, b.x, a.y ^ c.w ^ high_key, a.x);
    low_key += 2654435769u;
    high_key += 3144134277u;
  }
  return c;
}
// sin(2 pi c) for c in [-1/4, 1/4]: Taylor's series as far as c^13.
float sine_of_turn(float c) {
  float y = c * c, p = FMA(3.81995258, y, -15.0946426);
  p = FMA(p, y, 42.0586939);
  p = FMA(p, y, -76.7058598);
  p = FMA(p, y, 81.6052493);
  p = FMA(p, y, -41.3417022);
  return FMA(p, y, 6.28318531) * c;
}
#define UNIT (1.0 / 16777216.0)
#define QUARTER 0.25
float number_of(uint4 words, uint lane) {
  uint own = lane == 0u ? words.x : lane == 1u ? words.y : lane == 2u ? words.z : words.w;
  if (MODE == 0u) return float(own >> 8) * UNIT;
  if (MODE == 2u) return -logarithm(-logarithm(float((own >> 9) * 2u + 1u) * UNIT));
  uint left = lane < 2u ? words.x : words.z, right = lane < 2u ? words.y : words.w;
  float u = float((left >> 8) + 1u) * UNIT, t = float(right >> 8) * UNIT - ((lane & 1u) != 0u ? QUARTER : 0.0);
  return sqrt(max(-2.0 * logarithm(u), 0.0)) * sine_of_turn(QUARTER - abs(t - ROUND_EVEN(t)));
}
KERNEL {
  uint number = THREAD;
  if (number >= pc.count) return;
  uint row = number / pc.per_row, column = number % pc.per_row, rest = number;
  float z = number_of(philox(uint4(column / 4u, pc.first_row + row, pc.stream, pc.run)), column % 4u);
  int i3 = int(rest % pc.l3);
  rest /= pc.l3;
  int i2 = int(rest % pc.l2);
  rest /= pc.l2;
  int i1 = int(rest % pc.l1), i0 = int(rest / pc.l1);
  set_arena(uint(int(pc.y) + i0 * pc.y0 + i1 * pc.y1 + i2 * pc.y2 + i3 * pc.y3), FMA(pc.scale, z, pc.offset));
}
