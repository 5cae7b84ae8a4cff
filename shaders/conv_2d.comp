// SPDX-License-Identifier: MIT
// Convolution, dense layer and matrix product: a thread computes PIXELS pixels by four channels in registers. Each
// output is one chain of multiply-adds in the CPU's order: kernel rows, kernel columns, input channels.
// MODE 1: the panels are in the arena (right side of a matrix product).
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_WINDOW_CONSTANTS)
#include "memory.h"
#include "epilogue.h"
#include "panels.h"
#include "window.h"
#include "load.h"
#include "store.h"
float4 panel_at(uint i) {
  if (MODE == 1u) return A4[i];
  return weights_at(i);
}
KERNEL {
  uint per_group = (pc.oc + 3u) / 4u, quads = per_group * pc.groups, columns = quads_of_group(quads);
  uint quad_all = GROUP.x * columns + LOCAL.x % columns;
  uint first = (BLOCK * (64u / columns) + LOCAL.x / columns) * uint(PIXELS);
  if (quad_all >= quads || first >= pc.count) return;
  uint g = quad_all / per_group, quad = quad_all % per_group;
  uint kh = ROWS(pc.kernel), kw = COLUMNS(pc.kernel), depth = kh * kw * pc.ic, padded = (pc.oc + 7u) / 8u * 8u;
  uint panels = pc.w + first / (pc.ow * pc.oh) * pc.w_n + g * words_of_panels(padded, depth);
  uint3 panel = panel_of(panels, quad, pc.oc, depth);
  float4 bias = SPLAT(0.0);
  if (MODE == 1u) bias = A4[panel.x];
  else bias = W4[panel.x];
  int2 window[PIXELS];
  uint image[PIXELS];
  float4 acc[PIXELS];
  uint3 pixel = pixel_at(first), next = pixel;
  for (int i = 0; i < PIXELS; ++i) {
    window[i] = window_of(next.y, next.x);
    image[i] = pc.x + next.z * pc.x_n + g * pc.ic;
    acc[i] = bias;
    if (first + uint(i) + 1u < pc.count) next = pixel_after(next);
  }
  uint k = panel.z;
  for (uint ky = 0u; ky < kh; ++ky) {
    for (uint kx = 0u; kx < kw; ++kx) {
      uint base[PIXELS];
      bool inside[PIXELS];
      for (int j = 0; j < PIXELS; ++j) {
        int2 tap = tap_of(window[j], ky, kx);
        inside[j] = is_inside(tap);
        base[j] = inside[j] ? input_at(image[j], tap) : image[j];
      }
      if (INPUT4 != 0u) {
        for (uint c = 0u; c < pc.ic; c += 4u) {
          float4 w0 = panel_at(k), w1 = panel_at(k + panel.y);
          float4 w2 = panel_at(k + 2u * panel.y), w3 = panel_at(k + 3u * panel.y);
          k += 4u * panel.y;
          for (int p = 0; p < PIXELS; ++p) {
            float4 v = load_quad(base[p] + c, 4u);
            if (!inside[p]) v = SPLAT(0.0);
            acc[p] = FMA(SPLAT(v.x), w0, acc[p]);
            acc[p] = FMA(SPLAT(v.y), w1, acc[p]);
            acc[p] = FMA(SPLAT(v.z), w2, acc[p]);
            acc[p] = FMA(SPLAT(v.w), w3, acc[p]);
          }
        }
      } else {
        for (uint d = 0u; d < pc.ic; ++d) {
          float4 w = panel_at(k);
          k += panel.y;
          for (int q = 0; q < PIXELS; ++q) {
            float x = 0.0;
            if (inside[q]) x = (HALVES & 1u) != 0u ? packed_at(base[q] + d) : arena_at(base[q] + d);
            acc[q] = FMA(SPLAT(x), w, acc[q]);
          }
        }
      }
    }
  }
  for (int o = 0; o < PIXELS; ++o) {
    if (first + uint(o) < pc.count) store_quad(acc[o], pixel, g * pc.oc + quad * 4u, (g + 1u) * pc.oc);
    pixel = pixel_after(pixel);
  }
}
