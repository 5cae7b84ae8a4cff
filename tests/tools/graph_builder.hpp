// SPDX-License-Identifier: MIT
#pragma once
/// Builds graphs by hand, for tests of inference and of the reference.
#include "graph/graph.hpp"

namespace nsk::test {

using namespace nsk::tool;

class graph_builder {
 public:
  explicit graph_builder(int opset = 13) : m_opset(opset) {}

  /// Dimensions below 0 are dynamic, with the symbol "N".
  value_id input(const std::string& name, shape_t shape, element type = element::f32) {
    value v;
    v.name = name;
    v.type = type;
    v.typed = v.known_rank = true;
    for (std::int64_t d : shape) v.symbols.push_back(d < 0 ? "N" : "");
    v.shape = std::move(shape);
    g.inputs.push_back(g.add(std::move(v)));
    return g.inputs.back();
  }
  value_id constant(const std::string& name, array a) { return g.add_constant(name, std::move(a)); }
  value_id floats(const std::string& name, shape_t shape, const std::vector<float>& values) {
    return constant(name, make_floats(std::move(shape), values));
  }
  value_id ints(const std::string& name, const std::vector<std::int64_t>& values) {
    return constant(name, make_ints({static_cast<std::int64_t>(values.size())}, values));
  }

  std::vector<value_id> nodes(const std::string& op, std::vector<value_id> inputs,
                              const std::vector<std::string>& outputs,
                              std::map<std::string, attribute> attributes = {}) {
    node n;
    n.op = op;
    n.name = op + "_" + std::to_string(g.nodes.size());
    n.version = m_opset;
    n.inputs = std::move(inputs);
    n.attributes = std::move(attributes);
    for (const std::string& name : outputs) {
      value v;
      v.name = name;
      n.outputs.push_back(g.add(std::move(v)));
    }
    g.nodes.push_back(n);
    return n.outputs;
  }
  value_id node_of(const std::string& op, std::vector<value_id> inputs, const std::string& output,
                   std::map<std::string, attribute> attributes = {}) {
    return nodes(op, std::move(inputs), {output}, std::move(attributes))[0];
  }
  /// In a branch: a value of the graph around it.
  value_id capture(const std::string& name) {
    value v;
    v.name = name;
    g.captures.push_back(g.add(std::move(v)));
    return g.captures.back();
  }
  void output(value_id v) { g.outputs.push_back(v); }

  graph g;

 private:
  int m_opset;
};

}
