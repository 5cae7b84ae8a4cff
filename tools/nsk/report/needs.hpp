// SPDX-License-Identifier: MIT
#pragma once
/// What the settings of a session must have for a model.
#include <bitset>
#include <netsuke/kernels/kernel_set.hpp>
#include <netsuke/model/model.hpp>

namespace nsk::tool {

/// What steps of a model need, each thing as the member of nsk::default_settings that has its name says it; sets have a
/// bit for each enumerator. `quads`: whether there are layers of stored integers, to which unsafe_quads and
/// weight_offsets belong.
struct session_needs {
  std::bitset<op_count> ops;
  std::bitset<function_count> functions;
  bool winograd = false, half_weights = false, byte_weights = false;
  bool quads = false, unsafe_quads = false, weight_offsets = false;
  std::bitset<6> reduce_kinds;
  std::bitset<2> pool_kinds;
  std::bitset<depthwise_window_count> depthwise_windows;
  bool panel_pairs = false, prefetch_weights = false;
};

/// Returns what all steps of all variants need, the latter two on whatever instruction set profits.
session_needs needs_of(const model& m);

}
