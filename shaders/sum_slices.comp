// SPDX-License-Identifier: MIT
// Adds up the sums that conv_2d_split left in scratch, slice after slice: a thread stores one pixel by four channels.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_WINDOW_CONSTANTS)
#include "memory.h"
#include "epilogue.h"
#include "window.h"
#include "load.h"
#include "store.h"
KERNEL {
  uint quads = (pc.oc + 3u) / 4u, columns = quads_of_group(quads);
  uint quad = GROUP.x * columns + LOCAL.x % columns, number = BLOCK * (64u / columns) + LOCAL.x / columns;
  if (quad >= quads || number >= pc.count) return;
  uint at = pc.scratch / 4u + number * quads + quad;
  float4 sum = A4[at];
  for (uint i = 1u; i < pc.slices; ++i) sum += A4[at + i * pc.count * quads];
  store_quad(sum, pixel_at(number), quad * 4u, pc.oc);
}
