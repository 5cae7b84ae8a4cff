// SPDX-License-Identifier: MIT
// Winograd's convolution, last of three dispatches: products in scratch become cells of the output.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_WINDOW_CONSTANTS)
#include "memory.h"
#include "epilogue.h"
#include "panels.h"
#include "window.h"
#include "load.h"
#include "store.h"
#include "winograd.h"
// Row i of A' times a column of products; coefficients as in the matrix.
float4 output_of(int i, float4 a, float4 b, float4 c, float4 d, float4 e, float4 f) {
#if PIXELS == 2
  return i == 0 ? a + b + c : b - c - d;
#else
  if (i == 0) return a + (b + c) + (d + e);
  if (i == 1) return FMA(SPLAT(2.0), d - e, b - c);
  if (i == 2) return FMA(SPLAT(4.0), d + e, b + c);
  return FMA(SPLAT(8.0), d - e, b - c) + f;
#endif
}
KERNEL {
  uint lane = LOCAL.x / ITEMS, quads = (pc.oc + 3u) / 4u, item = LOCAL.x % ITEMS;
  uint number = (GROUP.x + GROUP.y * 65535u) * ITEMS + item, cell = number / quads, quad = number % quads;
  bool works = lane < SIDE && cell < pc.count;
  float4 m[6];
  m[4] = SPLAT(0.0);
  m[5] = SPLAT(0.0);
  if (works) {
    for (int y = 0; y < PIXELS + 2; ++y) m[y] = A4[scratch_at(uint(y), lane, cell, quads) + quad];
    for (int i = 0; i < PIXELS; ++i) between[between_at(uint(i), lane, item)] = output_of(i, m[0], m[1], m[2], m[3], m[4], m[5]);
  }
  BARRIER;
  uint3 pixel = first_pixel(cell);
  pixel.y += lane;
  if (!works || lane >= uint(PIXELS) || pixel.y >= pc.oh) return;
  for (int x = 0; x < PIXELS + 2; ++x) m[x] = between[between_at(lane, uint(x), item)];
  float4 bias = W4[panel_of(pc.w, quad, pc.oc, SIDE * SIDE * pc.ic).x];
  for (int j = 0; j < PIXELS; ++j) {
    if (pixel.x < pc.ow) store_quad(output_of(j, m[0], m[1], m[2], m[3], m[4], m[5]) + bias, pixel, quad * 4u, pc.oc);
    pixel.x += 1u;
  }
}
