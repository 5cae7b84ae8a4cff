// SPDX-License-Identifier: MIT
// A dense tensor [height, width, channels] becomes a texture of its size: a thread writes one texel. Scaled to levels,
// clamped to 0 to 255 (NaN gives 0), rounded half to even, so that no texture format has anything left to round.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_TEXTURE_CONSTANTS)
#include "memory.h"
WRITE_TEXTURE(image)
float level_of(uint i, float scale, float offset) {
  float v = FMA(arena_at(i), scale, offset);
  return v > 0.0 ? ROUND_EVEN(min(v, 255.0)) : 0.0;
}
KERNEL {
  uint number = THREAD, width = pc.size >> 16u, order = pc.flags & 7u;
  if (number >= (pc.size & 65535u) * width) return;
  uint channels = order == 0u ? 1u : order <= 2u ? 3u : 4u, at = pc.y + number * channels;
  float4 v = SPLAT(level_of(at, pc.s0, pc.o0));
  v.w = 255.0;
  if (channels > 1u) {
    v.y = level_of(at + 1u, pc.s1, pc.o1);
    v.z = level_of(at + 2u, pc.s2, pc.o2);
  }
  if (channels > 3u) v.w = level_of(at + 3u, pc.s3, pc.o3);
  bool reversed = (order == 2u || order == 4u) != ((pc.flags & 8u) != 0u);
  float4 color = reversed ? float4(v.z, v.y, v.x, v.w) : v;
  STORE(image, number % width, number / width, color * (1.0 / 255.0));
}
