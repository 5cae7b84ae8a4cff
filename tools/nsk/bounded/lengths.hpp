// SPDX-License-Identifier: MIT
#pragma once
/// Which axes of which values have fewer used elements than places. Operators whose number of results is data (NonZero,
/// Compress, Unique, NonMaxSuppression, Range) give *n rows of at most N*: tensors have N places along that axis, the
/// first n are used. What follows from them is followed here, by the table of rules.hpp.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bounded/amount.hpp"
#include "bounded/same_values.hpp"
#include "graph/graph.hpp"

namespace nsk::tool::bounded {

/// What is known of a value.
struct value_facts {
  std::vector<amount> axes;     ///< used elements along each axis; empty: all are used
  std::vector<amount> numbers;  ///< the elements of integers that follow from counts; empty: not known
  bool picks = false;           ///< unused elements are valid as indices of what the used ones are indices of
};

class lengths {
 public:
  /// Looks at nodes of `g` as they come; values may be added to it.
  explicit lengths(const graph& g) : m_graph(g), m_source_values(static_cast<value_id>(g.values.size())), m_same(g) {}

  /// Notes what is known of the results of `n`, whose types and shapes are known. Refuses operators that would compute
  /// on unused elements, or whose result depends on a count in a way that is not supported: names the node, says why
  /// and what to do.
  void follow(const node& n);

  const counts& known_counts() const { return m_counts; }
  counts& known_counts() { return m_counts; }
  /// Null where all elements of `v` are used and nothing of it follows from a count.
  const value_facts* facts(value_id v) const;
  bool is_bounded(value_id v) const;
  bool reads_bounded(const node& n) const;
  /// Whether `n` reads what was computed from a count.
  bool reads_count(const node& n) const;
  /// The used elements along every axis of `v`.
  std::vector<amount> axes(value_id v) const;
  /// The integers of `v`, constant or computed from counts, one by one; empty where they are not known.
  std::vector<amount> numbers(value_id v) const;
  /// The integers of `v` where every count is as large as it can be, for operators whose result has a shape that
  /// follows from them; null where there are none.
  std::shared_ptr<const array> maximum_of(const node& reader, value_id v) const;
  /// The count of an operator that chooses, by its first output; null for others.
  const amount* chosen(value_id output) const;

  void set(value_id v, value_facts facts);
  void set_chosen(value_id output, const amount& a) { m_chosen[output] = a; }
  /// Which values are computed in the same way.
  const same_values& same() const { return m_same; }
  /// "node 'x' (Softmax, ...): 'boxes' has as many rows as were chosen, at most 60, and " + why + cure.
  [[noreturn]] void refuse_reading(const node& n, value_id v, const std::string& why) const;
  /// refuse_reading() for the first operand that is bounded, or else computed from a count.
  [[noreturn]] void refuse(const node& n, const std::string& why) const;
  const graph& source() const { return m_graph; }

 private:
  const value& at(value_id v) const { return m_graph.at(v); }

  value_id named_in_source(value_id v) const;

  const graph& m_graph;
  const value_id m_source_values;  ///< what was added later has no name that a user knows
  counts m_counts;
  std::map<value_id, value_facts> m_facts;
  std::map<value_id, amount> m_chosen;
  std::set<value_id> m_from_counts;  ///< computed from counts
  same_values m_same;
};

/// Whether the number of results of `n` depends on values.
bool chooses(const node& n);
/// Whether any operator of `g` has results whose number depends on values, and as many rows as there can be.
bool has_bounded(const graph& g);
/// Which outputs of `g` have fewer used elements than places.
std::set<std::string> bounded_outputs(const graph& g);

}
