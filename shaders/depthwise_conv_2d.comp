// SPDX-License-Identifier: MIT
// Depthwise convolution: a thread computes one pixel by four channels.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_WINDOW_CONSTANTS)
#include "memory.h"
#include "epilogue.h"
#include "panels.h"
#include "window.h"
#include "load.h"
#include "store.h"
KERNEL {
  uint quads = (pc.oc + 3u) / 4u, columns = quads_of_group(quads);
  uint quad = GROUP.x * columns + LOCAL.x % columns, number = BLOCK * (64u / columns) + LOCAL.x / columns;
  if (quad >= quads || number >= pc.count) return;
  uint3 pixel = pixel_at(number);
  uint kh = ROWS(pc.kernel), kw = COLUMNS(pc.kernel), channel = quad * 4u;
  uint3 panel = panel_of(pc.w, quad, pc.oc, kh * kw);
  int2 window = window_of(pixel.y, pixel.x);
  uint image = pc.x + pixel.z * pc.x_n + channel, k = panel.z;
  float4 acc = W4[panel.x];
  for (uint ky = 0u; ky < kh; ++ky) {
    for (uint kx = 0u; kx < kw; ++kx) {
      int2 tap = tap_of(window, ky, kx);
      float4 w = weights_at(k);
      k += panel.y;
      if (!is_inside(tap)) continue;
      acc = FMA(load_quad(input_at(image, tap), pc.oc - channel), w, acc);
    }
  }
  store_quad(acc, pixel, channel, pc.oc);
}
