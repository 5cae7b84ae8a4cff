// SPDX-License-Identifier: MIT
#pragma once
/// The resolved graphs of one network for different values of its lengths: whether one more is such a graph.
#include <cstdint>
#include <optional>
#include <vector>
#include "graph/graph.hpp"
#include "lengths/number_terms.hpp"

namespace nsk::tool {

/// Numbers of a graph, by a place that is the same in all graphs of a family.
using graph_numbers = std::map<std::pair<int, int>, std::int64_t>;

/// Graphs of a network whose nodes are the same, and whose numbers follow from the lengths.
class graph_family {
 public:
  /// With the graph for some values.
  graph_family(const std::vector<chosen_length>& lengths, const length_choice& values, const graph& g);

  /// Adds the graph for other values, from which the sums of its numbers are found. Returns whether it has the same
  /// nodes; else it is not added.
  bool add(const length_choice& values, const graph& g);
  std::size_t size() const { return m_choices.size(); }

  /// Whether `g` has, for its values, the nodes of the graphs that were added, and the numbers of their sums: then it
  /// computes what they do. A number that is no sum of lengths is not known.
  bool has(const length_choice& values, const graph& g);

 private:
  void find_sums();

  const std::vector<chosen_length>& m_lengths;
  graph m_first;
  std::vector<length_choice> m_choices;
  std::vector<graph_numbers> m_numbers;  ///< of each choice
  std::vector<plan_length> m_sum_lengths;
  /// Of each number; empty where they are to be found.
  std::map<std::pair<int, int>, std::optional<std::vector<plan_term>>> m_sums;
};

}
