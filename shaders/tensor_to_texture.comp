// SPDX-License-Identifier: MIT
// A dense tensor [height, width, channels] becomes a texture of its size: a thread writes one texel. Scaled to levels,
// clamped to 0 to 255; the texture's format rounds.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_TEXTURE_CONSTANTS)
#include "memory.h"
WRITE_TEXTURE(image)
KERNEL {
  uint number = THREAD;
  if (number >= pc.width * pc.height) return;
  uint channels = pc.order == 0u ? 1u : pc.order <= 2u ? 3u : 4u, at = pc.y + number * channels;
  float4 v = float4(arena_at(at), 0.0, 0.0, 255.0);
  if (channels > 1u) v.y = arena_at(at + 1u);
  if (channels > 1u) v.z = arena_at(at + 2u);
  v.x = FMA(v.x, pc.s0, pc.o0);
  v.y = FMA(v.y, pc.s1, pc.o1);
  v.z = FMA(v.z, pc.s2, pc.o2);
  if (channels > 3u) v.w = FMA(arena_at(at + 3u), pc.s3, pc.o3);
  if (channels == 1u) v = float4(v.x, v.x, v.x, 255.0);
  bool reversed = (pc.order == 2u || pc.order == 4u) != (pc.swap != 0u);
  float4 color = reversed ? float4(v.z, v.y, v.x, v.w) : v;
  color = float4(clamp(color.x, 0.0, 255.0), clamp(color.y, 0.0, 255.0), clamp(color.z, 0.0, 255.0), clamp(color.w, 0.0, 255.0));
  STORE(image, number % pc.width, number / pc.width, color * (1.0 / 255.0));
}
