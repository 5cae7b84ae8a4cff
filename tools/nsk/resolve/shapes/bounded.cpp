// SPDX-License-Identifier: MIT
#include "resolve/shapes/bounded.hpp"

#include <algorithm>
#include <set>

#include "errors.hpp"
#include "graph/cures.hpp"
#include "reference/operators.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t max_rows = std::int64_t{1} << 24;  // float32 counts so far

}

bool bounded_rows::takes(const node& n) {
  return n.domain.empty() && !n.has(reference::padded_rows) &&
         (n.op == "NonZero" || n.op == "Compress" || n.op == "Unique" || n.op == "Range" ||
          n.op == "NonMaxSuppression");
}

bool may_count(const graph& g) {
  return std::any_of(g.nodes.begin(), g.nodes.end(), [](const node& n) {
    const std::vector<const graph*> inside = graphs_inside(n);
    return bounded_rows::takes(n) || n.op == "Loop" || n.op == "If" ||
           std::any_of(inside.begin(), inside.end(), [](const graph* i) { return may_count(*i); });
  });
}

void bounded_rows::bound(node& n) {
  if (n.op == "Range") return bound_range(n);
  if (n.op == "NonMaxSuppression") return bound_suppression(n);
  const std::int64_t rows = max_results(n);
  if (rows < 1 || !n.gives(0)) return;  // inference says what is wrong
  if (rows > max_rows)
    refuse(describe(m_graph, n) + ": it may have " + std::to_string(rows) + " results, more than 2^24");
  n.attributes[reference::suppression_bound] = rows;
}

row_limits bounded_rows::take_limits(node& n) {
  const std::vector<std::int64_t> own = n.integers(row_limit);
  row_limits limits{0, n.integer(reference::suppression_bound, 0)};
  if (own.size() == 2) limits = {own[0], own[1]};
  n.attributes.erase(row_limit);
  const auto given = n.gives(0) ? m_bounds.find(at(n.outputs[0]).name) : m_bounds.end();
  if (given == m_bounds.end()) return limits;
  m_used.insert(given->first);
  return {std::min(limits.minimum, given->second), std::min(limits.maximum, given->second)};
}

/// 0 where operands are missing or do not fit.
std::int64_t bounded_rows::max_results(const node& n) {
  const std::size_t condition = n.op == "Compress" ? 1 : 0;
  if (!n.reads(condition) || !n.reads(0)) return 0;
  const shape_t& x = at(n.inputs[0]).shape;
  const std::int64_t axis = n.has("axis") ? counted_from_start(n.integer("axis", 0), x.size()) : 0;
  if (axis < 0 || (n.has("axis") && axis >= static_cast<std::int64_t>(x.size()))) return 0;
  return n.op == "Unique" && n.has("axis") ? x[static_cast<std::size_t>(axis)]
                                           : count_of(at(n.inputs[condition]).shape);
}

/// How long a Range is follows from counts, or --bound says it.
void bounded_rows::bound_range(node& n) {
  if (!n.gives(0) || n.inputs.size() != 3) return;
  const auto given = m_bounds.find(at(n.outputs[0]).name);
  const bool known = std::all_of(n.inputs.begin(), n.inputs.end(),
                                 [&](value_id v) { return v != no_value && !m_lengths.numbers(v).empty(); });
  if (given == m_bounds.end() && known) return;
  if (given == m_bounds.end()) {
    const std::string fixed = options_that_set(m_graph, n.inputs);
    refuse(describe(m_graph, n) + ": its length is computed at run time, but shapes must be known at conversion. " +
           (fixed.empty() ? "Say" : "Fix it:" + fixed + ". Or say") + " how long it can be at most: --bound " +
           at(n.outputs[0]).name + "=COUNT; an output '" + at(n.outputs[0]).name + ".count' then says how long it is");
  }
  m_used.insert(given->first);
  n.attributes[reference::suppression_bound] = given->second;
  n.outputs.resize(1);
}

/// A NonMaxSuppression gets as many rows as it can keep at most.
void bounded_rows::bound_suppression(node& n) {
  const auto operand = [&](std::size_t i) { return n.reads(i) ? n.inputs[i] : no_value; };
  const auto fixed = [&](std::size_t i, const char* what) {
    if (operand(i) == no_value || at(operand(i)).constant) return;
    const std::string& name = at(operand(i)).name;
    refuse(describe(m_graph, n) + ": " + what +
           " is computed at run time, but the operator takes a constant. Set it with --set " + name + "=VALUE");
  };
  const value_id limit = operand(2);
  const std::vector<bounded::amount> counted = m_lengths.numbers(limit);
  if (counted.size() != 1) fixed(2, "max_output_boxes_per_class");
  fixed(3, "iou_threshold");
  if (limit != no_value && count_of(at(limit).shape) != 1)
    refuse(describe(m_graph, n) + ": max_output_boxes_per_class must be one number. The file is damaged");
  const shape_t scores = operand(1) != no_value ? at(operand(1)).shape : shape_t();
  if (scores.size() != 3 || (limit != no_value && counted.empty())) return;  // inference says what is wrong
  const std::int64_t asked = limit == no_value ? 0 : m_lengths.known_counts().high(counted.at(0)),
                     per_class = std::clamp<std::int64_t>(asked, 0, scores[2]);
  n.attributes[reference::suppression_bound] = scores[0] * scores[1] * per_class;
}

bool bounded_rows::follow(const node& n) {
  m_lengths.follow(n);
  if (bounded::chooses(n) && !n.outputs.empty()) m_chosen.push_back(n.outputs[0]);
  bool known = !n.outputs.empty();
  for (const value_id v : n.outputs) {
    const bounded::value_facts* f = m_lengths.facts(v);
    const bool numbers = f != nullptr && !f->numbers.empty() &&
                         std::none_of(f->numbers.begin(), f->numbers.end(), [](const auto& a) { return a.varies(); });
    known = known && numbers;
    if (!numbers) continue;
    array a(at(v).type, at(v).shape);
    for (std::int64_t i = 0; i < a.count(); ++i) a.set_integer(i, f->numbers[static_cast<std::size_t>(i)].plus);
    at(v).constant = std::make_shared<const array>(std::move(a));
  }
  return known;
}

void bounded_rows::finish(const std::set<std::string>& used) {
  m_used.insert(used.begin(), used.end());
  require_bounds_used();
  give_out_chosen();
  const std::vector<value_id> outputs = m_graph.outputs;
  for (const value_id v : outputs)
    if (m_lengths.is_bounded(v)) give_out_lengths(v);
}

/// NAME.count for the first axis whose length is known at run time only, NAME.countD for axis D behind it; an
/// operator's own count stands for those that are equal to it.
void bounded_rows::give_out_lengths(value_id v) {
  const std::vector<bounded::amount> axes = m_lengths.axes(v);
  std::vector<bounded::amount> named;
  bool first = true;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const bounded::amount& a = axes[d];
    if (!a.varies()) continue;
    const std::string suffix = first ? ".count" : ".count" + std::to_string(d);
    first = false;
    const bool chosen = a.times == 1 && a.plus == 0 && m_lengths.known_counts()[a.count].chosen != no_value;
    if (chosen || std::find(named.begin(), named.end(), a) != named.end()) continue;
    give_out(v, d, at(v).name + suffix);
    named.push_back(a);
  }
}

/// The counts of operators that choose, where an output has as many elements.
void bounded_rows::give_out_chosen() {
  std::set<int> carried;
  for (const value_id v : m_graph.outputs)
    for (const bounded::amount& a : m_lengths.axes(v))
      if (a.varies()) carried.insert(a.count);
  for (const value_id v : m_chosen) {
    const bounded::amount* a = m_lengths.chosen(v);
    if (a == nullptr || carried.count(a->count) == 0) continue;
    const std::vector<bounded::amount> axes = m_lengths.axes(v);
    const auto axis = std::find(axes.begin(), axes.end(), *a);
    give_out(v, static_cast<std::size_t>(axis - axes.begin()), at(v).name + ".count");
  }
}

/// Adds an output that is how many elements of `of` are used along an axis.
void bounded_rows::give_out(value_id of, std::size_t axis, const std::string& name) {
  const auto by = std::find_if(m_graph.nodes.begin(), m_graph.nodes.end(), [&](const node& n) {
    return std::find(n.outputs.begin(), n.outputs.end(), of) != n.outputs.end();
  });
  if (by == m_graph.nodes.end()) return;
  const value_id count = m_placer.new_value(*by, "length");
  at(count).name = name;
  at(count).set(element::i64, {});
  m_graph.outputs.push_back(count);
  const auto along = static_cast<std::int64_t>(axis);
  node length = node_of("Length", by->name + "/length", {of}, count, 1);
  length.domain = "nsk";
  length.attributes["axis"] = along;
  m_graph.nodes.insert(by + 1, std::move(length));
}

void bounded_rows::require_bounds_used() const {
  for (const auto& [name, count] : m_bounds)
    if (m_used.count(name) == 0)
      misuse("--bound names '" + name +
             "', which is no result whose number is computed at run time, as that of Range is.");
}

}
