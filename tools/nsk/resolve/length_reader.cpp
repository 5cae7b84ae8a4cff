// SPDX-License-Identifier: MIT
#include "resolve/length_reader.hpp"

#include <algorithm>
#include <cstdio>

namespace nsk::tool {

std::vector<double> numbers_in(const reading& r) {
  std::vector<double> numbers;
  for (const edit& e : r) {
    numbers.insert(numbers.end(), e.numbers.begin(), e.numbers.end());
    numbers.insert(numbers.end(), e.scales.begin(), e.scales.end());
  }
  return numbers;
}

std::string option_of(const reading& r) {
  std::string option;
  for (const double number : numbers_in(r)) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", number);
    option += (option.empty() ? "" : ",") + std::string(text);
  }
  return option.empty() ? "keep" : option;
}

length_view::length_view(graph& g, node_placer& placer, length_trial& trial)
    : m_graph(g), m_placer(placer), m_trial(trial) {
  if (trial.exported == nullptr) return;
  for (const value& v : trial.exported->values) m_before.emplace(v.name, &v);
  for (const value_id v : g.inputs)
    if (const value* old = before(v)) trial.lengths.add(old->shape, at(v).shape);
}

const value* length_view::before(value_id v) const {
  if (v == no_value) return nullptr;
  const auto found = m_before.find(m_graph.values[static_cast<std::size_t>(v)].name);
  return found == m_before.end() ? nullptr : found->second;
}

bool length_view::shapes_of(value_id v, shape_t& was, shape_t& now) {
  const value* old = before(v);
  now = at(v).shape;
  was = old == nullptr ? now : old->shape;
  return was.size() == now.size();
}

bool length_view::changed(value_id v) {
  const value* old = before(v);
  return v != no_value && old != nullptr && old->shape != at(v).shape;
}

bool length_view::any_changed(const node& n) {
  return std::any_of(n.inputs.begin(), n.inputs.end(), [&](value_id v) { return v != no_value && changed(v); });
}

bool length_view::is_own_constant(const node& n, std::size_t i) {
  if (!has(n, i) || !at(n.inputs[i]).constant) return false;
  const value* old = before(n.inputs[i]);
  return old == nullptr || (old->constant && old->constant->data == at(n.inputs[i]).constant->data);
}

const constant_choice* length_view::choice_of(const node& n) const {
  const auto found = m_trial.choices.find(n.name);
  return found == m_trial.choices.end() ? nullptr : &found->second;
}

void length_view::doubt_for_good(const node& n, const std::string& why) {
  m_trial.doubts.push_back({describe(m_graph, n) + ": " + why});
}

void length_view::doubt(const node& n, const std::string& why) {
  const constant_choice* choice = choice_of(n);
  const std::string text = describe(m_graph, n) + ": " + why;
  if (choice == nullptr)
    m_trial.doubts.push_back({text, n.name});
  else if (choice->what == constant_choice::kind::keep)
    m_trial.settled.insert(n.name);
  else
    m_trial.unsettled.emplace(n.name, text);
}

void length_view::stop(const node& n, const std::string& why) {
  if (choice_of(n) == nullptr) give_up(n, why);
  doubt(n, why);
}

void length_view::give_up(const node& n, const std::string& why) const {
  throw no_reading({describe(m_graph, n) + ": " + why, n.name});
}

namespace {

/// The numbers that an edit changes, as they are.
std::vector<std::int64_t> numbers_of(const edit& e, const node& n, node_placer& placer) {
  std::vector<std::int64_t> numbers;
  const array* operand = nullptr;
  if (e.attribute.empty() && e.input < n.inputs.size()) operand = placer.at(n.inputs[e.input]).constant.get();
  for (std::int64_t i = 0; operand != nullptr && i < operand->count(); ++i) numbers.push_back(operand->integer(i));
  if (const auto found = n.attributes.find(e.attribute); found != n.attributes.end()) {
    if (const auto* one = std::get_if<std::int64_t>(&found->second)) numbers = {*one};
    if (const auto* many = std::get_if<std::vector<std::int64_t>>(&found->second)) numbers = *many;
  }
  return numbers;
}

/// How many numbers a reading changes.
std::size_t changes_of(const reading& r, const node& n, node_placer& placer) {
  std::size_t count = 0;
  for (const edit& e : r) {
    const std::vector<std::int64_t> numbers = numbers_of(e, n, placer);
    for (std::size_t i = 0; i < e.numbers.size(); ++i) count += i >= numbers.size() || numbers[i] != e.numbers[i];
    if (!e.scales.empty()) ++count;
  }
  return count;
}

}

/// The readings that --constant leaves.
std::vector<reading> length_reader::chosen_of(const node& n, std::vector<reading> readings) {
  const constant_choice* choice = choice_of(n);
  if (choice == nullptr || readings.empty()) return readings;
  std::vector<reading> left;
  std::size_t maximum = 0;
  for (const reading& r : readings) maximum = std::max(maximum, changes_of(r, n, m_placer));
  for (const reading& r : readings) {
    const bool fits = choice->what == constant_choice::kind::numbers ? numbers_in(r) == choice->numbers
                                                                     : changes_of(r, n, m_placer) == maximum;
    if (fits) left.push_back(r);
  }
  if (left.empty()) {
    std::string known;
    for (const reading& r : readings) known += (known.empty() ? "" : " or ") + option_of(r);
    misuse("--constant " + n.name + ": its numbers may become " + known + ".");
  }
  m_trial.settled.insert(n.name);
  return left;
}

void length_reader::rewrite(node& n) {
  const auto named = std::find_if(n.outputs.begin(), n.outputs.end(), [](value_id v) { return v != no_value; });
  if (named == n.outputs.end()) return;
  const std::string key = at(*named).name;
  if (m_trial.replays) {
    const auto found = m_trial.chosen.find(key);
    if (found != m_trial.chosen.end()) apply(found->second, n, m_placer);
    return;
  }
  if (const constant_choice* choice = choice_of(n); choice != nullptr && choice->what == constant_choice::kind::keep)
    return static_cast<void>(m_trial.settled.insert(n.name));
  m_trial.has_weights = (n.op == "Gemm" || n.op == "MatMul" || n.op == "Conv" || n.op == "ConvTranspose") &&
                        (is_own_constant(n, 0) || is_own_constant(n, 1));
  const std::vector<reading> readings = chosen_of(n, readings_of(n));
  if (readings.empty()) return;
  std::size_t pick = 0;
  if (readings.size() > 1) {
    const std::size_t place = m_trial.reached++;
    if (place == m_trial.points.size())
      m_trial.points.push_back({key, n.name, describe(m_graph, n), 0, readings.size()});
    pick = m_trial.points[place].pick;
  }
  m_trial.chosen[key] = readings[pick];
  const std::size_t changes = n.op == "Resize" ? changes_of(readings[pick], n, m_placer) : 0;
  if (changes > 0) m_trial.resized[key] = changes;
  apply(readings[pick], n, m_placer);
}

void length_reader::look_at(const node& n) {
  if (m_trial.replays) return;
  for (const value_id v : n.outputs)
    if (const value* old = before(v)) m_trial.lengths.add(old->shape, at(v).shape);
  doubt_results(n);
  note_merges(n);
  if (!any_changed(n)) return;
  doubt_unknown(n);
  doubt_broadcast(n);
  doubt_operands(n);
  doubt_indices(n);
  if (n.op == "Pad") doubt_pads(n);
}

}
