// SPDX-License-Identifier: MIT
// A matrix [B, K, N] becomes panels with zero bias (docs/reference/file.md): a thread writes one word.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_PACK_PANELS_CONSTANTS)
KERNEL {
  uint i = THREAD;
  if (i >= pc.count) return;
  uint padded = (pc.channels + 7u) / 8u * 8u, panels = padded <= 16u ? 1u : padded / 16u;
  uint c = i % padded, k = i / padded % (pc.depth + 1u), b = i / padded / (pc.depth + 1u);
  uint p = min(c / 16u, panels - 1u), width = p + 1u < panels ? 16u : padded - 16u * p, v = 0u;
  if (k != 0u && c < pc.channels) v = A[uint(int(pc.x) + int(b) * pc.x_b + int(k - 1u) * pc.x_k + int(c) * pc.x_c)];
  A[pc.y + b * pc.y_b + 16u * p * (pc.depth + 1u) + k * width + c - 16u * p] = v;
}
