// SPDX-License-Identifier: MIT
/// Nodes with graphs inside: If with a known condition becomes its branch, with another one both branches and a
/// selection; Loop and Scan with a known number of iterations become their bodies, one after the other.
#include <algorithm>

#include "errors.hpp"
#include "resolve/resolver.hpp"

namespace nsk::tool {
namespace {

constexpr char same_shape_mark[] = "nsk_same_shape";   // attribute of a Where between the results of two branches
constexpr char continuation[] = "nsk_next_iteration";  // operator behind the nodes of an iteration
constexpr std::int64_t most_iterations = 1024;
constexpr std::size_t most_placed = std::size_t{64} << 20;  // bytes of values and nodes that take the place of others

std::shared_ptr<graph> body_of(const graph& g, const node& n) {
  const auto found = n.attributes.find("body");
  const auto* body = found == n.attributes.end() ? nullptr : std::get_if<std::shared_ptr<graph>>(&found->second);
  if (body == nullptr || *body == nullptr) refuse(describe(g, n) + ": its body is missing. The file is damaged");
  return *body;
}

}

bool resolver::is_control_flow(const node& n) {
  return n.domain.empty() && (n.op == "If" || n.op == "Loop" || n.op == "Scan" || n.op == continuation);
}

void resolver::inline_body(const node& n) {
  if (n.op == "If") return inline_branch(n);
  if (n.op == continuation) return continue_loop(n.name);
  m_unrolling[n.name] = n.op == "Loop" ? begin_loop(n) : begin_scan(n);
  continue_loop(n.name);
}

// If.

void resolver::inline_branch(const node& n) {
  const value_id condition = n.inputs.empty() ? no_value : n.inputs[0];
  if (condition == no_value) refuse(describe(m_graph, n) + ": the condition is missing. The file is damaged");
  if (at(condition).constant)
    place_graph(n, *reference::branch_of(m_graph, n, *at(condition).constant), {}, n.outputs, n.name);
  else
    select_branch(n);
}

/// Operators have no effects but their results, so both branches are computed, and the results of one are taken.
void resolver::select_branch(const node& n) {
  const value& condition = at(n.inputs[0]);
  if (condition.type != element::boolean || count_of(condition.shape) != 1)
    refuse(describe(m_graph, n) + ": the condition must be one boolean");
  const value_id scalar = new_value(n, "condition");
  std::vector<value_id> results[2];
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    const std::string number = std::to_string(i);
    for (const std::size_t side : {0, 1})
      results[side].push_back(n.outputs[i] == no_value ? no_value
                                                       : new_value(n, (side == 0 ? "then_" : "else_") + number));
    if (n.outputs[i] == no_value) continue;
    m_waiting.push_back(
        helper(n, "Where", "output_" + number, {scalar, results[0].back(), results[1].back()}, n.outputs[i]));
    m_waiting.back().attributes[same_shape_mark] = std::int64_t{1};
    m_waiting.back().version = std::max(n.version, 9);  // older opsets have If, but no Where
  }
  for (const std::size_t side : {1, 0}) {
    array taken(element::boolean, {1});
    taken.set_integer(0, side == 0 ? 1 : 0);
    place_graph(n, *reference::branch_of(m_graph, n, taken), {}, results[side], n.name);
  }
  m_waiting.push_back(helper(n, "Squeeze", "condition", {n.inputs[0]}, scalar));
}

/// Both sides of a selection between branches have one shape: broadcasting is not meant.
void resolver::require_same_shapes(node& n) {
  if (n.attributes.erase(same_shape_mark) == 0) return;
  if (at(n.inputs[1]).shape != at(n.inputs[2]).shape || at(n.inputs[1]).type != at(n.inputs[2]).type)
    refuse(describe(m_graph, n) +
           ": the branches of an If give different shapes, and its condition is computed at run time. If it follows "
           "from an input, fix that one with --set");
}

// Loop and Scan.

resolver::unrolling resolver::begin_loop(const node& n) {
  unrolling u;
  u.n = n;
  u.body = body_of(m_graph, n);
  u.counts = true;
  const value_id trips = n.inputs.empty() ? no_value : n.inputs[0];
  if (trips != no_value && !at(trips).constant)
    refuse(
        describe(m_graph, n) +
        ": its number of iterations is computed at run time; loops are unrolled at conversion. If it follows from an "
        "input, fix that one with --set");
  if (trips != no_value && (at(trips).constant->count() != 1 || at(trips).type != element::i64))
    refuse(describe(m_graph, n) + ": its number of iterations must be one int64. The file is damaged");
  u.count = trips == no_value ? most_iterations + 1 : at(trips).constant->integer(0);
  u.condition = n.inputs.size() > 1 ? n.inputs[1] : no_value;
  if (n.inputs.size() > 2) u.carried.assign(n.inputs.begin() + 2, n.inputs.end());
  const std::size_t carried = u.carried.size();
  if (u.body->inputs.size() != carried + 2 || u.body->outputs.size() < carried + 1 ||
      n.outputs.size() > u.body->outputs.size() - 1)
    refuse(describe(m_graph, n) + ": its body has other inputs or outputs than the loop. The file is damaged");
  u.results.resize(u.body->outputs.size() - 1 - carried);
  return u;
}

resolver::unrolling resolver::begin_scan(const node& n) {
  if (n.version < 9) refuse(describe(m_graph, n) + ": Scan is supported from opset 9 on; convert the model");
  unrolling u;
  u.n = n;
  u.body = body_of(m_graph, n);
  const std::int64_t scanned = n.integer("num_scan_inputs", 0);
  const auto inputs = static_cast<std::int64_t>(n.inputs.size());
  const auto carried = static_cast<std::size_t>(inputs - std::clamp<std::int64_t>(scanned, 0, inputs));
  if (scanned < 1 || scanned > inputs || u.body->inputs.size() != n.inputs.size() || u.body->outputs.size() < carried ||
      n.outputs.size() > u.body->outputs.size())
    refuse(describe(m_graph, n) + ": its body has other inputs or outputs than the scan. The file is damaged");
  u.carried.assign(n.inputs.begin(), n.inputs.begin() + static_cast<std::ptrdiff_t>(carried));
  u.results.resize(u.body->outputs.size() - carried);
  const auto entry = [](const std::vector<std::int64_t>& list, std::size_t i) { return i < list.size() ? list[i] : 0; };
  const std::vector<std::int64_t> input_axes = n.integers("scan_input_axes"),
                                  input_directions = n.integers("scan_input_directions"),
                                  output_axes = n.integers("scan_output_axes"),
                                  output_directions = n.integers("scan_output_directions");
  u.count = -1;
  for (std::size_t i = carried; i < n.inputs.size(); ++i) {
    if (n.inputs[i] == no_value) refuse(describe(m_graph, n) + ": an input is missing. The file is damaged");
    const shape_t& shape = at(n.inputs[i]).shape;
    const auto rank = static_cast<std::int64_t>(shape.size());
    std::int64_t axis = entry(input_axes, i - carried);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) refuse(describe(m_graph, n) + ": scan_input_axes names an axis that does not exist");
    const std::int64_t length = shape[static_cast<std::size_t>(axis)];
    if (u.count >= 0 && u.count != length) refuse(describe(m_graph, n) + ": its inputs have different lengths");
    u.count = length;
    u.slices.push_back({n.inputs[i], static_cast<std::size_t>(axis), entry(input_directions, i - carried) != 0});
  }
  for (std::size_t i = 0; i < u.results.size(); ++i) {
    if (entry(output_axes, i) < 0)
      refuse(describe(m_graph, n) + ": negative scan_output_axes are not supported; count them from the front");
    u.results[i].axis = static_cast<std::size_t>(entry(output_axes, i));
    u.results[i].backwards = entry(output_directions, i) != 0;
  }
  return u;
}

void resolver::continue_loop(const std::string& name) {
  unrolling& u = m_unrolling.at(name);
  if (goes_on(u)) {
    place_iteration(u);
  } else {
    place_results(u);
    m_unrolling.erase(name);
  }
}

bool resolver::goes_on(const unrolling& u) {
  if (u.iteration >= u.count) return false;
  if (u.condition != no_value) {
    if (!at(u.condition).constant)
      refuse(describe(m_graph, u.n) +
             ": whether it goes on is computed at run time; loops are unrolled at conversion. Export it with a fixed "
             "number of iterations");
    if (at(u.condition).constant->count() != 1)
      refuse(describe(m_graph, u.n) + ": its condition must be one boolean. The file is damaged");
    if (at(u.condition).constant->integer(0) == 0) return false;
  }
  if (u.iteration >= most_iterations || m_graph.nodes.size() > most_nodes)
    refuse(describe(m_graph, u.n) + ": it has more than " + std::to_string(u.iteration) +
           " iterations, which is more than can be unrolled; run its body as a model of its own, with its values as "
           "states (--state)");
  return true;
}

void resolver::place_iteration(unrolling& u) {
  const std::string number = std::to_string(u.iteration);
  std::vector<value_id> inputs, outputs;
  std::vector<node> first;
  if (u.counts) {
    array counter = make_ints({}, {u.iteration}), goes(element::boolean, {});
    goes.set_integer(0, 1);
    inputs = {new_constant(u.n, "iteration_" + number, std::move(counter)),
              new_constant(u.n, "condition_" + number, std::move(goes))};
    outputs.push_back(u.condition = new_value(u.n, "goes_on_" + number));
  }
  inputs.insert(inputs.end(), u.carried.begin(), u.carried.end());
  for (std::size_t i = 0; i < u.slices.size(); ++i) {
    const unrolling::slice& s = u.slices[i];
    const std::int64_t position = s.backwards ? u.count - 1 - u.iteration : u.iteration;
    const std::string suffix = "slice_" + std::to_string(i) + "_" + number;
    const value_id index = new_constant(u.n, suffix + "_index", make_ints({}, {position}));
    inputs.push_back(new_value(u.n, suffix));
    first.push_back(helper(u.n, "Gather", suffix, {s.from, index}, inputs.back()));
    first.back().attributes["axis"] = static_cast<std::int64_t>(s.axis);
  }
  for (std::size_t i = 0; i < u.carried.size(); ++i) {
    u.carried[i] = new_value(u.n, "carried_" + std::to_string(i) + "_" + number);
    outputs.push_back(u.carried[i]);
  }
  for (std::size_t i = 0; i < u.results.size(); ++i) {
    outputs.push_back(new_value(u.n, "result_" + std::to_string(i) + "_" + number));
    u.results[i].parts.push_back(outputs.back());
  }
  ++u.iteration;
  node next = helper(u.n, continuation, "", {}, no_value);
  next.name = u.n.name;
  m_waiting.push_back(std::move(next));
  place_graph(u.n, *u.body, inputs, outputs, u.n.name + "/" + number);
  m_waiting.insert(m_waiting.end(), std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()));
}

void resolver::place_results(const unrolling& u) {
  for (std::size_t i = 0; i < u.n.outputs.size(); ++i) {
    const value_id output = u.n.outputs[i];
    if (output == no_value) continue;
    const std::string name = "output_" + std::to_string(i);
    if (i < u.carried.size())
      m_waiting.push_back(helper(u.n, "Identity", name, {u.carried[i]}, output));
    else
      place_collection(u, u.results[i - u.carried.size()], name, output);
  }
}

/// Joins the results of all iterations along a new axis.
void resolver::place_collection(const unrolling& u, const unrolling::collected& c, const std::string& name,
                                value_id output) {
  if (c.parts.empty())
    refuse(describe(m_graph, u.n) + ": it has no iteration, so what it collects is empty; cut the graph before it");
  shape_t shape = at(c.parts[0]).shape;
  if (c.axis > shape.size()) refuse(describe(m_graph, u.n) + ": scan_output_axes names an axis that does not exist");
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(c.axis), 1);
  const value_id wide = new_constant(u.n, name + "_shape", make_ints({static_cast<std::int64_t>(shape.size())}, shape));
  std::vector<value_id> parts;
  std::vector<node> reshapes;
  for (const value_id part : c.parts) {
    const std::string suffix = name + "_part_" + std::to_string(parts.size());
    parts.push_back(new_value(u.n, suffix));
    reshapes.push_back(helper(u.n, "Reshape", suffix, {part, wide}, parts.back()));
  }
  if (c.backwards) std::reverse(parts.begin(), parts.end());
  node join = helper(u.n, "Concat", name, std::move(parts), output);
  join.attributes["axis"] = static_cast<std::int64_t>(c.axis);
  m_waiting.push_back(std::move(join));
  m_waiting.insert(m_waiting.end(), std::make_move_iterator(reshapes.begin()), std::make_move_iterator(reshapes.end()));
}

// Graphs in the place of nodes.

void resolver::place_graph(const node& n, const graph& inner, const std::vector<value_id>& inputs,
                           const std::vector<value_id>& outputs, const std::string& prefix) {
  std::vector<value_id> ids(inner.values.size(), no_value);
  names renamed;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == no_value)
      refuse(describe(m_graph, n) + ": input " + std::to_string(i) + " of its body is missing");
    ids[static_cast<std::size_t>(inner.inputs[i])] = inputs[i];
    renamed[inner.values[static_cast<std::size_t>(inner.inputs[i])].name] = at(inputs[i]).name;
  }
  for (value_id v : inner.captures) {
    const std::string& name = inner.values[static_cast<std::size_t>(v)].name;
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
      renamed[inner.values[static_cast<std::size_t>(inner.outputs[i])].name] = at(id).name;
    } else {
      identities.push_back(helper(n, "Identity", "output_" + std::to_string(i), {inner.outputs[i]}, outputs[i]));
    }
  }
  for (std::size_t v = 0; v < inner.values.size(); ++v)
    if (ids[v] == no_value) ids[v] = adopt(inner.values[v], prefix, renamed);

  for (node& identity : identities) identity.inputs[0] = ids[static_cast<std::size_t>(identity.inputs[0])];
  m_waiting.insert(m_waiting.end(), std::make_move_iterator(identities.begin()),
                   std::make_move_iterator(identities.end()));
  for (std::size_t i = inner.nodes.size(); i-- > 0;) m_waiting.push_back(adopt(inner.nodes[i], prefix, ids, renamed));
}

void resolver::charge(std::size_t bytes, const std::string& name) {
  m_placed += bytes;
  if (m_placed > most_placed)
    refuse("'" + name + "': the graphs inside loops and conditions would take more than " +
           std::to_string(most_placed >> 20) +
           " MiB when they are unrolled; run the body of the loop as a model of its own, with its values as states "
           "(--state)");
}

value_id resolver::adopt(const value& v, const std::string& prefix, names& renamed) {
  charge(sizeof(value) + 64 + v.name.size() + prefix.size(), v.name);
  value copy = v;
  while (m_ids.count(copy.name) != 0) copy.name = prefix + "/" + copy.name;
  if (copy.name != v.name) renamed[v.name] = copy.name;
  const std::string name = copy.name;
  return m_ids[name] = m_graph.add(std::move(copy));
}

namespace {

/// Nodes in the graphs inside `n`, all of which are copied with it.
std::size_t nodes_inside(const node& n) {
  std::size_t count = 0;
  for (const auto& [key, a] : n.attributes)
    if (const auto* sub = std::get_if<std::shared_ptr<graph>>(&a))
      for (const node& inner : (*sub)->nodes) count += 1 + nodes_inside(inner);
  return count;
}

void rename_captures(node& n, const std::map<std::string, std::string>& renamed) {
  for (auto& [key, a] : n.attributes) {
    auto* sub = std::get_if<std::shared_ptr<graph>>(&a);
    if (sub == nullptr) continue;
    auto copy = std::make_shared<graph>(**sub);
    for (value_id v : copy->captures) {
      std::string& name = copy->values[static_cast<std::size_t>(v)].name;
      const auto found = renamed.find(name);
      if (found != renamed.end()) name = found->second;
    }
    for (node& inner : copy->nodes) rename_captures(inner, renamed);
    *sub = std::move(copy);
  }
}

}

node resolver::adopt(const node& n, const std::string& prefix, const std::vector<value_id>& ids, const names& renamed) {
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

node resolver::helper(const node& n, const char* op, const std::string& suffix, std::vector<value_id> inputs,
                      value_id output) {
  node h;
  h.op = op;
  h.name = n.name + "/" + suffix;
  h.version = n.version;
  h.inputs = std::move(inputs);
  h.outputs = {output};
  return h;
}

value_id resolver::new_value(const node& n, const std::string& suffix) {
  value v;
  v.name = n.name + "/" + suffix;
  names ignored;
  return adopt(v, n.name, ignored);
}

value_id resolver::new_constant(const node& n, const std::string& suffix, array a) {
  const value_id id = new_value(n, suffix);
  value& v = at(id);
  v.type = a.type;
  v.shape = a.shape;
  v.typed = v.known_rank = true;
  v.constant = std::make_shared<const array>(std::move(a));
  return id;
}

}
