// SPDX-License-Identifier: MIT
#include "bounded/node_writer.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "graph/onnx_type.hpp"
#include "reference/run_node.hpp"

namespace nsk::tool::bounded {
namespace {

constexpr int helper_version = 17;

std::int64_t onnx_of(element t) { return number_of(onnx_type_of(t)); }

}

node_writer::node_writer(const graph& g) : m_made(g) {
  m_made.nodes.clear();
  for (const value& v : g.values) m_value_names.take(v.name);
  for (const node& n : g.nodes) m_node_names.take(n.name);
}

void node_writer::place_with(const std::vector<value_id>& inputs) {
  node n = *m_node;
  n.inputs = inputs;
  place(std::move(n));
}

value_id node_writer::new_value(const std::string& name, element type, const shape_t& shape) {
  const value_id v = new_value(name);
  made(v).set(type, shape);
  return v;
}

value_id node_writer::new_value(const std::string& name) {
  value v;
  v.name = m_value_names.unique(name);
  return m_made.add(std::move(v));
}

value_id node_writer::place_new(node n) {
  reference::call c = reference::make_call(m_made, n);
  std::map<value_id, reference::typed_array> held;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i] == no_value) continue;
    const value& v = made(n.inputs[i]);
    if (v.constant) held.emplace(n.inputs[i], reference::hold(*v.constant));
    c.input(i) = {true, v.type, v.shape, v.constant ? &held.at(n.inputs[i]).data : nullptr};
  }
  reference::infer_node(c);
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    if (n.outputs[i] == no_value) continue;
    made(n.outputs[i]).set(c.output(i).type, c.out_shape(i));
  }
  const value_id result = n.outputs[0];
  place(std::move(n));
  return result;
}

value_id node_writer::emit(const std::string& op, const std::vector<value_id>& inputs,
                           const std::map<std::string, attribute>& attributes, value_id output) {
  const std::string name = m_node_names.unique(m_node->name + "/" + op);
  const value_id result = output != no_value ? output : new_value(name + "/result");
  return place_new({op, "", name, helper_version, inputs, {result}, attributes});
}

value_id node_writer::emit_beside(const node& by, const std::string& suffix, const std::string& op,
                                  const std::vector<value_id>& inputs,
                                  const std::map<std::string, attribute>& attributes, value_id output) {
  const std::string name = by.name + "/" + suffix;
  const value_id result = output != no_value ? output : new_value(name);
  return place_new({op, "", m_node_names.unique(name), by.version, inputs, {result}, attributes});
}

value_id node_writer::constant(array a) { return constant(std::move(a), m_node->name + "/constant"); }

value_id node_writer::constant(array a, const std::string& name) {
  return m_made.add_constant(m_value_names.unique(name), std::move(a));
}

value_id node_writer::integers(const shape_t& shape, const std::vector<i64>& values, element type) {
  array a(type, shape);
  for (i64 i = 0; i < a.count(); ++i) a.set_integer(i, values[static_cast<std::size_t>(i)]);
  return constant(std::move(a));
}

value_id node_writer::neutral_of(element type, neutral what) {
  array a(type, {});
  if (type == element::f32) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    a.set(0, what == neutral::zero ? 0 : what == neutral::one ? 1 : what == neutral::lowest ? -infinite : infinite);
  } else {
    const bool narrow = type == element::i32;
    const i64 low = narrow ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<i64>::min(),
              high = narrow ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<i64>::max();
    a.set_integer(0, what == neutral::zero ? 0 : what == neutral::one ? 1 : what == neutral::lowest ? low : high);
  }
  return constant(std::move(a));
}

value_id node_writer::cast(value_id v, element type) {
  return made(v).type == type ? v : emit("Cast", {v}, {{"to", onnx_of(type)}});
}

value_id node_writer::reshaped(value_id v, const shape_t& shape) {
  if (made(v).shape == shape) return v;
  return emit("Reshape", {v, integers({static_cast<i64>(shape.size())}, shape)});
}

value_id node_writer::slice(value_id v, std::size_t axis, i64 start, i64 end, value_id output) {
  return emit("Slice", {v, integers({1}, {start}), integers({1}, {end}), integers({1}, {static_cast<i64>(axis)})}, {},
              output);
}

void node_writer::remove_dead() {
  std::set<value_id> live(m_made.outputs.begin(), m_made.outputs.end());
  std::vector<node> kept;
  for (std::size_t i = m_made.nodes.size(); i-- > 0;) {
    node& n = m_made.nodes[i];
    if (std::none_of(n.outputs.begin(), n.outputs.end(), [&](value_id v) { return live.count(v) != 0; })) continue;
    live.insert(n.inputs.begin(), n.inputs.end());
    live.erase(no_value);
    kept.push_back(std::move(n));
  }
  std::reverse(kept.begin(), kept.end());
  m_made.nodes = std::move(kept);
}

}
