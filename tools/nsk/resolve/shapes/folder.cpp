// SPDX-License-Identifier: MIT
#include "resolve/shapes/folder.hpp"

#include <algorithm>
#include <limits>

#include "errors.hpp"
#include "reference/evaluator.hpp"
#include "reference/run_node.hpp"

namespace nsk::tool {
namespace {

constexpr double elements_for_all = 1 << 24, elements_per_held = 8;
constexpr double work_for_all = 1 << 30, work_per_held = 4096;
constexpr double no_limit = std::numeric_limits<double>::infinity();
constexpr double work_per_element = 20;          // that is read or made, in multiply-adds
constexpr std::int64_t max_looked_at = 1 << 16;  // elements of a constant that inference may need: shapes, no weights

std::string number_text(double v) { return std::to_string(static_cast<std::int64_t>(std::min(v, 9e18))); }

}

folder::folder(graph& g, std::int64_t held, bool trusted)
    : m_graph(g),
      m_max_elements(trusted ? no_limit : elements_for_all + elements_per_held * static_cast<double>(held)),
      m_max_work(trusted ? no_limit : work_for_all + work_per_held * static_cast<double>(held)) {}

bool folder::folds(const node& n) const {
  if (reference::is_random(n)) return false;
  if (n.domain.empty() && (n.op == "Shape" || n.op == "Size" || n.op == "EyeLike"))
    return m_lengths == nullptr || !m_lengths->reads_bounded(n);  // they read no elements
  return std::all_of(n.inputs.begin(), n.inputs.end(),
                     [&](value_id v) { return v == no_value || m_graph.at(v).constant; });
}

void folder::make(std::int64_t elements, const std::string& who) {
  m_elements += static_cast<double>(elements);
  if (m_elements > m_max_elements)
    refuse(
        who + ": with it, the constants that are computed at conversion would have " + number_text(m_elements) +
        " elements; a model whose file holds as few as this one may make " + number_text(m_max_elements) +
        " (2^24, and 8 for each that it holds). Add --trust if the model is your own, or make one of its operands an "
        "input");
}

/// The result of an Identity is its operand, not another constant.
bool folder::pass_on(const node& n) {
  if (n.op != "Identity" || !n.domain.empty() || n.inputs.size() != 1 || n.outputs.size() != 1) return false;
  if (n.inputs[0] == no_value || n.outputs[0] == no_value) return false;
  const value& from = m_graph.at(n.inputs[0]);
  value& to = m_graph.at(n.outputs[0]);
  if (!from.constant || !from.typed || from.type == element::string) return false;
  to.set(from.type, from.shape);
  to.constant = from.constant;
  return true;
}

bool folder::run(const node& n) {
  reference::require_known(m_graph, n);
  if (pass_on(n)) return true;
  reference::call c = reference::make_call(m_graph, n);
  const bool known = folds(n);
  std::map<value_id, reference::typed_array> held;  // by value: a node may read one many times
  double work = 1;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i] == no_value) continue;
    const value& v = m_graph.at(n.inputs[i]);
    if (!v.typed || v.type == element::string)
      refuse(describe(m_graph, n) + ": input '" + v.name + "' is no tensor of numbers");
    const bool needed = v.constant && (known || v.constant->count() <= max_looked_at);
    if (needed) {
      work += work_per_element * static_cast<double>(v.constant->count());
      const auto [at, is_new] = held.try_emplace(n.inputs[i]);
      if (is_new) at->second = reference::hold(*v.constant);
    }
    if (const auto lengths = m_lengths == nullptr ? nullptr : m_lengths->maximum_of(n, n.inputs[i]))
      held.insert_or_assign(n.inputs[i], reference::hold(*lengths));
    const auto data = held.find(n.inputs[i]);
    c.input(i) = {true, v.type, v.shape, data != held.end() ? &data->second.data : nullptr};
  }
  reference::infer_node(c);
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    if (n.outputs[i] == no_value) continue;
    value& v = m_graph.at(n.outputs[i]);
    v.set(c.output(i).type, c.out_shape(i));
    const std::int64_t count = count_of(v.shape);
    if (count == 0) v.constant = std::make_shared<const array>(v.type, v.shape);
    if (!known) continue;
    work += work_per_element * static_cast<double>(count);
    if (m_elements + static_cast<double>(count) > m_max_elements) make(count, describe(m_graph, n));
    m_elements += static_cast<double>(count);
  }
  if (known) work += reference::work_of(c);
  m_work += work;
  if (m_work > m_max_work)
    refuse(describe(m_graph, n) + ": with it, what is computed at conversion would take " + number_text(m_work) +
           " multiply-adds; a model whose file holds as few numbers as this one may take " + number_text(m_max_work) +
           " (2^30, and 4096 for each that it holds). Add --trust if the model is your own, or make one of its "
           "operands an "
           "input");
  const auto is_constant = [&](value_id v) { return v == no_value || m_graph.at(v).constant; };
  if (!known) return !n.outputs.empty() && std::all_of(n.outputs.begin(), n.outputs.end(), is_constant);
  std::vector<reference::typed_array> results = reference::evaluate_call(c);
  for (std::size_t i = 0; i < n.outputs.size(); ++i)
    if (n.outputs[i] != no_value)
      m_graph.at(n.outputs[i]).constant = std::make_shared<const array>(converted(results[i].data, results[i].type));
  return true;
}

}
