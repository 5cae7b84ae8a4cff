// SPDX-License-Identifier: MIT
#pragma once
/// In which order the axes of a tensor of the engine are those of the source: the plan records it at ports alone.
#include <map>
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "check/measure.hpp"

#include <netsuke/model/model.hpp>

namespace nsk::tool {

/// Compares a tensor of the engine with the reference's, whose axes may be in another order; `order` says which one is
/// expected, none if empty, and becomes the one that was found: axis d of `got` is axis order[d] of `wanted`.
/// Orders that the shape of `got` allows come first: [1, 6, 11, 8] holds [1, 8, 6, 11] in one order, [528] in any. Of
/// these the expected one is taken if it agrees to `tolerance`; then all are tried on some elements and the most likely
/// ones on all, until one agrees. Where none does, wrong numbers may look like any order: the expected one stays unless
/// another is clearly nearer.
comparison measure_in_any_order(const array& got, const array& wanted, double operands, double tolerance,
                                std::vector<int>& order, std::int64_t sampled = all_elements);

/// Orders of the axes of a graph's values, by name, as they become known: those of the inputs from the model's ports.
class axis_orders {
 public:
  axis_orders(const graph& g, const variant_view& v);
  /// Returns the order that the result of that name is expected in: that of the first operand of its node with the same
  /// dimensions, or nothing.
  std::vector<int> expected(const std::string& name) const;
  void learn(const std::string& name, std::vector<int> order) { m_known[name] = std::move(order); }

 private:
  const graph& m_graph;
  std::map<std::string, const node*> m_producers;
  std::map<std::string, std::vector<int>> m_known;
};

}
