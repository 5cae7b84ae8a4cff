// SPDX-License-Identifier: MIT
// Elementwise operators. MODE: 0 unary, 1 + nsk::binary_kind, 20 fill with alpha.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_ELEMENTWISE_CONSTANTS)
#include "memory.h"
#include "epilogue.h"
float operand_at(uint i, uint flag) { return (pc.flags & flag) != 0u ? weight_at(i) : arena_at(i); }
// x to the power of z, where HLSL and GLSL define it for positive x only.
float power(float x, float z) {
  float p = pow(abs(x), z);
  if (z == 0.0) p = 1.0;
  if (x < 0.0 && floor(z * 0.5) * 2.0 != z) p = -p;
  return p;
}
float combine(float x, float z) {
  if (MODE == 1u) return x + z;
  if (MODE == 2u) return x - z;
  if (MODE == 3u) return x * z;
  if (MODE == 4u) return x / z;
  if (MODE == 5u) return x < z ? x : z;
  if (MODE == 6u) return x > z ? x : z;
  if (MODE == 7u) return power(x, z);
  return x < 0.0 ? x * z : x;
}
KERNEL {
  uint i = THREAD;
  if (i >= pc.count) return;
  int i3 = int(i % pc.l3);
  i /= pc.l3;
  int i2 = int(i % pc.l2);
  i /= pc.l2;
  int i1 = int(i % pc.l1), i0 = int(i / pc.l1);
  float x = pc.alpha;
  if (MODE != 20u) x = operand_at(uint(int(pc.a) + i0 * pc.a0 + i1 * pc.a1 + i2 * pc.a2 + i3 * pc.a3), 1u);
  if (MODE >= 1u && MODE < 20u)
    x = combine(x, operand_at(uint(int(pc.b) + i0 * pc.b0 + i1 * pc.b1 + i2 * pc.b2 + i3 * pc.b3), 2u));
  if (MODE != 20u) {
    float r = 0.0, slope = 0.0;
    if (RESIDUAL != 0u) r = operand_at(uint(int(pc.r) + i0 * pc.r0 + i1 * pc.r1 + i2 * pc.r2 + i3 * pc.r3), 4u);
    if (FUNCTION == 3u) slope = weight_at(pc.slope + uint(i3));
    if (RESIDUAL == 1u) x += r;
    x = activate(x, pc.alpha, pc.beta, slope);
    if (RESIDUAL == 2u) x += r;
  }
  set_arena(uint(int(pc.y) + i0 * pc.y0 + i1 * pc.y1 + i2 * pc.y2 + i3 * pc.y3), x);
}
