// SPDX-License-Identifier: MIT
#include "resolve/shapes/unroll.hpp"

#include <algorithm>

#include "errors.hpp"
#include "graph/cures.hpp"
#include "reference/run_node.hpp"

namespace nsk::tool {
namespace {

constexpr char same_shape_mark[] = "nsk_same_shape";   // attribute of a Where between the results of two branches
constexpr char continuation[] = "nsk_next_iteration";  // operator behind the nodes of an iteration
constexpr std::int64_t max_iterations = 1024;

std::shared_ptr<graph> body_of(const graph& g, const node& n) {
  const auto* body = n.find<std::shared_ptr<graph>>("body");
  if (body == nullptr || *body == nullptr) refuse(describe(g, n) + ": its body is missing. The file is damaged");
  return *body;
}

}

bool unroller::takes(const node& n) {
  return n.domain.empty() && (n.op == "If" || n.op == "Loop" || n.op == "Scan" || n.op == continuation);
}

void unroller::unroll(const node& n) {
  if (n.op == "If") return inline_branch(n);
  if (n.op == continuation) return continue_loop(n.name);
  m_unrolling[n.name] = n.op == "Loop" ? begin_loop(n) : begin_scan(n);
  continue_loop(n.name);
}

// If.

void unroller::inline_branch(const node& n) {
  const value_id condition = n.inputs.empty() ? no_value : n.inputs[0];
  if (condition == no_value) refuse(describe(m_graph, n) + ": the condition is missing. The file is damaged");
  if (at(condition).constant)
    m_placer.place_graph(n, *reference::branch_of(m_graph, n, *at(condition).constant), {}, n.outputs, n.name);
  else
    select_branch(n);
}

/// Operators have no effects but their results, so both branches are computed, and the results of one are taken.
void unroller::select_branch(const node& n) {
  const value& condition = at(n.inputs[0]);
  if (condition.type != element::boolean || count_of(condition.shape) != 1)
    refuse(describe(m_graph, n) + ": the condition must be one boolean");
  const value_id scalar = m_placer.new_value(n, "condition");
  std::vector<value_id> results[2];
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    const std::string number = std::to_string(i);
    for (const std::size_t side : {0, 1})
      results[side].push_back(
          n.outputs[i] == no_value ? no_value : m_placer.new_value(n, (side == 0 ? "then_" : "else_") + number));
    if (n.outputs[i] == no_value) continue;
    m_placer.place(m_placer.helper(n, "Where", "output_" + number, {scalar, results[0].back(), results[1].back()},
                                   n.outputs[i], {{same_shape_mark, std::int64_t{1}}},
                                   std::max(n.version, 9)));  // older opsets have If, but no Where
  }
  forget_complete_selections();
  m_selections.push_back({m_placer.waiting(), n.inputs[0]});
  for (const std::size_t side : {1, 0}) {
    array taken(element::boolean, {1});
    taken.set_integer(0, side == 0 ? 1 : 0);
    m_placer.place_graph(n, *reference::branch_of(m_graph, n, taken), {}, results[side], n.name);
  }
  m_placer.place(m_placer.helper(n, "Squeeze", "condition", {n.inputs[0]}, scalar));
}

void unroller::forget_complete_selections() {
  while (!m_selections.empty() && m_placer.waiting() < m_selections.back().below) m_selections.pop_back();
}

std::string unroller::options_that_choose() {
  forget_complete_selections();
  for (auto s = m_selections.rbegin(); s != m_selections.rend(); ++s)
    if (const auto choice = number_that_decides(m_graph, s->condition))
      return " --set " + choice->input + "=" + choice->number;
    else if (const std::string options = options_that_set(m_graph, s->condition); !options.empty())
      return options;
  return "";
}

void unroller::require_same_shapes(node& n) {
  if (n.attributes.erase(same_shape_mark) == 0) return;
  if (at(n.inputs[1]).shape != at(n.inputs[2]).shape || at(n.inputs[1]).type != at(n.inputs[2]).type)
    refuse(describe(m_graph, n) +
           ": the branches of an If give different shapes, and its condition is computed at run time. " +
           cure_that_decides(m_graph, n.inputs[0]));
}

// Loop and Scan.

unroller::unrolling unroller::begin_loop(const node& n) {
  unrolling u;
  u.n = n;
  u.body = body_of(m_graph, n);
  u.counts = true;
  const value_id trips = n.inputs.empty() ? no_value : n.inputs[0];
  if (trips != no_value && !at(trips).constant)
    refuse(describe(m_graph, n) +
           ": its number of iterations is computed at run time; loops are unrolled at conversion. " +
           cure_that_sets(m_graph, trips) + ", or " + cure_that_ends_before(m_graph, n));
  if (trips != no_value && (at(trips).constant->count() != 1 || at(trips).type != element::i64))
    refuse(describe(m_graph, n) + ": its number of iterations must be one int64. The file is damaged");
  u.count = trips == no_value ? max_iterations + 1 : at(trips).constant->integer(0);
  u.condition = n.inputs.size() > 1 ? n.inputs[1] : no_value;
  if (n.inputs.size() > 2) u.carried.assign(n.inputs.begin() + 2, n.inputs.end());
  const std::size_t carried = u.carried.size();
  if (u.body->inputs.size() != carried + 2 || u.body->outputs.size() < carried + 1 ||
      n.outputs.size() > u.body->outputs.size() - 1)
    refuse(describe(m_graph, n) + ": its body has other inputs or outputs than the loop. The file is damaged");
  u.results.resize(u.body->outputs.size() - 1 - carried);
  return u;
}

unroller::unrolling unroller::begin_scan(const node& n) {
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

void unroller::continue_loop(const std::string& name) {
  unrolling& u = m_unrolling.at(name);
  if (goes_on(u)) {
    place_iteration(u);
  } else {
    place_results(u);
    m_unrolling.erase(name);
  }
}

bool unroller::goes_on(const unrolling& u) {
  if (u.iteration >= u.count) return false;
  if (u.condition != no_value) {
    if (!at(u.condition).constant)
      refuse(describe(m_graph, u.n) +
             ": whether it goes on is computed at run time; loops are unrolled at conversion. Export it with a fixed "
             "number of iterations, or " +
             cure_that_ends_before(m_graph, u.n));
    if (at(u.condition).constant->count() != 1)
      refuse(describe(m_graph, u.n) + ": its condition must be one boolean. The file is damaged");
    if (at(u.condition).constant->integer(0) == 0) return false;
  }
  if (u.iteration >= max_iterations || m_graph.nodes.size() > max_nodes)
    refuse(describe(m_graph, u.n) + ": it has more than " + std::to_string(u.iteration) +
           " iterations, which is more than can be unrolled; run its body as a model of its own, with its values as "
           "states (--state)");
  return true;
}

void unroller::place_iteration(unrolling& u) {
  const std::string number = std::to_string(u.iteration);
  std::vector<value_id> inputs, outputs;
  std::vector<node> first;
  if (u.counts) {
    array counter = make_ints({}, {u.iteration}), goes(element::boolean, {});
    goes.set_integer(0, 1);
    inputs = {m_placer.new_constant(u.n, "iteration_" + number, std::move(counter)),
              m_placer.new_constant(u.n, "condition_" + number, std::move(goes))};
    outputs.push_back(u.condition = m_placer.new_value(u.n, "goes_on_" + number));
  }
  inputs.insert(inputs.end(), u.carried.begin(), u.carried.end());
  for (std::size_t i = 0; i < u.slices.size(); ++i) {
    const unrolling::slice& s = u.slices[i];
    const std::int64_t position = s.backwards ? u.count - 1 - u.iteration : u.iteration;
    const std::string suffix = "slice_" + std::to_string(i) + "_" + number;
    const value_id index = m_placer.new_constant(u.n, suffix + "_index", make_ints({}, {position}));
    inputs.push_back(m_placer.new_value(u.n, suffix));
    first.push_back(m_placer.helper(u.n, "Gather", suffix, {s.from, index}, inputs.back(),
                                    {{"axis", static_cast<std::int64_t>(s.axis)}}));
  }
  for (std::size_t i = 0; i < u.carried.size(); ++i) {
    u.carried[i] = m_placer.new_value(u.n, "carried_" + std::to_string(i) + "_" + number);
    outputs.push_back(u.carried[i]);
  }
  for (std::size_t i = 0; i < u.results.size(); ++i) {
    outputs.push_back(m_placer.new_value(u.n, "result_" + std::to_string(i) + "_" + number));
    u.results[i].parts.push_back(outputs.back());
  }
  ++u.iteration;
  node next = m_placer.helper(u.n, continuation, "", {}, no_value);
  next.name = u.n.name;
  m_placer.place(std::move(next));
  m_placer.place_graph(u.n, *u.body, inputs, outputs, u.n.name + "/" + number);
  m_placer.place(std::move(first));
}

void unroller::place_results(const unrolling& u) {
  for (std::size_t i = 0; i < u.n.outputs.size(); ++i) {
    const value_id output = u.n.outputs[i];
    if (output == no_value) continue;
    const std::string name = "output_" + std::to_string(i);
    if (i < u.carried.size())
      m_placer.place(m_placer.helper(u.n, "Identity", name, {u.carried[i]}, output));
    else
      place_collection(u, u.results[i - u.carried.size()], name, output);
  }
}

/// Joins the results of all iterations along a new axis.
void unroller::place_collection(const unrolling& u, const unrolling::collected& c, const std::string& name,
                                value_id output) {
  if (c.parts.empty())
    refuse(describe(m_graph, u.n) + ": it has no iteration, so what it collects is empty; " +
           cure_that_ends_before(m_graph, u.n));
  shape_t shape = at(c.parts[0]).shape;
  if (c.axis > shape.size()) refuse(describe(m_graph, u.n) + ": scan_output_axes names an axis that does not exist");
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(c.axis), 1);
  const value_id wide =
      m_placer.new_constant(u.n, name + "_shape", make_ints({static_cast<std::int64_t>(shape.size())}, shape));
  std::vector<value_id> parts;
  std::vector<node> reshapes;
  for (const value_id part : c.parts) {
    const std::string suffix = name + "_part_" + std::to_string(parts.size());
    parts.push_back(m_placer.new_value(u.n, suffix));
    reshapes.push_back(m_placer.helper(u.n, "Reshape", suffix, {part, wide}, parts.back()));
  }
  if (c.backwards) std::reverse(parts.begin(), parts.end());
  m_placer.place(
      m_placer.helper(u.n, "Concat", name, std::move(parts), output, {{"axis", static_cast<std::int64_t>(c.axis)}}));
  m_placer.place(std::move(reshapes));
}

}
