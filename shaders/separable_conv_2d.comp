// SPDX-License-Identifier: MIT
// A depthwise convolution and the 1 x 1 convolution that reads it, with the bits of both: conv_2d_tiled, whose slices of
// 16 channels are computed instead of read. A thread computes four neighbours of a row by four channels of a slice, and
// reads the columns that they share once. WINDOW as in depthwise_window; MODE: function of the depthwise convolution.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_SEPARABLE_CONSTANTS)
#include "memory.h"
#include "epilogue.h"
#include "panels.h"
#include "window.h"
#include "load.h"
#include "store.h"
#include "tile.h"
KERNEL {
  int size = WINDOW > 2u ? 5 : 3, step = (WINDOW & 1u) != 0u ? 1 : 2, run = WINDOW > 2u ? 2 : 4;
  uint t = LOCAL.x, column = t % 8u, row = t / 8u, pixel0 = BLOCK * 64u, quad0 = GROUP.x * 8u;
  uint quads = (pc.oc + 3u) / 4u;
  uint3 panel = panel_of(pc.w, min(quad0 + column, quads - 1u), pc.oc, pc.ic);
  float4 acc[8];
  float4 bias = W4[panel.x];
  for (int b = 0; b < 8; ++b) acc[b] = bias;
  // The neighbours that this thread computes, and the columns that they read.
  uint place = t / uint(run) * uint(run);
  uint3 pixel = pixel_at(min(pixel0 + place, pc.count - uint(run)));
  int2 first = window_of(pixel.y, pixel.x);
  uint image = pc.x + pixel.z * pc.x_n;
  uint at[9];
  bool inside[9];
  for (int i = 0; i < size + (run - 1) * step; ++i) {
    inside[i] = first.y + i >= 0 && first.y + i < int(pc.iw);
    at[i] = inside[i] ? uint(first.y + i) * pc.x_x : 0u;
  }
  for (uint c = 0u; c < pc.ic; c += 16u) {
    for (uint quad = t % uint(run); quad < 4u; quad += uint(run)) {
      uint channel = c + quad * 4u;
      float4 v[4];
      for (int j = 0; j < run; ++j) v[j] = SPLAT(0.0);
      if (channel < pc.ic) {
        uint3 window = panel_of(pc.w0, channel / 4u, pc.ic, uint(size * size));
        for (int e = 0; e < run; ++e) v[e] = W4[window.x];
        uint k = window.z;
        for (int ky = 0; ky < size; ++ky) {
          int iy = first.x + ky;
          if (iy >= 0 && iy < int(pc.ih)) {
            float4 tap[5];
            for (int kx = 0; kx < size; ++kx) tap[kx] = weights_at(k + uint(kx) * window.y);
            uint line_at = image + uint(iy) * pc.x_y + channel;
            for (int read = 0; read < size + (run - 1) * step; ++read) {
              float4 u = load_quad(line_at + at[read], 4u);
              if (!inside[read]) u = SPLAT(0.0);
              for (int n = 0; n < run; ++n) {
                int d = read - n * step;
                if (d >= 0 && d < size) v[n] = FMA(u, tap[d], v[n]);
              }
            }
          }
          k += uint(size) * window.y;
        }
        float4 slope = SPLAT(0.0);
        if (MODE == 3u) slope = W4[(pc.slope0 + channel) / 4u];
        for (int m = 0; m < run; ++m) v[m] = activated(MODE, v[m], pc.alpha0, pc.beta0, slope);
      }
      for (int f = 0; f < run; ++f) inputs[(place + uint(f)) * 5u + quad] = v[f];
    }
    for (uint h = 0u; h < 2u; ++h) {
      float4 w = SPLAT(0.0);
      if (c + row + 8u * h < pc.ic) w = weights_at(panel.z + panel.y * (c + row + 8u * h));
      weights[(row + 8u * h) * 8u + column] = w;
    }
    BARRIER;
#include "tile_product.h"
    BARRIER;
  }
  uint number = pixel0 + row * 8u;
  pixel = pixel_at(number);
  for (int o = 0; o < 8; ++o) {
    if (number + uint(o) < pc.count && pixel.x < pc.width && quad0 + column < quads)
      store_quad(acc[o], pixel, (quad0 + column) * 4u, pc.oc);
    pixel = pixel_after(pixel);
  }
}
