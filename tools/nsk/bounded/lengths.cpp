// SPDX-License-Identifier: MIT
#include "bounded/lengths.hpp"

#include <algorithm>
#include <cstdio>

#include "bounded/rules.hpp"
#include "errors.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::bounded {
bool chooses(const node& n) {
  return n.domain.empty() && n.has(reference::suppression_bound) &&
         (n.op == "NonZero" || n.op == "Compress" || n.op == "Unique" || n.op == "Range" ||
          n.op == "NonMaxSuppression");
}

const value_facts* lengths::facts(value_id v) const {
  const auto found = v == no_value ? m_facts.end() : m_facts.find(v);
  return found == m_facts.end() ? nullptr : &found->second;
}

bool lengths::is_bounded(value_id v) const {
  const value_facts* f = facts(v);
  return f != nullptr && !f->axes.empty();
}

bool lengths::reads_bounded(const node& n) const {
  return std::any_of(n.inputs.begin(), n.inputs.end(), [&](value_id v) { return is_bounded(v); });
}

bool lengths::reads_count(const node& n) const {
  return std::any_of(n.inputs.begin(), n.inputs.end(), [&](value_id v) { return m_from_counts.count(v) != 0; });
}

std::vector<amount> lengths::axes(value_id v) const { return is_bounded(v) ? facts(v)->axes : whole(at(v).shape); }

std::vector<amount> lengths::numbers(value_id v) const {
  if (const value_facts* f = facts(v); f != nullptr && !f->numbers.empty()) return f->numbers;
  std::vector<amount> list;
  const array* constant = v == no_value ? nullptr : at(v).constant.get();
  if (constant == nullptr || is_float(constant->type) || constant->count() > static_cast<i64>(max_axes)) return {};
  for (i64 i = 0; i < constant->count(); ++i) list.push_back(number(constant->integer(i)));
  return list;
}

std::shared_ptr<const array> lengths::maximum_of(const node& reader, value_id v) const {
  const value_facts* f = facts(v);
  if (f == nullptr || f->numbers.empty() || !shapes_by_values(reader)) return nullptr;
  array a(element::i64, at(v).shape);
  for (i64 i = 0; i < a.count(); ++i) {
    const amount& n = f->numbers[static_cast<std::size_t>(i)];
    a.set_integer(i, n.varies() ? n.times * m_counts[n.count].maximum + n.plus : n.plus);
  }
  return std::make_shared<const array>(std::move(a));
}

const amount* lengths::chosen(value_id output) const {
  const auto found = m_chosen.find(output);
  return found == m_chosen.end() ? nullptr : &found->second;
}

void lengths::set(value_id v, value_facts f) {
  if (!f.numbers.empty()) m_from_counts.insert(v);
  m_facts[v] = std::move(f);
}

/// `v`, or the last value of the source that has as many elements.
value_id lengths::named_in_source(value_id v) const {
  if (v < m_source_values || !is_bounded(v)) return v;
  const auto shares = [&](const value_facts& f) {
    for (const amount& a : f.axes)
      for (const amount& b : facts(v)->axes)
        if (a.varies() && b.varies() && a.count == b.count) return true;
    return false;
  };
  value_id found = v;
  for (const auto& [id, f] : m_facts)
    if (id < m_source_values && shares(f)) found = id;
  return found;
}

void lengths::refuse_reading(const node& n, value_id v, const std::string& why) const {
  const std::string& name = at(named_in_source(v)).name;
  tool::refuse(describe(m_graph, n) + ": how many rows of '" + name + "' are results is known at run time only, and " +
               why + ". Make '" + name + "' an output with --output-value " + name +
               ", and compute the rest in the game");
}

void lengths::refuse(const node& n, const std::string& why) const {
  for (const value_id v : n.inputs)
    if (is_bounded(v)) refuse_reading(n, v, why);
  for (const value_id v : n.inputs)
    if (m_from_counts.count(v) != 0) refuse_reading(n, v, why);
  tool::refuse(describe(m_graph, n) + ": " + why);
}

void lengths::follow(const node& n) {
  m_same.note(n);
  const bool bounded = reads_bounded(n), counted = reads_count(n);
  interpretation r(*this, n);
  if (bounded || counted) {
    if (follow_numbers(r)) return;
    if (counted)
      for (const value_id v : n.outputs) m_from_counts.insert(v);
  }
  if (!bounded && !chooses(n) && !(counted && shapes_by_values(n))) return;
  const rule* found = find_rule(n);
  if (found == nullptr) r.refuse("this operator would compute on rows that are none");
  found->follow(r);
}

bool has_bounded(const graph& g) { return g.counted.empty() && std::any_of(g.nodes.begin(), g.nodes.end(), chooses); }

std::set<std::string> bounded_outputs(const graph& g) {
  std::set<std::string> names;
  if (!has_bounded(g)) return names;
  lengths l(g);
  for (const node& n : g.nodes) l.follow(n);
  for (const value_id v : g.outputs)
    if (l.is_bounded(v)) names.insert(g.at(v).name);
  return names;
}

// One node.

std::vector<amount> interpretation::numbers(std::size_t i) const {
  std::vector<amount> list = m_lengths.numbers(m_node.inputs[i]);
  if (list.empty() && count_of(shape(i)) != 0) refuse("'" + input(i).name + "' must be constant there");
  return list;
}

std::vector<i64> interpretation::constants(std::size_t i) const {
  std::vector<i64> list;
  for (const amount& a : numbers(i)) {
    if (a.varies()) refuse("'" + input(i).name + "' must be constant there");
    list.push_back(a.plus);
  }
  return list;
}

std::size_t interpretation::axis(i64 a, std::size_t of_rank) const {
  if (a < 0) a += static_cast<i64>(of_rank);
  if (a < 0 || a >= static_cast<i64>(of_rank)) refuse("it names an axis that does not exist");
  return static_cast<std::size_t>(a);
}

void interpretation::result(std::size_t o, const std::vector<amount>& axes, bool picks) {
  if (!wants(o)) return;
  const shape_t& y = out_shape(o);
  bool varies = false, fits = axes.size() == y.size();
  for (std::size_t d = 0; fits && d < y.size(); ++d) {
    varies = varies || axes[d].varies();
    fits = axes[d].varies() ? m_lengths.known_counts().high(axes[d]) <= y[d] : axes[d].plus == y[d];
  }
  if (!fits) refuse("the lengths of its result cannot be followed");
  if (varies) m_lengths.set(m_node.outputs[o], {axes, {}, picks});
}

void interpretation::require_whole(std::size_t i, const char* why) const {
  if (bounded(i)) refuse(i, why);
}

void interpretation::refuse(std::size_t i, const std::string& why) const {
  m_lengths.refuse_reading(m_node, m_node.inputs[i], why);
}

void interpretation::refuse(const std::string& why) const { m_lengths.refuse(m_node, why); }

bool interpretation::picks(std::size_t i) const {
  const value_facts* f = m_lengths.facts(m_node.inputs[i]);
  return f == nullptr || f->axes.empty() || f->picks;
}

}
