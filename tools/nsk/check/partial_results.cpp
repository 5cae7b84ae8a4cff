// SPDX-License-Identifier: MIT
#include "check/partial_results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/run_node.hpp"

namespace nsk::tool {
namespace {

constexpr double largest = static_cast<double>(std::numeric_limits<float>::max()),
                 smallest = static_cast<double>(std::numeric_limits<float>::min());

double magnitude(double x) { return std::fabs(x); }
double part_above_1(double x) { return std::max(std::fabs(x), 1.0); }
double part_below_1(double x) { return std::min(std::fabs(x), 1.0); }

bool is_sum(const std::string& op) {
  static const std::set<std::string> ops = {"ReduceSum", "ReduceMean",    "MatMul",      "Gemm",
                                            "Conv",      "ConvTranspose", "AveragePool", "GlobalAveragePool"};
  return ops.count(op) != 0;
}

}

partial_results::partial_results(const graph& g) : m_graph(g) {
  for (const node& n : g.nodes) {
    if (!n.domain.empty() || n.outputs.empty() || n.outputs[0] == no_value) continue;
    if (!is_sum(n.op) && n.op != "ReduceProd" && n.op != "ReduceL2") continue;
    m_nodes[g.values[static_cast<std::size_t>(n.outputs[0])].name] = &n;
    for (const value_id v : n.inputs) {
      if (v == no_value) continue;
      const value& operand = g.values[static_cast<std::size_t>(v)];
      m_operands[operand.name] = operand.constant ? *operand.constant : array();
    }
  }
}

void partial_results::see(const std::string& name, const array& a) {
  if (const auto found = m_operands.find(name); found != m_operands.end()) found->second = a;
}

/// The node's result where its float operands are functions of themselves.
array partial_results::with_operands(const node& n, double (*of)(double)) const {
  std::vector<reference::typed_array> operands;
  std::vector<const reference::typed_array*> inputs;
  operands.reserve(n.inputs.size());
  for (const value_id v : n.inputs) {
    if (v == no_value) {
      inputs.push_back(nullptr);
      continue;
    }
    operands.push_back(reference::hold(m_operands.at(m_graph.values[static_cast<std::size_t>(v)].name)));
    operands.back().type = m_graph.values[static_cast<std::size_t>(v)].type;
    array& a = operands.back().data;
    for (std::int64_t i = 0; is_float(a.type) && i < a.count(); ++i) a.set(i, of(a.number(i)));
    inputs.push_back(&operands.back());
  }
  return reference::evaluate_node(m_graph, n, inputs)[0].data;
}

void partial_results::take_over(const std::string& name, const array& got, array& wanted) const {
  const auto found = m_nodes.find(name);
  if (found == m_nodes.end() || !is_float(got.type) || got.count() != wanted.count()) return;
  const node& n = *found->second;
  const bool multiplies = n.op == "ReduceProd", squares = n.op == "ReduceL2";
  const array above = multiplies ? with_operands(n, part_above_1) : squares ? wanted : with_operands(n, magnitude);
  const array below = multiplies ? with_operands(n, part_below_1) : wanted;
  if (above.count() != wanted.count() || below.count() != wanted.count()) return;
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    const double x = got.number(i), large = above.number(i), small = below.number(i);
    const bool overflows = (squares ? large * large : large) > largest, underflows = (multiplies ? small
                                                                                      : squares  ? small * small
                                                                                                 : 1.0) <= smallest;
    if ((!std::isfinite(x) && overflows) || (x == 0 && underflows)) wanted.set(i, x);
  }
}

}
