// SPDX-License-Identifier: MIT
// A region of a texture becomes a tensor: a thread makes one pixel. Bilinear by four texel fetches, because filtering
// units differ from maker to maker. Places are those of image/impl/sample.hpp, roundings included.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_TEXTURE_CONSTANTS)
#include "memory.h"
#include "fixed_point.h"
READ_TEXTURE(image)
#define SLANTED ((pc.flags & 16u) != 0u)
// Place of a pixel along one axis. In slanted regions it is counted in floats from a whole texel near the first of 64
// pixels.
uint2 place_of(uint2 start, uint2 across, uint2 down, uint column, uint row) {
  uint ahead = SLANTED ? (column - (pc.columns & 65535u)) % 64u : 0u;
  uint2 first = fixed_sum(start, fixed_sum(fixed_product(across, column - ahead), fixed_product(down, row)));
  if (!SLANTED) return first;
  uint base = first.x & ~255u;
  if (int(first.x) < 0 && ((first.x & 255u) | first.y) != 0u) base += 256u;
  uint2 ahead_of_base = fixed_rounded(uint2(first.x - base, first.y));
  uint2 place = fixed_rounded(fixed_sum(ahead_of_base, fixed_product(fixed_rounded(across), ahead)));
  return uint2(place.x + base, place.y);
}
// Whether a place is in the texture: from half a texel before the first centre to half a texel behind the last.
bool is_inside(uint2 place, int length) {
  int texel = fixed_floor(uint2(place.x + 128u, place.y));
  return texel >= 0 && texel < length;
}
int first_texel(uint2 place, int length) { return clamp(fixed_floor(place), 0, length - 1); }
float weight_of_second(uint2 place, int length) {
  int texel = fixed_floor(place);
  return texel < 0 || texel >= length - 1 ? 0.0 : fixed_fraction(place);
}
float4 sampled(uint2 x, uint2 y, int width, int height) {
  int x1 = first_texel(x, width), x2 = min(x1 + 1, width - 1), y1 = first_texel(y, height), y2 = min(y1 + 1, height - 1);
  float4 a = FETCH(image, x1, y1), b = FETCH(image, x2, y1), c = FETCH(image, x1, y2), d = FETCH(image, x2, y2);
  float across = weight_of_second(x, width), down = weight_of_second(y, height);
  float4 upper = FMA(b - a, SPLAT(across), a), lower = FMA(d - c, SPLAT(across), c);
  return FMA(lower - upper, SPLAT(down), upper) * 255.0;
}
bool is_between(uint i, uint first_and_end) { return i >= (first_and_end & 65535u) && i < (first_and_end >> 16u); }
KERNEL {
  uint number = THREAD, tensor_width = pc.size >> 16u;
  if (number >= (pc.size & 65535u) * tensor_width) return;
  uint row = number / tensor_width, column = number % tensor_width, order = pc.flags & 7u;
  int width = int(pc.texture_size >> 16u), height = int(pc.texture_size & 65535u);
  uint2 x = place_of(uint2(pc.x0h, pc.x0l), uint2(pc.xxh, pc.xxl), uint2(pc.xyh, pc.xyl), column, row);
  uint2 y = place_of(uint2(pc.y0h, pc.y0l), uint2(pc.yxh, pc.yxl), uint2(pc.yyh, pc.yyl), column, row);
  bool shown = is_between(row, pc.rows) && is_between(column, pc.columns);
  if ((pc.flags & 32u) != 0u) shown = shown && is_inside(x, width) && is_inside(y, height);
  float4 v = float4(pc.f0, pc.f1, pc.f2, pc.f3);
  if (shown) {
    float4 s = sampled(x, y, width, height);
    bool swapped = (pc.flags & 8u) != 0u, reversed = order == 2u || order == 4u;
    float red = swapped ? s.z : s.x, blue = swapped ? s.x : s.z;
    if (order == 0u) s.x = FMA(blue, 0.114, FMA(s.y, 0.587, red * 0.299));  // luma, as image.hpp has it
    else s.x = reversed ? blue : red;
    s.z = reversed ? red : blue;
    v = FMA(s, float4(pc.s0, pc.s1, pc.s2, pc.s3), float4(pc.o0, pc.o1, pc.o2, pc.o3));
  }
  uint channels = order == 0u ? 1u : order <= 2u ? 3u : 4u, at = pc.y + number * channels;
  set_arena(at, v.x);
  if (channels > 1u) set_arena(at + 1u, v.y);
  if (channels > 1u) set_arena(at + 2u, v.z);
  if (channels > 3u) set_arena(at + 3u, v.w);
}
