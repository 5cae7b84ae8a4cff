// SPDX-License-Identifier: MIT
#include "resolve/lengths/length_origins.hpp"

#include <algorithm>

#include "graph/operator_kinds.hpp"

namespace nsk::tool {
namespace {

bool reduces(const node& n) { return n.op.rfind("Reduce", 0) == 0 || n.op.rfind("Global", 0) == 0; }

bool finds_positions(const node& n) {
  return n.op == "ArgMax" || n.op == "ArgMin" || n.op == "TopK" || n.op == "NonZero";
}

/// Whether sums and indices of an operand are still such in the result.
bool passes_on(const node& n) {
  return moves_elements(n.op) || broadcasts(n.op) || is_of_elements(n.op) || n.op.rfind("Reduce", 0) == 0 ||
         n.op == "DequantizeLinear" || n.op == "QuantizeLinear";
}

void add_sum(length_origin& to, std::int64_t was, std::int64_t now) {
  if (was > 1 && was != now) to.sums.emplace(was, now);
}

}

length_origins::length_origins(const graph_pair& graphs) : m_graphs(graphs) {
  for (const node& n : graphs.the_graph().nodes) follow(n);
}

const length_origin& length_origins::of(value_id v) const {
  static const length_origin none;
  const auto found = m_origins.find(v);
  return found == m_origins.end() ? none : found->second;
}

void length_origins::add_sums(const node& n, length_origin& all) const {
  shape_t was, now, made, makes;
  if (n.inputs.empty() || !m_graphs.changed(n.inputs[0]) || !m_graphs.shapes_of(n.inputs[0], was, now)) return;
  all.index = all.index || finds_positions(n);
  if (n.op == "CumSum")
    for (std::size_t d = 0; d < was.size(); ++d) add_sum(all, was[d], now[d]);
  if (!reduces(n) || n.outputs.empty() || m_graphs.before(n.outputs[0]) == nullptr) return;
  m_graphs.shapes_of(n.outputs[0], made, makes);
  if (count_of(made) != 0 && count_of(makes) != 0)
    add_sum(all, count_of(was) / count_of(made), count_of(now) / count_of(makes));
}

/// Products are sums over an axis that both operands have.
void length_origins::add_products(const node& n, length_origin& all) const {
  if (n.op != "MatMul" && n.op != "Einsum") return;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    shape_t was, now;
    if (n.inputs[i] == no_value || !m_graphs.shapes_of(n.inputs[i], was, now)) continue;
    if (n.op == "MatMul" && i == 0 && !was.empty()) add_sum(all, was.back(), now.back());
    for (std::size_t d = 0; n.op == "Einsum" && d < was.size(); ++d) add_sum(all, was[d], now[d]);
  }
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
