// SPDX-License-Identifier: MIT
#include "graph/graph.hpp"

#include <unordered_set>

#include "errors.hpp"

namespace nsk::tool {

bool value::is_static() const {
  if (!known_rank) return false;
  for (std::int64_t d : shape)
    if (d < 0) return false;
  return true;
}

void value::set(element t, shape_t s) {
  type = t;
  shape = std::move(s);
  typed = known_rank = true;
}

void value::hold(array a) {
  set(a.type, a.shape);
  constant = std::make_shared<const array>(std::move(a));
}

namespace {

std::string label(const node& n) {
  return "node '" + n.name + "' (" + n.op + ", opset " + std::to_string(n.version) + ")";
}

template <class T>
const T* attribute_of(const node& n, const std::string& key, const char* kind) {
  const T* value = n.find<T>(key);
  if (value == nullptr && n.has(key))
    refuse(label(n) + ": attribute '" + key + "' must be " + kind +
           ". The file was damaged or written by a faulty exporter");
  return value;
}

}

std::int64_t node::integer(const std::string& key, std::int64_t fallback) const {
  const auto* v = attribute_of<std::int64_t>(*this, key, "an integer");
  return v ? *v : fallback;
}

float node::number(const std::string& key, float fallback) const {
  const auto* v = attribute_of<float>(*this, key, "a float");
  return v ? *v : fallback;
}

std::string node::text(const std::string& key, const std::string& fallback) const {
  const auto* v = attribute_of<std::string>(*this, key, "a string");
  return v ? *v : fallback;
}

std::vector<std::int64_t> node::integers(const std::string& key, const std::vector<std::int64_t>& fallback) const {
  const auto* v = attribute_of<std::vector<std::int64_t>>(*this, key, "a list of integers");
  return v ? *v : fallback;
}

value_id graph::find(const std::string& value_name) const {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i].name == value_name) return static_cast<value_id>(i);
  return no_value;
}

node node_of(std::string op, std::string name, std::vector<value_id> inputs, value_id output, int version) {
  node n;
  n.op = std::move(op);
  n.name = std::move(name);
  n.version = version;
  n.inputs = std::move(inputs);
  n.outputs = {output};
  return n;
}

value_id graph::add(value v) {
  values.push_back(std::move(v));
  return static_cast<value_id>(values.size() - 1);
}

value_id graph::add_constant(const std::string& value_name, array a) {
  value v;
  v.name = value_name;
  v.hold(std::move(a));
  return add(std::move(v));
}

std::vector<const graph*> graphs_inside(const node& n) {
  std::vector<const graph*> found;
  for (const auto& [key, a] : n.attributes)
    if (const auto* inner = std::get_if<std::shared_ptr<graph>>(&a); inner != nullptr && *inner != nullptr)
      found.push_back(inner->get());
  return found;
}

std::vector<std::string> captured_names(const node& n) {
  std::vector<std::string> names;
  for (const graph* inner : graphs_inside(n))
    for (const value_id v : inner->captures) names.push_back(inner->at(v).name);
  return names;
}

std::int64_t constant_elements(const graph& g) {
  std::int64_t sum = 0;
  std::unordered_set<const array*> counted;  // several values may share one
  for (const value& v : g.values)
    if (v.constant && counted.insert(v.constant.get()).second) sum += v.constant->count();
  for (const node& n : g.nodes) {
    for (const auto& [key, a] : n.attributes)
      if (const auto* constant = std::get_if<array>(&a)) sum += constant->count();
    for (const graph* inner : graphs_inside(n)) sum += constant_elements(*inner);
  }
  return sum;
}

std::string describe(const graph& g, const node& n) {
  constexpr std::size_t max_named = 8;
  std::string text = "node '" + n.name + "' (" + (n.domain.empty() ? "" : n.domain + ".") + n.op + ", opset " +
                     std::to_string(n.version);
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (i == max_named) return text + ", and " + std::to_string(n.inputs.size() - i) + " more)";
    text += i == 0 ? ", input " : ", ";
    if (n.inputs[i] == no_value) {
      text += "absent";
      continue;
    }
    const value& v = g.at(n.inputs[i]);
    text += v.known_rank ? to_string(v.shape) : "of unknown shape";
    if (v.typed) text += std::string(" ") + name_of(v.type);
  }
  return text + ")";
}

}
