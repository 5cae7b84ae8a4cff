// SPDX-License-Identifier: MIT
#include "spell/node_placer.hpp"

#include <algorithm>

#include "errors.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_spelled = std::size_t{1} << 30;
constexpr std::size_t max_placed = std::size_t{64} << 20;  // bytes of values and nodes that take the place of others

/// Nodes in the graphs inside `n`, all of which are copied with it.
std::size_t nodes_inside(const node& n) {
  std::size_t count = 0;
  for (const graph* sub : graphs_inside(n))
    for (const node& inner : sub->nodes) count += 1 + nodes_inside(inner);
  return count;
}

}

void rename_captures(node& n, const std::map<std::string, std::string>& renamed) {
  for (auto& [key, a] : n.attributes) {
    auto* sub = std::get_if<std::shared_ptr<graph>>(&a);
    if (sub == nullptr) continue;
    auto copy = std::make_shared<graph>(**sub);
    for (value_id v : copy->captures) {
      std::string& name = copy->at(v).name;
      const auto found = renamed.find(name);
      if (found != renamed.end()) name = found->second;
    }
    for (node& inner : copy->nodes) rename_captures(inner, renamed);
    *sub = std::move(copy);
  }
}

node_placer::node_placer(graph& g) : m_graph(g) {
  for (std::size_t i = 0; i < g.values.size(); ++i) m_ids.emplace(g.values[i].name, static_cast<value_id>(i));
  for (const node& n : g.nodes) m_node_names.insert(n.name);
  m_waiting.assign(std::make_move_iterator(g.nodes.rbegin()), std::make_move_iterator(g.nodes.rend()));
  g.nodes.clear();
}

node node_placer::take() {
  node n = std::move(m_waiting.back());
  m_waiting.pop_back();
  return n;
}

void node_placer::place(std::vector<node> nodes) {
  m_waiting.insert(m_waiting.end(), std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
}

void node_placer::place_graph(const node& n, const graph& inner, const std::vector<value_id>& inputs,
                              const std::vector<value_id>& outputs, const std::string& prefix) {
  std::vector<value_id> ids(inner.values.size(), no_value);
  names renamed;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == no_value)
      refuse(describe(m_graph, n) + ": input " + std::to_string(i) + " of its body is missing");
    ids[static_cast<std::size_t>(inner.inputs[i])] = inputs[i];
    renamed[inner.at(inner.inputs[i]).name] = at(inputs[i]).name;
  }
  for (value_id v : inner.captures) {
    const std::string& name = inner.at(v).name;
    const auto found = m_ids.find(name);
    if (found == m_ids.end())
      refuse(describe(m_graph, n) + ": a graph inside reads '" + name + "', which nothing produces");
    ids[static_cast<std::size_t>(v)] = found->second;
  }
  std::set<value_id> produced;
  for (const node& i : inner.nodes) produced.insert(i.outputs.begin(), i.outputs.end());
  std::vector<node> identities;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == no_value) continue;
    value_id& id = ids[static_cast<std::size_t>(inner.outputs[i])];
    if (id == no_value && produced.count(inner.outputs[i]) != 0) {
      id = outputs[i];
      renamed[inner.at(inner.outputs[i]).name] = at(id).name;
    } else {
      identities.push_back(helper(n, "Identity", "output_" + std::to_string(i), {inner.outputs[i]}, outputs[i]));
    }
  }
  for (std::size_t v = 0; v < inner.values.size(); ++v)
    if (ids[v] == no_value) ids[v] = adopt(inner.values[v], prefix, renamed);

  for (node& identity : identities) identity.inputs[0] = ids[static_cast<std::size_t>(identity.inputs[0])];
  place(std::move(identities));
  for (std::size_t i = inner.nodes.size(); i-- > 0;) m_waiting.push_back(adopt(inner.nodes[i], prefix, ids, renamed));
}

std::set<value_id> node_placer::reached_from(const node& n) const {
  std::set<value_id> reached(n.outputs.begin(), n.outputs.end());
  for (auto next = m_waiting.rbegin(); next != m_waiting.rend(); ++next) {
    const auto reads = [&](value_id v) { return v != no_value && reached.count(v) != 0; };
    if (nodes_inside(*next) != 0 || std::any_of(next->inputs.begin(), next->inputs.end(), reads))
      reached.insert(next->outputs.begin(), next->outputs.end());
  }
  return reached;
}

void node_placer::charge(std::size_t bytes, const std::string& name) {
  m_placed += bytes;
  if (m_placed > max_placed)
    refuse("'" + name + "': the graphs inside loops and conditions would take more than " +
           std::to_string(max_placed >> 20) +
           " MiB when they are unrolled; run the body of the loop as a model of its own, with its values as states "
           "(--state)");
}

void node_placer::count_spelled(const node& n, std::size_t bytes) {
  m_spelled += bytes;
  if (m_spelled > max_spelled)
    refuse(describe(m_graph, n) + ": what it is spelled by would take more than " + std::to_string(max_spelled >> 20) +
           " MiB, with those before it. Export a smaller model");
}

value_id node_placer::adopt(const value& v, const std::string& prefix, names& renamed) {
  charge(sizeof(value) + 64 + v.name.size() + prefix.size(), v.name);
  value copy = v;
  while (m_ids.count(copy.name) != 0) copy.name = prefix + "/" + copy.name;
  if (copy.name != v.name) renamed[v.name] = copy.name;
  const std::string name = copy.name;
  return m_ids[name] = m_graph.add(std::move(copy));
}

node node_placer::adopt(const node& n, const std::string& prefix, const std::vector<value_id>& ids,
                        const names& renamed) {
  charge((sizeof(node) + 512) * (1 + nodes_inside(n)) + n.name.size() + prefix.size() +
             sizeof(value_id) * (n.inputs.size() + n.outputs.size()),
         n.name);
  node copy = n;
  while (!m_node_names.insert(copy.name).second) copy.name = prefix + "/" + copy.name;
  for (std::vector<value_id>* list : {&copy.inputs, &copy.outputs})
    for (value_id& v : *list)
      if (v != no_value) v = ids[static_cast<std::size_t>(v)];
  rename_captures(copy, renamed);
  return copy;
}

node node_placer::helper(const node& n, const char* op, const std::string& suffix, std::vector<value_id> inputs,
                         value_id output, std::map<std::string, attribute> attributes, int version) {
  const int own = version == 0 ? n.version : version;
  node made = node_of(op, n.name + "/" + suffix, std::move(inputs), output, own);
  made.attributes = std::move(attributes);
  return made;
}

value_id node_placer::new_value(const node& n, const std::string& suffix) {
  value v;
  v.name = n.name + "/" + suffix;
  names ignored;
  return adopt(v, n.name, ignored);
}

value_id node_placer::new_constant(const node& n, const std::string& suffix, array a) {
  const value_id id = new_value(n, suffix);
  at(id).hold(std::move(a));
  return id;
}

}
