// SPDX-License-Identifier: MIT
#include "resolve/length_origins.hpp"

#include <algorithm>

#include "resolve/operator_kinds.hpp"

namespace nsk::tool {
namespace {

bool reduces(const node& n) { return n.op.rfind("Reduce", 0) == 0 || n.op.rfind("Global", 0) == 0; }

bool finds_positions(const node& n) {
  return n.op == "ArgMax" || n.op == "ArgMin" || n.op == "TopK" || n.op == "NonZero";
}

/// Whether sums and indices of an operand are still such in the result.
bool passes_on(const node& n) {
  return moves_elements(n.op) || broadcasts(n.op) || is_of_elements(n.op) || n.op.rfind("Reduce", 0) == 0;
}

void add_sum(length_origin& to, std::int64_t was, std::int64_t now) {
  if (was > 1 && was != now) to.sums.emplace(was, now);
}

}

length_origins::length_origins(const graph& exported, const graph& g) : m_graph(g) {
  for (const value& v : exported.values) m_before.emplace(v.name, &v);
  for (const node& n : g.nodes) follow(n);
}

const length_origin& length_origins::of(value_id v) const {
  static const length_origin none;
  const auto found = m_origins.find(v);
  return found == m_origins.end() ? none : found->second;
}

bool length_origins::axes_of(value_id v, axes& found) const {
  if (v == no_value) return false;
  const value& is = m_graph.values[static_cast<std::size_t>(v)];
  const auto old = m_before.find(is.name);
  if (old == m_before.end() || old->second->shape.size() != is.shape.size()) return false;
  found = {&old->second->shape, &is.shape};
  return true;
}

void length_origins::add_sums(const node& n, length_origin& all) const {
  axes from{};
  if (n.inputs.empty() || !axes_of(n.inputs[0], from) || *from.was == *from.now) return;
  all.index = all.index || finds_positions(n);
  if (n.op == "CumSum")
    for (std::size_t d = 0; d < from.was->size(); ++d) add_sum(all, (*from.was)[d], (*from.now)[d]);
  if (!reduces(n) || n.outputs.empty() || n.outputs[0] == no_value) return;
  const shape_t& made = m_graph.values[static_cast<std::size_t>(n.outputs[0])].shape;
  const auto old = m_before.find(m_graph.values[static_cast<std::size_t>(n.outputs[0])].name);
  if (old == m_before.end() || count_of(made) == 0 || count_of(old->second->shape) == 0) return;
  add_sum(all, count_of(*from.was) / count_of(old->second->shape), count_of(*from.now) / count_of(made));
}

/// Products are sums over an axis that both operands have.
void length_origins::add_products(const node& n, length_origin& all) const {
  axes of{};
  if (n.op == "MatMul" && axes_of(n.inputs[0], of) && !of.was->empty()) add_sum(all, of.was->back(), of.now->back());
  if (n.op != "Einsum") return;
  for (const value_id v : n.inputs)
    if (axes_of(v, of))
      for (std::size_t d = 0; d < of.was->size(); ++d) add_sum(all, (*of.was)[d], (*of.now)[d]);
}

void length_origins::follow(const node& n) {
  length_origin all;
  if (passes_on(n))
    for (const value_id v : n.inputs) {
      const length_origin& from = of(v);
      all.sums.insert(from.sums.begin(), from.sums.end());
      all.index = all.index || from.index;
    }
  add_sums(n, all);
  add_products(n, all);
  m_sums.insert(all.sums.begin(), all.sums.end());
  if (all.sums.empty() && !all.index) return;
  for (const value_id v : n.outputs)
    if (v != no_value) m_origins[v] = all;
}

}
