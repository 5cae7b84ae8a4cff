// SPDX-License-Identifier: MIT
#pragma once
/// Operators whose number of results is data, in a graph that is resolved for one such number: what is behind them has
/// as many rows as there are, and a further output of the model is the number.
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "bounded/same_values.hpp"
#include "graph/graph.hpp"
#include "resolve/shapes/bounded.hpp"
#include "spell/node_placer.hpp"

namespace nsk::tool {

class counted_rows {
 public:
  /// `values` are the numbers of results by the names of their outputs; others are at their maxima.
  counted_rows(graph& g, node_placer& placer, const std::map<std::string, std::int64_t>& values)
      : m_graph(g), m_placer(placer), m_values(values), m_same(g) {}

  /// Takes `n`, an operator that chooses, of whose rows some number in `limits` is read: gives it one row more than it
  /// can have, so that its result is always longer than what is read of it; places behind it the nodes that count
  /// (nsk.Length, which becomes the output NAME.count) and that take the rows which there are. Throws impossible_count.
  void take(node& n, const row_limits& limits);
  /// Notes how the results of a node are computed.
  void note(const node& n) { m_same.note(n); }

 private:
  std::int64_t rows_of(const node& n, const row_limits& limits);

  graph& m_graph;
  node_placer& m_placer;
  const std::map<std::string, std::int64_t>& m_values;
  bounded::same_values m_same;
  std::map<std::string, std::string> m_lengths;  ///< names by what is counted
};

}
