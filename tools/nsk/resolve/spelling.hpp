// SPDX-License-Identifier: MIT
#pragma once
/// Standard operators that take the place of another node.
#include <map>
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "spell/node_placer.hpp"

namespace nsk::tool {

/// Collects nodes of opset 13 in the order in which they run, named after the node whose place they take.
class spelling {
 public:
  using attributes = std::map<std::string, attribute>;

  spelling(const graph& g, const node& n, node_placer& placer) : m_graph(g), m_node(n), m_placer(placer) {}

  const node& op() const { return m_node; }
  const graph& source() const { return m_graph; }
  /// Input `i` of the node; refuses where it is missing, or of unknown shape.
  value_id input(std::size_t i);
  bool has_input(std::size_t i) const { return i < m_node.inputs.size() && m_node.inputs[i] != no_value; }
  const value& at(value_id v) { return m_placer.at(v); }
  [[noreturn]] void fail(const std::string& why) const;

  /// Lists of attributes, empty where there are none; refuses other types.
  std::vector<float> numbers(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  std::vector<std::int64_t> integers(const std::string& key) const { return m_node.integers(key); }
  const array* tensor(const std::string& key) const;

  value_id constant(const array& a);
  value_id floats(const shape_t& shape, const std::vector<float>& values) {
    return constant(make_floats(shape, values));
  }
  value_id integers(const shape_t& shape, const std::vector<std::int64_t>& values) {
    return constant(make_ints(shape, values));
  }

  /// Adds a node and returns its result.
  value_id add(const char* op, std::vector<value_id> inputs, attributes a = {});
  /// Adds a node whose result is output `i` of the node; nothing where that is absent.
  void result(std::size_t i, const char* op, std::vector<value_id> inputs, attributes a = {});
  value_id cast(value_id v, element type);

  bool wants(std::size_t i) const { return i < m_node.outputs.size() && m_node.outputs[i] != no_value; }
  /// Puts the nodes in the place of the node.
  void place();

 private:
  node named(const char* op, std::vector<value_id> inputs, value_id output, attributes a);

  const graph& m_graph;
  const node& m_node;
  node_placer& m_placer;
  std::vector<node> m_nodes;
};

}
