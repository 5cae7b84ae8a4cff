// SPDX-License-Identifier: MIT
// A region of a texture becomes a tensor: a thread makes one pixel. Bilinear by four texel fetches, because filtering
// units differ from maker to maker.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_TEXTURE_CONSTANTS)
#include "memory.h"
READ_TEXTURE(image)
float4 sampled(float x, float y) {
  float u = clamp(x, 0.0, float(pc.iw - 1)), v = clamp(y, 0.0, float(pc.ih - 1));
  int x1 = int(u), y1 = int(v), x2 = min(x1 + 1, pc.iw - 1), y2 = min(y1 + 1, pc.ih - 1);
  float fx = u - float(x1), fy = v - float(y1);
  float4 a = FETCH(image, x1, y1), b = FETCH(image, x2, y1), c = FETCH(image, x1, y2), d = FETCH(image, x2, y2);
  float4 upper = FMA(b - a, SPLAT(fx), a), lower = FMA(d - c, SPLAT(fx), c);
  return FMA(lower - upper, SPLAT(fy), upper) * 255.0;
}
KERNEL {
  uint number = THREAD;
  if (number >= pc.width * pc.height) return;
  float ox = float(number % pc.width) + 0.5, oy = float(number / pc.width) + 0.5;
  float x = pc.xx * ox + pc.xy * oy + pc.x0, y = pc.yx * ox + pc.yy * oy + pc.y0;
  bool shown = ox >= pc.left && ox < pc.right && oy >= pc.top && oy < pc.bottom;
  if (pc.edge != 0u) shown = shown && x >= 0.0 && x < float(pc.iw) && y >= 0.0 && y < float(pc.ih);
  float4 v = float4(pc.f0, pc.f1, pc.f2, pc.f3);
  if (shown) {
    float4 s = sampled(x - 0.5, y - 0.5);
    float red = pc.swap != 0u ? s.z : s.x, blue = pc.swap != 0u ? s.x : s.z;
    bool reversed = pc.order == 2u || pc.order == 4u;
    if (pc.order == 0u) s.x = 0.299 * red + 0.587 * s.y + 0.114 * blue;
    else s.x = reversed ? blue : red;
    s.z = reversed ? red : blue;
    v = FMA(s, float4(pc.s0, pc.s1, pc.s2, pc.s3), float4(pc.o0, pc.o1, pc.o2, pc.o3));
  }
  uint channels = pc.order == 0u ? 1u : pc.order <= 2u ? 3u : 4u, at = pc.y + number * channels;
  set_arena(at, v.x);
  if (channels > 1u) set_arena(at + 1u, v.y);
  if (channels > 1u) set_arena(at + 2u, v.z);
  if (channels > 3u) set_arena(at + 3u, v.w);
}
