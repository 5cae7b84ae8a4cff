// SPDX-License-Identifier: MIT
#include "chunks/node_writer.hpp"

#include "errors.hpp"

namespace nsk::tool::chunks {

node_writer::node_writer(const graph& whole) : m_whole(whole) {
  for (const value& v : whole.values) m_names.take(v.name);
  for (const node& n : whole.nodes) m_nodes.take(n.name);
  m_made.name = whole.name;
  m_made.producer = whole.producer;
  m_made.facts = whole.facts;
}

void node_writer::refuse(const std::string& why) const { tool::refuse(describe(m_whole, *m_node) + ": " + why); }

value_id node_writer::new_value(const std::string& name, element type) {
  value v;
  v.name = m_names.unique(name);
  v.type = type;
  return m_made.add(std::move(v));
}

value_id node_writer::add(const std::string& op, std::vector<value_id> inputs, attributes a, int version) {
  const std::string base = m_node->name + "." + op;
  node n = node_of(op, m_nodes.unique(base), std::move(inputs), new_value(base), version);
  n.attributes = std::move(a);
  m_made.nodes.push_back(std::move(n));
  return m_made.nodes.back().outputs[0];
}

value_id node_writer::constant(array a) {
  return m_made.add_constant(m_names.unique(m_node->name + ".numbers"), std::move(a));
}

value_id node_writer::integers(const std::vector<std::int64_t>& numbers) {
  return constant(make_ints({static_cast<std::int64_t>(numbers.size())}, numbers));
}

value_id node_writer::number(double x, element type) {
  array a(type, {});
  is_float(type) ? a.set(0, x) : a.set_integer(0, static_cast<std::int64_t>(x));
  return constant(std::move(a));
}

value_id node_writer::part(value_id x, std::size_t axis, std::int64_t from, std::int64_t to, std::int64_t step) {
  return add("Slice",
             {x, integers({from}), integers({to}), integers({static_cast<std::int64_t>(axis)}), integers({step})});
}

}
