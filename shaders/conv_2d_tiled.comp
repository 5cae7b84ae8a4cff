// SPDX-License-Identifier: MIT
// The same sums as conv_2d, with the same bits: 64 pixels by 32 channels per group, 8 x 4 outputs per thread, slices of
// 16 input channels in group memory. One group of channels, panels in the weights section.
// MODE 1: the products of Winograd's convolution. Pixels are cells, images the `slices` points, each with the rows of its
// own in the panels; what bias and epilogue are added to comes later.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_WINDOW_CONSTANTS)
#include "memory.h"
#include "epilogue.h"
#include "panels.h"
#include "window.h"
#include "load.h"
#include "store.h"
#include "tile.h"
KERNEL {
  uint t = LOCAL.x, column = t % 8u, row = t / 8u, block = BLOCK, quad0 = GROUP.x * 8u, point_number = 0u;
  uint kh = ROWS(pc.kernel), kw = COLUMNS(pc.kernel), depth = kh * kw * pc.ic, quads = (pc.oc + 3u) / 4u;
  if (MODE == 1u) {
    uint blocks = (pc.count + 63u) / 64u;
    point_number = block / blocks;
    block = block % blocks;
    depth = pc.slices * pc.ic;
    kh = 1u;
    kw = 1u;
  }
  uint pixel0 = block * 64u;
  // This thread's outputs, and the pixel and the column of weights that it brings.
  uint3 panel = panel_of(pc.w, min(quad0 + column, quads - 1u), pc.oc, depth);
  float4 acc[8];
  float4 bias = SPLAT(0.0);
  if (MODE != 1u) bias = W4[panel.x];
  for (int b = 0; b < 8; ++b) acc[b] = bias;
  uint3 pixel = pixel_at(min(pixel0 + t, pc.count - 1u));
  int2 window = window_of(pixel.y, pixel.x);
  uint image = pc.x + (pixel.z + point_number) * pc.x_n, k = row + point_number * pc.ic;
  for (uint ky = 0u; ky < kh; ++ky) {
    for (uint kx = 0u; kx < kw; ++kx) {
      int2 tap = tap_of(window, ky, kx);
      bool inside = is_inside(tap);
      uint base = inside ? input_at(image, tap) : image;
      for (uint c = 0u; c < pc.ic; c += 16u) {
        for (uint q = 0u; q < 4u; ++q) {
          uint channel = c + 4u * q;
          float4 v = SPLAT(0.0);
          if (inside && channel < pc.ic) v = load_quad(base + channel, pc.ic - channel);
          inputs[t * 5u + q] = v;
        }
        for (uint h = 0u; h < 2u; ++h) {
          float4 w = SPLAT(0.0);
          if (c + row + 8u * h < pc.ic) w = weights_at(panel.z + panel.y * (k + 8u * h));
          weights[(row + 8u * h) * 8u + column] = w;
        }
        k += min(16u, pc.ic - c);
        BARRIER;
#include "tile_product.h"
        BARRIER;
      }
    }
  }
  uint first = pixel0 + row * 8u;
  pixel = pixel_at(first);
  pixel.z += point_number;
  for (int o = 0; o < 8; ++o) {
    if (first + uint(o) < pc.count && quad0 + column < quads) store_quad(acc[o], pixel, (quad0 + column) * 4u, pc.oc);
    pixel = pixel_after(pixel);
  }
}
