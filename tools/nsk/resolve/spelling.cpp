// SPDX-License-Identifier: MIT
#include "resolve/spelling.hpp"

#include <algorithm>
#include <utility>

#include "errors.hpp"
#include "graph/onnx_type.hpp"

namespace nsk::tool {
namespace {

template <class T>
const T* attribute_of(const spelling& s, const std::string& key, const char* what) {
  const auto found = s.op().attributes.find(key);
  if (found == s.op().attributes.end()) return nullptr;
  const auto* held = std::get_if<T>(&found->second);
  if (held == nullptr) s.fail("attribute '" + key + "' is no " + what);
  return held;
}

/// The list of an attribute; one that is empty may come as a list of any kind.
template <class T>
std::vector<T> list_of(const spelling& s, const std::string& key, const char* what) {
  const auto found = s.op().attributes.find(key);
  if (found == s.op().attributes.end()) return {};
  const auto* integers = std::get_if<std::vector<std::int64_t>>(&found->second);
  if (integers != nullptr && integers->empty()) return {};
  return *attribute_of<std::vector<T>>(s, key, what);
}

}

value_id spelling::input(std::size_t i) {
  if (!has_input(i)) fail("input " + std::to_string(i) + " is missing. The file is damaged");
  const value& v = at(m_node.inputs[i]);
  if (!v.typed || !v.is_static()) fail("input '" + v.name + "' has no known shape");
  return m_node.inputs[i];
}

void spelling::fail(const std::string& why) const { refuse(describe(m_graph, m_node) + ": " + why); }

std::vector<float> spelling::numbers(const std::string& key) const {
  return list_of<float>(*this, key, "list of numbers");
}

std::vector<std::string> spelling::texts(const std::string& key) const {
  return list_of<std::string>(*this, key, "list of texts");
}

const array* spelling::tensor(const std::string& key) const { return attribute_of<array>(*this, key, "tensor"); }

value_id spelling::constant(const array& a) {
  m_placer.count_spelled(m_node, a.data.size() + sizeof(value));
  return m_placer.new_constant(m_node, "constant", a);
}

node spelling::named(const char* op, std::vector<value_id> inputs, value_id output, attributes a) {
  m_placer.count_spelled(m_node, 2 * sizeof(node) + 512);
  node n = node_placer::helper(m_node, op, std::to_string(m_nodes.size()) + "_" + op, std::move(inputs), output);
  n.version = 13;
  n.attributes = std::move(a);
  return n;
}

value_id spelling::add(const char* op, std::vector<value_id> inputs, attributes a) {
  const value_id output = m_placer.new_value(m_node, std::to_string(m_nodes.size()));
  m_nodes.push_back(named(op, std::move(inputs), output, std::move(a)));
  return output;
}

void spelling::result(std::size_t i, const char* op, std::vector<value_id> inputs, attributes a) {
  if (!wants(i)) return;
  m_nodes.push_back(named(op, std::move(inputs), m_node.outputs[i], std::move(a)));
}

value_id spelling::cast(value_id v, element type) {
  if (at(v).typed && at(v).type == type) return v;
  return add("Cast", {v}, {{"to", number_of(onnx_type_of(type))}});
}

void spelling::place() {
  if (m_nodes.empty()) fail("its output is missing. The file is damaged");
  std::reverse(m_nodes.begin(), m_nodes.end());
  m_placer.place(std::move(m_nodes));
}

}
