// SPDX-License-Identifier: MIT
#pragma once
/// What the settings of a session must have for a model.
#include <bitset>
#include <cstddef>
#include <netsuke/format/kinds.hpp>
#include <netsuke/kernels/path.hpp>
#include <netsuke/model/model.hpp>

namespace nsk::tool {

constexpr std::size_t reduce_kind_count = static_cast<std::size_t>(reduce_kind::sum_square) + 1,
                      pool_kind_count = static_cast<std::size_t>(pool_kind::average) + 1;

/// What steps of a model need, each thing as the member of nsk::default_settings that has its name says it; sets have a
/// bit for each enumerator. `quads`: whether there are layers of stored integers, to which unsafe_quads and
/// weight_offsets belong.
struct required_settings {
  std::bitset<op_count> ops;
  std::bitset<function_count> functions;
  bool winograd = false, half_weights = false, int8_weights = false;
  bool quads = false, unsafe_quads = false, weight_offsets = false;
  std::bitset<reduce_kind_count> reduce_kinds;
  std::bitset<pool_kind_count> pool_kinds;
  std::bitset<fast_path_count> paths;
  bool panel_pairs = false, prefetch_weights = false;
  bool lengths = false;
};

/// Returns what all steps of a variant, or of all variants, need, the latter two on whatever instruction set profits.
required_settings required_settings_of(const variant_view& v);
required_settings required_settings_of(const model& m);

}
