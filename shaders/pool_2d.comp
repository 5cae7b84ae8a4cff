// SPDX-License-Identifier: MIT
// Pooling: a thread computes one pixel by one channel. MODE: 0 maximum, 1 average over the taps inside the input,
// 2 average over the taps inside the padded input.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_WINDOW_CONSTANTS)
#include "memory.h"
#include "window.h"
KERNEL {
  uint columns = pc.oc >= 8u ? 8u : quads_of_group(pc.oc);
  uint c = GROUP.x * columns + LOCAL.x % columns, pixel = BLOCK * (64u / columns) + LOCAL.x / columns;
  if (c >= pc.oc || pixel >= pc.count) return;
  uint kh = ROWS(pc.kernel), kw = COLUMNS(pc.kernel);
  uint ox = pixel % pc.ow, rest = pixel / pc.ow, oy = rest % pc.oh, n = rest / pc.oh;
  int2 window = window_of(oy, ox);
  float acc = MODE == 0u ? -LARGEST : 0.0, taps = 0.0;
  for (uint ky = 0u; ky < kh; ++ky) {
    for (uint kx = 0u; kx < kw; ++kx) {
      int2 tap = tap_of(window, ky, kx);
      if (MODE == 2u && tap.x < int(pc.ih + ROWS(pc.fill)) && tap.y < int(pc.iw + COLUMNS(pc.fill))) taps += 1.0;
      if (!is_inside(tap)) continue;
      float v = arena_at(input_at(pc.x + n * pc.x_n, tap) + c);
      if (MODE == 0u) acc = v > acc ? v : acc;
      else acc += v;
      if (MODE == 1u) taps += 1.0;
    }
  }
  if (MODE != 0u) acc = acc / max(taps, 1.0);
  set_arena(pc.y + n * pc.y_n + oy * pc.y_y + ox * pc.y_x + c, acc);
}
