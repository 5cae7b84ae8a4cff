// SPDX-License-Identifier: MIT
// Winograd's convolution, first of three dispatches: cells of the input become points in scratch.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_WINDOW_CONSTANTS)
#include "memory.h"
#include "window.h"
#include "load.h"
#include "winograd.h"
// Row i of B' times a column of inputs; coefficients as in the matrix. (Statements behind a return crash DXC.)
float4 point_of(int i, float4 a, float4 b, float4 c, float4 d, float4 e, float4 f) {
#if PIXELS == 2
  return i == 0 ? a - c : i == 1 ? b + c : i == 2 ? c - b : b - d;
#else
  if (i == 0) return FMA(SPLAT(4.0), a, FMA(SPLAT(-5.0), c, e));
  if (i == 5) return FMA(SPLAT(4.0), b, FMA(SPLAT(-5.0), d, f));
  if (i == 1) return FMA(SPLAT(-4.0), c, e) + FMA(SPLAT(-4.0), b, d);
  if (i == 2) return FMA(SPLAT(-4.0), c, e) - FMA(SPLAT(-4.0), b, d);
  return FMA(SPLAT(i == 3 ? 2.0 : -2.0), d - b, e - c);
#endif
}
KERNEL {
  uint lane = LOCAL.x / ITEMS, quads = (pc.ic + 3u) / 4u, item = LOCAL.x % ITEMS;
  uint number = (GROUP.x + GROUP.y * 65535u) * ITEMS + item, cell = number / quads, quad = number % quads;
  bool works = lane < SIDE && cell < pc.count;
  float4 d[6];
  d[4] = SPLAT(0.0);
  d[5] = SPLAT(0.0);
  if (works) {
    uint3 first = first_pixel(cell);
    int2 corner = window_of(first.y, first.x);
    uint image = pc.x + first.z * pc.x_n + quad * 4u;
    for (int y = 0; y < PIXELS + 2; ++y) {
      int2 tap = int2(corner.x + y, corner.y + int(lane));
      float4 v = SPLAT(0.0);
      if (is_inside(tap)) v = load_quad(input_at(image, tap), pc.ic - quad * 4u);
      d[y] = v;
    }
    for (int i = 0; i < PIXELS + 2; ++i) between[between_at(uint(i), lane, item)] = point_of(i, d[0], d[1], d[2], d[3], d[4], d[5]);
  }
  BARRIER;
  if (!works) return;
  for (int x = 0; x < PIXELS + 2; ++x) d[x] = between[between_at(lane, uint(x), item)];
  for (int j = 0; j < PIXELS + 2; ++j)
    A4[scratch_at(lane, uint(j), cell, quads) + quad] = point_of(j, d[0], d[1], d[2], d[3], d[4], d[5]);
}
