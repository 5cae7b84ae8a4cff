// SPDX-License-Identifier: MIT
#pragma once
/// The converter's middle: a resolved graph in, the bytes of a .nsk file out.
#include <cstddef>
#include <map>
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "passes/lower.hpp"
#include "plan/plan.hpp"

namespace nsk::tool {

struct compile_options {
  bool winograd = true;
  /// Longest tile in multiply-accumulates: 100 microseconds at 30 G/s, which a console core reaches.
  std::int64_t max_tile_macs = 3'000'000;
  std::map<std::string, std::string> metadata;
};

struct compiled {
  std::vector<std::byte> file;
  plan layout;  ///< for reports
};

/// Canonicalises, fuses, lowers, tiles, plans memory and writes. The graph must be resolved (graph/infer.hpp).
/// Refuses what has no kernel; the message names the node.
compiled compile(const graph& g, const compile_options& options);

}
