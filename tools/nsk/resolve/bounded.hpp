// SPDX-License-Identifier: MIT
#pragma once
/// Operators whose number of results is data: their outputs get as many rows as there can be at most, the rest is
/// filled, and a further output of the model says how many there are.
#include <map>
#include <set>
#include <string>

#include "graph/graph.hpp"
#include "resolve/node_placer.hpp"

namespace nsk::tool {

class bounded_rows {
 public:
  /// `bounds` says how long a Range can be at most, by the name of its output.
  bounded_rows(graph& g, node_placer& placer, const std::map<std::string, std::int64_t>& bounds)
      : m_graph(g), m_placer(placer), m_bounds(bounds) {}

  /// Whether the number of results of `n` depends on values: NonZero, Compress, Unique, Range.
  static bool takes(const node& n);
  /// Gives the output of `n` its bound, and the graph an output NAME.count, NAME being that of the output of `n`.
  /// Refuses a Range without a bound.
  void bound(node& n);
  /// Refuses bounds whose name is no Range that is computed at run time.
  void require_bounds_used() const;
  /// Follows which axis of which value has filled rows. Refuses `n` where it would mix them with others: sums along
  /// the axis, lengths, reshapes.
  void follow(const node& n);

 private:
  value& at(value_id v) { return m_placer.at(v); }
  void bound_range(node& n);
  void count_groups(node& n);
  void give_out(const node& n, value_id count);
  void count_chosen(const node& n, value_id mask);
  std::int64_t axis_behind(const node& n, std::int64_t axis);
  bool is_filled(value_id v) const { return v != no_value && m_filled.count(v) != 0; }

  graph& m_graph;
  node_placer& m_placer;
  const std::map<std::string, std::int64_t>& m_bounds;
  std::set<std::string> m_used;               ///< names of bounds
  std::map<value_id, std::int64_t> m_filled;  ///< the axis that has filled rows
};

}
