// SPDX-License-Identifier: MIT
#pragma once
/// Operators whose number of results is data: their outputs get as many rows as there can be at most, the rest is
/// filled, and a further output of the model says how many there are.
#include <map>

#include "graph/graph.hpp"
#include "resolve/node_placer.hpp"

namespace nsk::tool {

class bounded_rows {
 public:
  bounded_rows(graph& g, node_placer& placer) : m_graph(g), m_placer(placer) {}

  /// Whether the number of results of `n` depends on values: NonZero, Compress, Unique.
  static bool takes(const node& n);
  /// Gives the output of `n` its bound, and the graph an output NAME.count, NAME being that of the output of `n`.
  void bound(node& n);
  /// Follows which axis of which value has filled rows. Refuses `n` where it would mix them with others: sums along
  /// the axis, lengths, reshapes.
  void follow(const node& n);

 private:
  value& at(value_id v) { return m_placer.at(v); }
  void count_groups(node& n);
  void give_out(const node& n, value_id count);
  void count_chosen(const node& n, value_id mask);
  std::int64_t axis_behind(const node& n, std::int64_t axis);
  bool is_filled(value_id v) const { return v != no_value && m_filled.count(v) != 0; }

  graph& m_graph;
  node_placer& m_placer;
  std::map<value_id, std::int64_t> m_filled;  ///< the axis that has filled rows
};

}
