// SPDX-License-Identifier: MIT
// Convolutions and dense layers of few outputs: a thread computes one pixel by four channels over one slice of the input
// channels, and writes its sum to scratch: float4 [slice][pixel][quad]. sum_slices adds them up. One group of channels,
// panels in the weights section.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_WINDOW_CONSTANTS)
#include "memory.h"
#include "panels.h"
#include "window.h"
#include "load.h"
KERNEL {
  uint quads = (pc.oc + 3u) / 4u, columns = quads_of_group(quads);
  uint quad = GROUP.x * columns + LOCAL.x % columns, number = BLOCK * (64u / columns) + LOCAL.x / columns;
  if (quad >= quads || number >= pc.count * pc.slices) return;
  uint at = number % pc.count, slice = number / pc.count;
  uint length = ((pc.ic + pc.slices - 1u) / pc.slices + 3u) / 4u * 4u;
  uint begin = min(slice * length, pc.ic), end = min(begin + length, pc.ic);
  uint kh = ROWS(pc.kernel), kw = COLUMNS(pc.kernel);
  uint3 panel = panel_of(pc.w, quad, pc.oc, kh * kw * pc.ic);
  uint3 pixel = pixel_at(at);
  int2 window = window_of(pixel.y, pixel.x);
  uint image = pc.x + pixel.z * pc.x_n;
  float4 acc = SPLAT(0.0);
  if (slice == 0u) acc = W4[panel.x];
  for (uint ky = 0u; ky < kh; ++ky) {
    for (uint kx = 0u; kx < kw; ++kx) {
      int2 tap = tap_of(window, ky, kx);
      if (!is_inside(tap)) continue;
      uint base = input_at(image, tap), k = panel.z + panel.y * ((ky * kw + kx) * pc.ic + begin);
      for (uint c = begin; c < end; c += 4u) {
        float4 v = load_quad(base + c, pc.ic - c);
        acc = FMA(SPLAT(v.x), weights_at(k), acc);
        if (INPUT4 != 0u || c + 1u < pc.ic) acc = FMA(SPLAT(v.y), weights_at(k + panel.y), acc);
        if (INPUT4 != 0u || c + 2u < pc.ic) acc = FMA(SPLAT(v.z), weights_at(k + 2u * panel.y), acc);
        if (INPUT4 != 0u || c + 3u < pc.ic) acc = FMA(SPLAT(v.w), weights_at(k + 3u * panel.y), acc);
        k += 4u * panel.y;
      }
    }
  }
  A4[pc.scratch / 4u + number * quads + quad] = acc;
}
