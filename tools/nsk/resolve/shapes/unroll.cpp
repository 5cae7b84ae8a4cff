// SPDX-License-Identifier: MIT
#include "resolve/shapes/unroll.hpp"

#include <algorithm>
#include <optional>

#include "errors.hpp"
#include "graph/cures.hpp"
#include "graph/onnx_type.hpp"
#include "reference/run_node.hpp"
#include "resolve/shapes/bounded.hpp"

namespace nsk::tool {
namespace {

constexpr char same_shape_mark[] = "nsk_same_shape";   // attribute of a Where between the results of two branches
constexpr char continuation[] = "nsk_next_iteration";  // operator behind the nodes of an iteration
constexpr std::int64_t max_iterations = 4096;

/// The axis along which two shapes differ, where that is one.
std::optional<std::size_t> only_other_axis(const shape_t& a, const shape_t& b) {
  std::optional<std::size_t> found;
  if (a.size() != b.size()) return found;
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (a[d] == b[d]) continue;
    if (found) return {};
    found = d;
  }
  return found;
}

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
  unrolling& u = m_unrolling[n.name] = n.op == "Loop" ? begin_loop(n) : begin_scan(n);
  if (u.trips != no_value) return place_first_condition(u);
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

bool unroller::select_rows(node& n) {
  if (n.attributes.erase(same_shape_mark) == 0) return false;
  const value &a = at(n.inputs[1]), &b = at(n.inputs[2]);
  if (a.shape == b.shape && a.type == b.type) return false;
  const std::optional<std::size_t> axis = only_other_axis(a.shape, b.shape);
  if (!m_counts || !axis || a.type != b.type)
    refuse(describe(m_graph, n) +
           ": the branches of an If give different shapes, and its condition is computed at run time. " +
           cure_that_decides(m_graph, n.inputs[0]));
  place_chosen_rows(n, *axis);
  return true;
}

/// The rows of both branches, one behind the other, of which those of one are taken.
void unroller::place_chosen_rows(const node& n, std::size_t axis) {
  const std::int64_t rows[] = {at(n.inputs[1]).shape[axis], at(n.inputs[2]).shape[axis]};
  const value_id other = m_placer.new_value(n, "otherwise"), mask = m_placer.new_value(n, "mask"),
                 both = m_placer.new_value(n, "both"),
                 of_side[] = {m_placer.new_value(n, "then_rows"), m_placer.new_value(n, "else_rows")};
  const auto along = static_cast<std::int64_t>(axis);
  std::vector<node> nodes = {node_placer::helper(n, "Not", "otherwise", {n.inputs[0]}, other, {}, 1)};
  for (const std::size_t side : {0, 1})
    nodes.push_back(
        node_placer::helper(n, "Expand", "mask_" + std::to_string(side),
                            {side == 0 ? n.inputs[0] : other,
                             m_placer.new_constant(n, "rows_" + std::to_string(side), make_ints({1}, {rows[side]}))},
                            of_side[side], {}, 13));
  nodes.push_back(
      node_placer::helper(n, "Concat", "mask", {of_side[0], of_side[1]}, mask, {{"axis", std::int64_t{0}}}, 13));
  nodes.push_back(node_placer::helper(n, "Concat", "both", {n.inputs[1], n.inputs[2]}, both, {{"axis", along}}, 13));
  nodes.push_back(node_placer::helper(
      n, "Compress", "rows", {both, mask}, n.outputs[0],
      {{"axis", along},
       {bounded_rows::row_limit, std::vector<std::int64_t>{std::min(rows[0], rows[1]), std::max(rows[0], rows[1])}}},
      11));
  std::reverse(nodes.begin(), nodes.end());
  m_placer.place(std::move(nodes));
}

// Loop and Scan.

unroller::unrolling unroller::begin_loop(const node& n) {
  unrolling u;
  u.n = n;
  u.body = body_of(m_graph, n);
  u.counts = true;
  const value_id trips = n.inputs.empty() ? no_value : n.inputs[0];
  if (trips != no_value && (count_of(at(trips).shape) != 1 || at(trips).type != element::i64))
    refuse(describe(m_graph, n) + ": its number of iterations must be one int64. The file is damaged");
  if (trips != no_value && !at(trips).constant) u.trips = trips;
  u.count = trips == no_value || u.trips != no_value ? max_iterations + 1 : at(trips).constant->integer(0);
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

bool unroller::goes_on(unrolling& u) {
  if (u.iteration >= u.count) return false;
  if (u.condition != no_value) {
    if (count_of(at(u.condition).shape) != 1)
      refuse(describe(m_graph, u.n) + ": its condition must be one boolean. The file is damaged");
    if (at(u.condition).constant && at(u.condition).constant->integer(0) == 0) return false;
    if (!at(u.condition).constant && !u.ends_by_data) {
      u.ends_by_data = true;
      u.count = std::min(u.count, u.iteration + max_trips(u));
      array counts(element::boolean, {1});
      counts.set_integer(0, 1);
      for (std::int64_t i = 0; i < u.iteration; ++i)  // those so far
        u.actives.push_back(m_placer.new_constant(u.n, "counted_" + std::to_string(i), counts));
    }
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
  const std::vector<value_id> before = u.carried;
  const value_id active = u.condition;
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
  if (u.ends_by_data) {
    u.actives.push_back(active);
    place_choices(u, before, u.condition);
  }
  m_placer.place_graph(u.n, *u.body, inputs, outputs, u.n.name + "/" + number);
  m_placer.place(std::move(first));
}

/// An axis that the body gathers from by the number of the iteration, and nothing else, ends a loop too.
std::int64_t unroller::max_trips(unrolling& u) {
  for (const value_id output : u.n.outputs)
    if (const auto given = output == no_value ? m_bounds.end() : m_bounds.find(at(output).name);
        given != m_bounds.end()) {
      m_used.insert(given->first);
      const std::int64_t own = u.count - u.iteration,
                         asked =
                             std::max<std::int64_t>(given->second - u.iteration, 1);  // the last one raises the flag
      u.may_run_longer = u.count > max_iterations || asked < own;
      return std::min(asked, own);
    }
  if (u.count <= max_iterations) return u.count - u.iteration;
  std::int64_t shortest = max_iterations + 1;
  for (const node& n : u.body->nodes) {
    const bool by_iteration = n.op == "Gather" && n.domain.empty() && n.reads(1) && n.inputs[1] == u.body->inputs[0];
    const value_id from = by_iteration ? m_graph.find(u.body->at(n.inputs[0]).name) : no_value;
    if (from == no_value || !at(from).known_rank) continue;
    const shape_t& shape = at(from).shape;
    const auto axis = static_cast<std::size_t>(counted_from_start(n.integer("axis", 0), shape.size()));
    if (axis < shape.size() && shape[axis] >= 0) shortest = std::min(shortest, shape[axis]);
  }
  u.may_run_longer = true;
  if (shortest <= max_iterations) return std::max<std::int64_t>(shortest - u.iteration, 1);
  const auto named = std::find_if(u.n.outputs.begin(), u.n.outputs.end(), [](value_id v) { return v != no_value; });
  refuse(describe(m_graph, u.n) + ": data ends it, and how often it can run at most is not known. Say it: --bound " +
         (named == u.n.outputs.end() ? "OUTPUT" : at(*named).name) + "=COUNT. " +
         (u.trips == no_value ? "Or " : cure_that_sets(m_graph, u.trips) + ", or ") +
         cure_that_ends_before(m_graph, u.n));
}

/// Whether the first iteration of a loop counts whose number is data.
void unroller::place_first_condition(unrolling& u) {
  u.ends_by_data = true;
  u.count = max_trips(u);
  const value_id given = u.condition, one = m_placer.new_value(u.n, "runs"),
                 zero = m_placer.new_constant(u.n, "none", make_ints({}, {0})),
                 shape = m_placer.new_constant(u.n, "scalar", array(element::i64, {0})),
                 trips = m_placer.new_value(u.n, "trips");
  node next = m_placer.helper(u.n, continuation, "", {}, no_value);
  next.name = u.n.name;
  m_placer.place(std::move(next));
  u.condition = one;
  if (given != no_value) {
    const value_id counts = m_placer.new_value(u.n, "counts"), goes = m_placer.new_value(u.n, "goes");
    m_placer.place(m_placer.helper(u.n, "And", "runs", {goes, counts}, one));
    m_placer.place(m_placer.helper(u.n, "Less", "counts", {zero, trips}, counts));
    m_placer.place(m_placer.helper(u.n, "Reshape", "goes", {given, shape}, goes));
  } else {
    m_placer.place(m_placer.helper(u.n, "Less", "runs", {zero, trips}, one));
  }
  m_placer.place(m_placer.helper(u.n, "Reshape", "trips", {u.trips, shape}, trips));
  u.trips = trips;
}

/// `now`, the last iteration's, read at a place that is behind a list where the loop would go on: that raises a flag.
value_id unroller::place_end(const unrolling& u, value_id now, std::vector<node>& nodes) {
  const value_id line = m_placer.new_constant(u.n, "one", make_ints({1}, {1})), list = m_placer.new_value(u.n, "list"),
                 missing = m_placer.new_value(u.n, "missing"), taken = m_placer.new_value(u.n, "taken");
  nodes.push_back(m_placer.helper(u.n, "Reshape", "list", {now, line}, list));
  nodes.push_back(
      m_placer.helper(u.n, "Cast", "missing", {u.condition}, missing, {{"to", number_of(onnx_type::int64)}}));
  nodes.push_back(m_placer.helper(u.n, "Gather", "taken", {list, missing}, taken, {{"axis", std::int64_t{0}}}));
  return taken;
}

/// Behind an iteration: the values of the body where it counts, else those before. The next one counts where this one
/// does, the body says so, and there are as many.
void unroller::place_choices(unrolling& u, const std::vector<value_id>& before, value_id body_condition) {
  const std::string number = std::to_string(u.iteration - 1);
  const value_id active = u.actives.back(),
                 off = m_placer.new_constant(u.n, "off_" + number, array(element::boolean, {})),
                 shape = m_placer.new_constant(u.n, "scalar_" + number, array(element::i64, {0})),
                 now = m_placer.new_value(u.n, "now_" + number), goes = m_placer.new_value(u.n, "goes_" + number),
                 follows = m_placer.new_value(u.n, "follows_" + number);
  std::vector<node> nodes = {m_placer.helper(u.n, "Reshape", "now_" + number, {active, shape}, now)};
  nodes.push_back(m_placer.helper(u.n, "Reshape", "goes_" + number, {body_condition, shape}, goes));
  nodes.push_back(m_placer.helper(u.n, "Where", "follows_" + number, {now, goes, off}, follows, {}, 9));
  u.condition = follows;
  if (u.trips != no_value) {
    const value_id count = m_placer.new_constant(u.n, "count_" + number, make_ints({}, {u.iteration})),
                   more = m_placer.new_value(u.n, "more_" + number), both = m_placer.new_value(u.n, "both_" + number);
    nodes.push_back(m_placer.helper(u.n, "Less", "more_" + number, {count, u.trips}, more));
    nodes.push_back(m_placer.helper(u.n, "And", "both_" + number, {follows, more}, both));
    u.condition = both;
  }
  const std::map<std::string, attribute> same_shape = {{same_shape_mark, std::int64_t{1}}};
  const value_id taken = u.iteration == u.count && u.may_run_longer ? place_end(u, now, nodes) : now;
  u.actives.back() = taken;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::string suffix = "chosen_" + std::to_string(i) + "_" + number;
    const value_id chosen = m_placer.new_value(u.n, suffix);
    nodes.push_back(m_placer.helper(u.n, "Where", suffix, {taken, u.carried[i], before[i]}, chosen, same_shape, 9));
    u.carried[i] = chosen;
  }
  std::reverse(nodes.begin(), nodes.end());
  m_placer.place(std::move(nodes));
}

/// Which iterations count, one after the other.
void unroller::place_actives(const unrolling& u, value_id mask) {
  const value_id line = m_placer.new_constant(u.n, "line", make_ints({1}, {1}));
  std::vector<value_id> parts;
  std::vector<node> reshapes;
  for (const value_id active : u.actives) {
    const std::string suffix = "active_" + std::to_string(parts.size());
    parts.push_back(m_placer.new_value(u.n, suffix));
    reshapes.push_back(m_placer.helper(u.n, "Reshape", suffix, {active, line}, parts.back()));
  }
  m_placer.place(m_placer.helper(u.n, "Concat", "actives", std::move(parts), mask, {{"axis", std::int64_t{0}}}));
  m_placer.place(std::move(reshapes));
}

void unroller::place_results(const unrolling& u) {
  const value_id mask = u.actives.empty() ? no_value : m_placer.new_value(u.n, "mask");
  for (std::size_t i = 0; i < u.n.outputs.size(); ++i) {
    const value_id output = u.n.outputs[i];
    if (output == no_value) continue;
    const std::string name = "output_" + std::to_string(i);
    if (i < u.carried.size())
      m_placer.place(m_placer.helper(u.n, "Identity", name, {u.carried[i]}, output));
    else
      place_collected(u, u.results[i - u.carried.size()], name, output, mask);
  }
  if (mask != no_value) place_actives(u, mask);
}

/// Results of the iterations that count.
void unroller::place_collected(const unrolling& u, const unrolling::collected& c, const std::string& name,
                               value_id output, value_id mask) {
  if (mask == no_value) return place_collection(u, c, name, output);
  if (!m_counts)
    refuse(describe(m_graph, u.n) +
           ": data ends it, and how many results it collects is a length then: files for GPUs, " +
           "with a batch or several variants have none, nor have those of nsk quantize");
  const value_id all = m_placer.new_value(u.n, name + "_all");
  m_placer.place(
      m_placer.helper(u.n, "Compress", name, {all, mask}, output, {{"axis", static_cast<std::int64_t>(c.axis)}}, 11));
  place_collection(u, c, name + "_all", all);
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
