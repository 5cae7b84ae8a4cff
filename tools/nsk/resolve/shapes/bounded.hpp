// SPDX-License-Identifier: MIT
#pragma once
/// Operators whose number of results is data, in a graph that is being resolved: their outputs get as many rows as
/// there can be at most, and a further output of the model says how many there are.
#include <map>
#include <set>
#include <string>

#include "bounded/lengths.hpp"
#include "graph/graph.hpp"
#include "spell/node_placer.hpp"

namespace nsk::tool {

/// Whether a graph, or one inside it, has an operator whose number of results can depend on values.
bool may_count(const graph& g);

/// How many rows a node can have.
struct row_limits {
  std::int64_t minimum = 0, maximum = 0;
};

class bounded_rows {
 public:
  /// Attribute of a node whose rows have other limits than its inputs say: the smallest and the largest number.
  static constexpr char row_limit[] = "nsk_row_limits";

  /// `bounds` says how many rows there can be at most, by the name of the output.
  bounded_rows(graph& g, node_placer& placer, const std::map<std::string, std::int64_t>& bounds)
      : m_graph(g), m_placer(placer), m_bounds(bounds), m_lengths(g) {}

  const bounded::lengths& lengths() const { return m_lengths; }
  /// Whether the number of results of `n` depends on values: NonZero, Compress, Unique, NonMaxSuppression, Range.
  static bool takes(const node& n);
  /// Gives the output of `n` its bound. Refuses a Range that has none.
  void bound(node& n);
  /// Takes the limits of a bounded node: those that its attribute has, and at most the rows that are asked for.
  row_limits take_limits(node& n);
  /// Follows which axes of the results of `n`, whose shapes are known, have how many used elements
  /// (bounded/lengths.hpp). Returns whether all results became constants.
  bool follow(const node& n);
  /// Adds the outputs NAME.count: of every operator that chooses, where an output of the model has as many elements as
  /// it chose; of every output with another length that is known at run time only. Refuses bounds that no operator has
  /// used, nor those that are `used` otherwise.
  void finish(const std::set<std::string>& used);

 private:
  value& at(value_id v) { return m_placer.at(v); }
  void bound_range(node& n);
  void bound_suppression(node& n);
  std::int64_t max_results(const node& n);
  void give_out(value_id of, std::size_t axis, const std::string& name);
  void give_out_chosen();
  void give_out_lengths(value_id v);
  void require_bounds_used() const;

  graph& m_graph;
  node_placer& m_placer;
  const std::map<std::string, std::int64_t>& m_bounds;
  bounded::lengths m_lengths;
  std::set<std::string> m_used;    ///< names of bounds
  std::vector<value_id> m_chosen;  ///< first outputs of operators that choose
};

}
