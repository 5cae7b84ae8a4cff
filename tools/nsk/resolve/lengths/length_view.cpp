// SPDX-License-Identifier: MIT
#include "resolve/lengths/length_view.hpp"

#include <algorithm>

namespace nsk::tool {
namespace {

std::vector<std::int64_t> integers_of(const array& a) {
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < a.count(); ++i) result.push_back(a.integer(i));
  return result;
}

std::vector<std::int64_t> integers_of(const attribute& a) {
  if (const auto* one = std::get_if<std::int64_t>(&a)) return {*one};
  const auto* many = std::get_if<std::vector<std::int64_t>>(&a);
  return many == nullptr ? std::vector<std::int64_t>() : *many;
}

}

std::int64_t stride_of(const shape_t& s, std::size_t d) {
  return count_of(shape_t(s.begin() + static_cast<std::ptrdiff_t>(d) + 1, s.end()));
}

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
  for (const double number : numbers_in(r)) option += (option.empty() ? "" : ",") + to_string(number, 17);
  return option.empty() ? "keep" : option;
}

void apply(const reading& r, node& n, node_placer& placer) {
  for (const edit& e : r) {
    if (!e.attribute.empty()) {
      const auto old = n.attributes.find(e.attribute);
      if (!e.scales.empty())
        n.attributes[e.attribute] = e.scales;
      else if (old != n.attributes.end() && std::holds_alternative<std::int64_t>(old->second))
        old->second = e.numbers.at(0);
      else
        n.attributes[e.attribute] = e.numbers;
      continue;
    }
    const auto count = static_cast<std::int64_t>(e.scales.empty() ? e.numbers.size() : e.scales.size());
    shape_t shape = placer.at(n.inputs[e.input]).shape;
    if (count_of(shape) != count) shape = {count};
    n.inputs[e.input] =
        placer.new_constant(n, "lengths_" + std::to_string(e.input),
                            e.scales.empty() ? make_ints(shape, e.numbers) : make_floats(shape, e.scales));
  }
}

std::size_t length_view::changes_of(const reading& r, const node& n) const {
  std::size_t count = 0;
  for (const edit& e : r) {
    const std::vector<std::int64_t> numbers =
        integers(n, e.attribute.empty() ? e.input : n.inputs.size(), e.attribute.c_str()).now;
    for (std::size_t i = 0; i < e.numbers.size(); ++i) count += i >= numbers.size() || numbers[i] != e.numbers[i];
    if (!e.scales.empty()) ++count;
  }
  return count;
}

length_view::length_view(graph& g, folder& folds, node_placer& placer, length_trial& trial)
    : graph_pair(*trial.exported, g), m_folds(folds), m_placer(placer), m_trial(trial) {
  for (const value_id v : g.inputs)
    if (const value* old = before(v); old != nullptr && !trial.rows) trial.lengths.add(old->shape, at(v).shape);
}

const constant_choice* length_view::choice_of(const node& n) const {
  const auto found = m_trial.choices.find(n.name);
  return found == m_trial.choices.end() ? nullptr : &found->second;
}

void length_view::mark_ambiguous_for_good(const node& n, const std::string& why) {
  m_trial.doubts.push_back({describe(the_graph(), n) + ": " + why});
}

void length_view::doubt(const node& n, const std::string& why) {
  const constant_choice* choice = choice_of(n);
  const std::string text = describe(the_graph(), n) + ": " + why;
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
  throw no_reading({describe(the_graph(), n) + ": " + why, n.name});
}

length_literal length_view::integers(const node& n, std::size_t input, const char* attribute) const {
  length_literal l;
  l.input = input;
  if (n.reads(input)) {
    const value& v = at(n.inputs[input]);
    if (!v.constant || !is_integer(v.type)) return l;
    l.now = l.was = integers_of(*v.constant);
    const value* old = before(n.inputs[input]);
    if (old != nullptr && old->constant) l.was = integers_of(*old->constant);
    l.was.resize(l.now.size(), -1);
  } else if (const auto found = n.attributes.find(attribute); found != n.attributes.end()) {
    l.attribute = attribute;
    l.now = l.was = integers_of(found->second);
  }
  l.known = !l.now.empty() && (l.now == l.was || !m_trial.rows);
  return l;
}

}
