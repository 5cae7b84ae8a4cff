// SPDX-License-Identifier: MIT
#pragma once
/// A graph for other lengths beside the one for the source's own: values of the same name belong together.
#include <string>
#include <unordered_map>

#include "graph/graph.hpp"

namespace nsk::tool {

class graph_pair {
 public:
  /// `g` may grow while it is looked at.
  graph_pair(const graph& exported, const graph& g) : m_exported(exported), m_graph(g) {
    for (const value& v : exported.values) m_before.emplace(v.name, &v);
  }
  const graph& exported() const { return m_exported; }
  const graph& the_graph() const { return m_graph; }

  const value& at(value_id v) const { return m_graph.at(v); }
  /// The value in the source; null where it has none of this name.
  const value* before(value_id v) const {
    const auto found = v == no_value ? m_before.end() : m_before.find(at(v).name);
    return found == m_before.end() ? nullptr : found->second;
  }
  /// Shapes of a value in the source, or as now where it has none, and now; false where their ranks differ.
  bool shapes_of(value_id v, shape_t& was, shape_t& now) const {
    const value* old = before(v);
    now = at(v).shape;
    was = old == nullptr ? now : old->shape;
    return was.size() == now.size();
  }
  bool changed(value_id v) const { return before(v) != nullptr && before(v)->shape != at(v).shape; }
  /// Whether an operand is a constant, and the same as in the source.
  bool is_own_constant(const node& n, std::size_t i) const {
    if (!n.reads(i) || !at(n.inputs[i]).constant) return false;
    const value* old = before(n.inputs[i]);
    return old == nullptr || (old->constant && old->constant->data == at(n.inputs[i]).constant->data);
  }
  /// Whether indices of a Gather or Scatter, operand 1, are along an axis that changed, or may be.
  bool indexes_changed_axis(const node& n) const {
    shape_t was, now;
    if (n.op == "GatherND" || n.op.rfind("Scatter", 0) == 0) return true;
    if (before(n.inputs[0]) == nullptr || !shapes_of(n.inputs[0], was, now)) return true;
    const std::int64_t d = counted_from_start(n.integer("axis", 0), now.size());
    return d >= 0 && d < static_cast<std::int64_t>(now.size()) &&
           was[static_cast<std::size_t>(d)] != now[static_cast<std::size_t>(d)];
  }

 private:
  const graph &m_exported, &m_graph;
  std::unordered_map<std::string, const value*> m_before;
};

}
