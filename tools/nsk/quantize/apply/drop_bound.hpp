// SPDX-License-Identifier: MIT
#pragma once
/// --max-drop: how far a quantised network may be from its source, and which layers return to floats for that.
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include "quantize/apply/network.hpp"

namespace nsk::tool {

/// Measures networks, and says whether the bound holds.
class bound_judge {
 public:
  /// Calls a metric for the float network. `meter` runs the samples that `names` and `files` are of.
  bound_judge(const drop_bound& bound, const noise_meter& meter, std::vector<std::string> names,
              std::vector<std::string> files);

  /// Measures a network whose floats are stored so.
  bool holds(const variant_source& v, const float_storage& floats);
  /// What the last one reached: the error as a share, dB, the share of samples with another class, or by how much the
  /// metric is lower.
  double reached() const { return m_reached; }
  /// What the last one reached in words: "the outputs are off by 0.02 of their magnitude".
  std::string said() const;

 private:
  const drop_bound& m_bound;
  const noise_meter& m_meter;
  judged_outputs m_outputs;
  double m_of_floats = 0, m_reached = 0;
};

/// What is heeded where layers return.
struct return_rules {
  std::set<std::string> forced;  ///< stay integers
  /// Adds to the layers that are floats those that integers make no faster beside them; may be null.
  std::function<void(std::set<std::string>& floats)> add_unpaid;
};

/// Adds layers to `kept`, the most sensitive ones first and what no longer pays beside them, until the bound holds.
/// Returns those that the bound asked for; nothing where it does not hold with a single layer of integers, or with
/// those that are forced.
std::optional<std::set<std::string>> return_layers(bound_judge& judge, const network& n,
                                                   std::vector<layer_result> layers, const float_storage& floats,
                                                   std::set<std::string>& kept, const return_rules& rules,
                                                   const report_progress& progress);

}
