// SPDX-License-Identifier: MIT
#include "spell/speller.hpp"

#include <algorithm>

#include "errors.hpp"
#include "graph/onnx_type.hpp"

namespace nsk::tool {
namespace {

template <class T>
const T* attribute_of(const speller& s, const std::string& key, const char* what) {
  const auto* held = s.op().find<T>(key);
  if (held == nullptr && s.op().has(key)) s.refuse("attribute '" + key + "' is no " + what);
  return held;
}

/// The list of an attribute; one that is empty may come as a list of any kind.
template <class T>
std::vector<T> list_of(const speller& s, const std::string& key, const char* what) {
  const auto* integers = s.op().find<std::vector<std::int64_t>>(key);
  if (!s.op().has(key) || (integers != nullptr && integers->empty())) return {};
  return *attribute_of<std::vector<T>>(s, key, what);
}

}

value_id speller::in(std::size_t i) const {
  if (!has(i)) refuse("input " + std::to_string(i) + " is missing. The file is damaged");
  const value& v = of(m_node.inputs[i]);
  if (!v.typed || !v.is_static()) refuse("input '" + v.name + "' has no known shape");
  return m_node.inputs[i];
}

std::int64_t speller::length(std::size_t i, std::size_t axis) const {
  const shape_t all = shape(i);
  if (axis >= all.size())
    refuse("input " + std::to_string(i) + " has " + std::to_string(all.size()) + " axes, too few. The file is damaged");
  return all[axis];
}

std::int64_t speller::single_integer(std::size_t i) const {
  const array& a = constant(i);
  if (a.count() != 1) refuse("input " + std::to_string(i) + " must be one number");
  return a.integer(0);
}

const array& speller::constant(std::size_t i) const {
  const value& v = of(in(i));
  if (!v.constant)
    refuse("input " + std::to_string(i) + " ('" + v.name +
           "') is computed at run time; the converter needs to know it. Save the model with it as an initializer");
  return *v.constant;
}

value_id speller::number(double v, element t) {
  array a(is_float(t) || is_integer(t) ? t : element::f32, {});
  a.set(0, v);
  return keep(std::move(a));
}

value_id speller::floats(shape_t shape, const std::vector<float>& values) {
  return counted(make_floats(std::move(shape), values));
}

value_id speller::integers(const std::vector<std::int64_t>& values) {
  return counted(make_ints({static_cast<std::int64_t>(values.size())}, values));
}

value_id speller::integer(std::int64_t v) { return counted(make_ints({}, {v})); }

array speller::make(element t, shape_t shape) const {
  constexpr std::int64_t max_elements = std::int64_t{1} << 24;
  if (checked_count(shape, describe(m_graph, m_node)) > max_elements)
    refuse("it needs a table of the shape " + to_string(shape) +
           ", more than 2^24 numbers. Export it for smaller inputs");
  return array(t, std::move(shape));
}

value_id speller::keep(array a) { return m_placer.new_constant(m_node, next_suffix("constant"), std::move(a)); }

value_id speller::counted(array a) {
  m_placer.count_spelled(m_node, a.data.size() + sizeof(value));
  return keep(std::move(a));
}

value_id speller::add(const char* op, std::vector<value_id> inputs, attributes a) {
  return add_several(op, std::move(inputs), 1, std::move(a)).front();
}

std::vector<value_id> speller::add_several(const char* op, std::vector<value_id> inputs, std::size_t results,
                                           attributes a) {
  std::vector<value_id> made;
  const std::string suffix = next_suffix(op);
  for (std::size_t i = 0; i < results; ++i)
    made.push_back(i == 0 ? m_placer.new_value(m_node, suffix) : make_value(op));
  add_counted(node_placer::helper(m_node, op, suffix, std::move(inputs), made.front(), std::move(a), opset));
  last().outputs = made;
  return made;
}

void speller::give(std::size_t i, const char* op, std::vector<value_id> inputs, attributes a) {
  if (!wants(i)) return;
  add_counted(
      node_placer::helper(m_node, op, next_suffix(op), std::move(inputs), m_node.outputs[i], std::move(a), opset));
  if (i == 0) last().name = m_node.name;
}

void speller::add_counted(node n) {
  m_placer.count_spelled(m_node, 2 * sizeof(node) + 512);
  add(std::move(n));
}

void speller::place() {
  std::reverse(m_nodes.begin(), m_nodes.end());
  m_placer.place(std::move(m_nodes));
  m_nodes.clear();
}

void speller::refuse(const std::string& why) const { tool::refuse(describe(m_graph, m_node) + ": " + why); }

std::string speller::next_suffix(const char* op) { return op + ("_" + std::to_string(m_count++)); }

std::vector<float> numbers_of(const speller& s, const std::string& key) {
  return list_of<float>(s, key, "list of numbers");
}

std::vector<std::string> texts_of(const speller& s, const std::string& key) {
  return list_of<std::string>(s, key, "list of texts");
}

const array* tensor_of(const speller& s, const std::string& key) { return attribute_of<array>(s, key, "tensor"); }

speller::attributes kept_without(const speller& s, const std::vector<std::string>& names) {
  speller::attributes kept = s.op().attributes;
  for (const std::string& name : names) kept.erase(name);
  return kept;
}

value_id cast_to(speller& s, value_id v, element t) {
  if (s.of(v).typed && s.of(v).type == t) return v;
  return s.add("Cast", {v}, {{"to", number_of(onnx_type_of(t))}});
}

}
