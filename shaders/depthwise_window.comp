// SPDX-License-Identifier: MIT
// The same sums as depthwise_conv_2d, with the same bits, for windows that are constants: a thread computes two
// neighbours of a row by four channels, and reads the columns that both need once. WINDOW: 1, 2: 3 x 3 of stride 1, 2;
// 3, 4: 5 x 5 of stride 1, 2; dilation 1.
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
  int size = WINDOW > 2u ? 5 : 3, stride = (WINDOW & 1u) != 0u ? 1 : 2;
  uint quads = (pc.oc + 3u) / 4u, columns = quads_of_group(quads), pairs = (pc.ow + 1u) / 2u;
  uint quad = GROUP.x * columns + LOCAL.x % columns, number = BLOCK * (64u / columns) + LOCAL.x / columns;
  if (quad >= quads || number >= pc.count / pc.ow * pairs) return;
  uint rest = number / pairs, channel = quad * 4u;
  uint3 pixel = uint3(number % pairs * 2u, rest % pc.oh, rest / pc.oh);
  uint3 panel = panel_of(pc.w, quad, pc.oc, uint(size * size));
  int2 first = window_of(pixel.y, pixel.x);
  uint image = pc.x + pixel.z * pc.x_n + channel, k = panel.z;
  uint at[7];
  bool inside[7];
  for (int i = 0; i < size + stride; ++i) {
    inside[i] = first.y + i >= 0 && first.y + i < int(pc.iw);
    at[i] = inside[i] ? uint(first.y + i) * pc.x_x : 0u;
  }
  float4 left = W4[panel.x], right = left;
  for (int ky = 0; ky < size; ++ky) {
    int iy = first.x + ky;
    if (iy < 0 || iy >= int(pc.ih)) {
      k += uint(size) * panel.y;
      continue;
    }
    float4 v[7];
    uint row = image + uint(iy) * pc.x_y;
    for (int c = 0; c < size + stride; ++c) {
      v[c] = load_quad(row + at[c], pc.oc - channel);
      if (!inside[c]) v[c] = SPLAT(0.0);
    }
    for (int kx = 0; kx < size; ++kx) {
      float4 w = weights_at(k);
      k += panel.y;
      left = FMA(v[kx], w, left);
      right = FMA(v[kx + stride], w, right);
    }
  }
  uint to = output_at(pixel) + channel, add = residual_at(pixel) + channel;
  store_at(left, to, add, channel, pc.oc);
  if (pixel.x + 1u < pc.ow) store_at(right, to + pc.y_x, add + pc.r_x, channel, pc.oc);
}
