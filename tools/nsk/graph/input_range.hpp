// SPDX-License-Identifier: MIT
#pragma once
/// What a game says of the numbers that it will put into an input.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include "graph/graph.hpp"

namespace nsk::tool {

/// Magnitude up to which elements of one tensor stand side by side in Winograd's algorithms: an error of 2.5e-6 of the
/// largest one, where it is spread, is below 1e-3 of 1.
inline constexpr double max_narrow = 256;

struct input_range {
  double low = -1, high = 1;
  bool hdr = false;  ///< elements are small, but for a few that are as large as `low` and `high` say

  /// Whether an element may be so large that others near it need sums of their own.
  bool is_wide() const { return hdr || std::max(std::abs(low), std::abs(high)) > max_narrow; }
};
/// By the name of the input; nothing is known of others.
using input_ranges = std::map<std::string, input_range>;

inline std::set<std::string> wide_inputs(const input_ranges& ranges) {
  std::set<std::string> names;
  for (const auto& [name, range] : ranges)
    if (range.is_wide()) names.insert(name);
  return names;
}

/// The inputs of which nothing is said.
inline std::set<std::string> unknown_inputs(const graph& g, const input_ranges& ranges) {
  std::set<std::string> names;
  for (const value_id v : g.inputs)
    if (ranges.count(g.at(v).name) == 0) names.insert(g.at(v).name);
  return names;
}

}
