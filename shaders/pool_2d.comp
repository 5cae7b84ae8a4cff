// SPDX-License-Identifier: MIT
// Pooling: a thread computes one pixel by four channels. MODE: 0 maximum, 1 average over the taps inside the input,
// 2 average over the taps inside the padded input.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_WINDOW_CONSTANTS)
#include "memory.h"
#include "window.h"
#include "load.h"
KERNEL {
  uint quads = (pc.oc + 3u) / 4u, columns = quads_of_group(quads);
  uint quad = GROUP.x * columns + LOCAL.x % columns, number = BLOCK * (64u / columns) + LOCAL.x / columns;
  if (quad >= quads || number >= pc.count) return;
  uint kh = ROWS(pc.kernel), kw = COLUMNS(pc.kernel), left = pc.oc - quad * 4u;
  uint3 pixel = pixel_at(number);
  int2 window = window_of(pixel.y, pixel.x);
  float4 acc = MODE == 0u ? SPLAT(-INFINITE) : SPLAT(0.0);
  float taps = 0.0;
  for (uint ky = 0u; ky < kh; ++ky) {
    for (uint kx = 0u; kx < kw; ++kx) {
      int2 tap = tap_of(window, ky, kx);
      if (MODE == 2u && tap.x < int(pc.ih + ROWS(pc.fill)) && tap.y < int(pc.iw + COLUMNS(pc.fill))) taps += 1.0;
      if (!is_inside(tap)) continue;
      float4 v = load_quad(input_at(pc.x + pixel.z * pc.x_n, tap) + quad * 4u, left);
      if (MODE == 0u)
        acc = float4(v.x > acc.x ? v.x : acc.x, v.y > acc.y ? v.y : acc.y, v.z > acc.z ? v.z : acc.z, v.w > acc.w ? v.w : acc.w);
      else acc += v;
      if (MODE == 1u) taps += 1.0;
    }
  }
  if (MODE != 0u) acc = acc / max(taps, 1.0);
  set_quad(output_at(pixel) + quad * 4u, acc, left);
}
