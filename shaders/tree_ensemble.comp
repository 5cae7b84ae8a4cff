// SPDX-License-Identifier: MIT
// Decision trees: a thread computes one target of one row, tree by tree. MODE: nsk::tree_aggregate.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_TREE_ENSEMBLE_CONSTANTS)
#include "wide.h"
#include "typed.h"
#include "memory.h"
// Whether a row goes on at the first child. Comparisons with NaN are false, but for !=.
bool goes_on(uint kind, uint x, uint threshold) {
  if (kind >= 8u && is_nan(x)) return true;
  uint test = kind & 7u;
  bool less = value_less(uint2(x, 0u), uint2(threshold, 0u), 0u), equal = value_equal(uint2(x, 0u), uint2(threshold, 0u), 0u);
  bool greater = value_less(uint2(threshold, 0u), uint2(x, 0u), 0u);
  if (test == 1u) return less || equal;
  if (test == 2u) return less;
  if (test == 3u) return greater || equal;
  if (test == 4u) return greater;
  return test == 5u ? equal : !equal;
}
// The entries of the leaf that a row comes to: the first, and the one behind the last.
uint2 entries_of(uint tree, int x) {
  uint node = W[pc.roots + tree];
  uint at = pc.nodes + 4u * node, kind = W[at + 1u];
  while ((kind & 7u) != 0u) {
    uint feature = A[uint(x + int(W[at]) * pc.x_feature)];
    node = goes_on(kind, feature, W[pc.thresholds + node]) ? W[at + 2u] : W[at + 3u];
    at = pc.nodes + 4u * node;
    kind = W[at + 1u];
  }
  return uint2(W[at + 2u], W[at + 3u]);
}
#define INFINITY_BITS 2139095040u
KERNEL {
  uint number = THREAD;
  if (number >= pc.count) return;
  uint target = number % pc.targets;
  int row = int(number / pc.targets), x = int(pc.x) + row * pc.x_row;
  float infinite = AS_FLOAT(INFINITY_BITS), start = MODE == 2u ? infinite : MODE == 3u ? -infinite : 0.0, score = start;
  for (uint tree = 0u; tree < pc.trees; ++tree) {
    uint2 entries = entries_of(tree, x);
    for (uint e = entries.x; e < entries.y; ++e) {
      if (W[pc.entry_target + e] != target) continue;
      float v = weight_at(pc.entry_weight + e);
      if (MODE == 2u) score = v < score ? v : score;
      else if (MODE == 3u) score = v > score ? v : score;
      else score += v;
    }
  }
  if (MODE == 1u) score = score / float(pc.trees);
  if (MODE >= 2u && AS_UINT(score) == AS_UINT(start)) score = 0.0;
  set_arena(uint(int(pc.y) + row * pc.y_row + int(target) * pc.y_target), score + weight_at(pc.base + target));
}
