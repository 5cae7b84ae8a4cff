// SPDX-License-Identifier: MIT
// Elementwise operators. MODE: 0 unary, 1 + nsk::binary_kind, 20 fill with alpha. INPUT4: a thread computes 0: one
// element, 1: four neighbours of the last dimension, 2: two; the length of that dimension counts threads, and the output
// has a stride of 1 there. flags: bits 3, 4 and 5 say that a, b and the residual do not start at multiples of four.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_ELEMENTWISE_CONSTANTS)
#include "memory.h"
#define EVERY_FUNCTION
#include "epilogue.h"
#include "load.h"
float element_at(int i, bool weights, bool halves) {
  if (weights) return weight_at(uint(i));
  if (halves) return packed_at(uint(i));
  return arena_at(uint(i));
}
float4 operand_at(int at, int stride, uint flag, uint packed_bit) {
  bool weights = (pc.flags & flag) != 0u, halves = (HALVES & packed_bit) != 0u;
  if (INPUT4 == 1u && stride == 1 && (pc.flags & flag << 3) == 0u) {
    if (weights) return W4[at >> 2];
    if (halves) return halves_at(uint(at), true);
    return A4[at >> 2];
  }
  float4 v = SPLAT(element_at(at, weights, halves));
  if (INPUT4 == 0u || stride == 0) return v;
  v.y = element_at(at + stride, weights, halves);
  if (INPUT4 == 2u) return v;
  v.z = element_at(at + 2 * stride, weights, halves);
  v.w = element_at(at + 3 * stride, weights, halves);
  return v;
}
// x to the power of z, where HLSL and GLSL define it for positive x only: negative x have powers of whole numbers alone.
float power(float x, float z) {
  float p = pow(abs(x), z);
  if (z == 0.0) p = 1.0;
  if (x < 0.0 && floor(z * 0.5) * 2.0 != z) p = floor(z) == z ? -p : NOT_A_NUMBER;
  return p;
}
float4 choose_less(float4 x, float4 z, float4 a, float4 b) {
  return float4(x.x < z.x ? a.x : b.x, x.y < z.y ? a.y : b.y, x.z < z.z ? a.z : b.z, x.w < z.w ? a.w : b.w);
}
float4 combine(float4 x, float4 z) {
  if (MODE == 1u) return x + z;
  if (MODE == 2u) return x - z;
  if (MODE == 3u) return x * z;
  if (MODE == 4u) return x / z;
  if (MODE == 5u) return choose_less(x, z, x, z);
  if (MODE == 6u) return choose_less(z, x, x, z);
  if (MODE == 7u) return float4(power(x.x, z.x), power(x.y, z.y), power(x.z, z.z), power(x.w, z.w));
  if (MODE == 9u) return float4(angle_of(x.x, z.x), angle_of(x.y, z.y), angle_of(x.z, z.z), angle_of(x.w, z.w));
  return where_negative(x, x * z, x);
}
KERNEL {
  uint i = THREAD;
  if (i >= pc.count) return;
  uint width = INPUT4 == 1u ? 4u : INPUT4 == 2u ? 2u : 1u;
  int i3 = int(i % pc.l3 * width);
  i /= pc.l3;
  int i2 = int(i % pc.l2);
  i /= pc.l2;
  int i1 = int(i % pc.l1), i0 = int(i / pc.l1);
  float4 x = SPLAT(pc.alpha);
  if (MODE != 20u) x = operand_at(int(pc.a) + i0 * pc.a0 + i1 * pc.a1 + i2 * pc.a2 + i3 * pc.a3, pc.a3, 1u, 1u);
  if (MODE >= 1u && MODE < 20u)
    x = combine(x, operand_at(int(pc.b) + i0 * pc.b0 + i1 * pc.b1 + i2 * pc.b2 + i3 * pc.b3, pc.b3, 2u, 8u));
  if (MODE != 20u) {
    float4 r = SPLAT(0.0), slope = SPLAT(0.0);
    if (RESIDUAL != 0u) r = operand_at(int(pc.r) + i0 * pc.r0 + i1 * pc.r1 + i2 * pc.r2 + i3 * pc.r3, pc.r3, 4u, 4u);
    if (FUNCTION == 3u) {
      uint s = pc.slope + uint(i3);
      slope = SPLAT(weight_at(s));
      if (width > 1u) slope.y = weight_at(s + 1u);
      if (width > 2u) slope.z = weight_at(s + 2u);
      if (width > 3u) slope.w = weight_at(s + 3u);
    }
    if (RESIDUAL == 1u) x += r;
    x = activate4(x, pc.alpha, pc.beta, slope);
    if (RESIDUAL == 2u) x += r;
  }
  uint to = uint(int(pc.y) + i0 * pc.y0 + i1 * pc.y1 + i2 * pc.y2 + i3 * pc.y3);
  set_quad(to, x, width);
}
