// SPDX-License-Identifier: MIT
#include "bounded/fill.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/onnx_type.hpp"
#include "reference/run_node.hpp"

namespace nsk::tool::bounded {
filler::filler(const graph& g) : node_writer(g), m_source(g), m_lengths(made()) {
  for (const node& n : g.nodes)
    if (n.domain == "nsk" && n.op == "Length") m_length_outputs[n.inputs[0]] = n.outputs[0];
}

graph filler::run() {
  for (const node& n : m_source.nodes) look_at(n);
  remove_dead();
  return std::move(made());
}

/// Operators that choose note what their numbers are made of; all else has the rows that there are.
graph filler::run_counting() {
  for (const node& n : m_source.nodes) {
    interpretation r(m_lengths, n);
    begin(n);
    m_reading = &r;
    if (n.domain == "nsk" && n.op == "Length")
      count_into(input(0), n.outputs[0]);
    else if (chooses(n))
      find_rule(n)->fill(*this);
    else
      place(n);
  }
  remove_dead();
  return std::move(made());
}

void filler::look_at(const node& n) {
  m_lengths.follow(n);
  interpretation r(m_lengths, n);
  begin(n);
  m_reading = &r;
  const value_facts* facts = n.outputs.empty() ? nullptr : m_lengths.facts(n.outputs[0]);
  const bool concerns = facts != nullptr || m_lengths.reads_bounded(n) || m_lengths.reads_count(n);
  const rule* found = concerns ? find_rule(n) : nullptr;
  if (n.domain == "nsk" && n.op == "Length")
    write_length();
  else if (facts != nullptr && !facts->numbers.empty())
    write_numbers(value_facts(*facts));
  else if (found != nullptr && found->fill != nullptr && (m_lengths.reads_bounded(n) || facts != nullptr))
    found->fill(*this);
  else
    place(n);
}

// Numbers.

value_id filler::value_of_count(int count) {
  if (const auto found = m_counts.find(count); found != m_counts.end()) return found->second;
  const count_origin origin = m_lengths.known_counts()[count];
  value_id result = no_value;
  if (origin.chosen != no_value) {
    result = new_value(made(origin.chosen).name + "/count");
    count_into(origin.chosen, result);
  } else if (origin.terms.size() == 1) {
    result = emit("Max", {emit("Min", {value_of(origin.terms[0]), integers({}, {origin.maximum})}),
                          integers({}, {origin.minimum})});
  } else {
    result = value_of(origin.terms[0]);
    for (std::size_t i = 1; i < origin.terms.size(); ++i) result = emit("Add", {result, value_of(origin.terms[i])});
  }
  return m_counts[count] = result;
}

value_id filler::value_of(const amount& a) {
  if (!a.varies()) return integers({}, {a.plus});
  value_id v = value_of_count(a.count);
  if (a.times != 1) v = emit("Mul", {v, integers({}, {a.times})});
  if (a.plus != 0) v = emit("Add", {v, integers({}, {a.plus})});
  return v;
}

/// A gather that reads behind a list of one number reads that number, and raises a flag.
value_id filler::value_with_minimum(const amount& a, i64 minimum) {
  const value_id v = value_of(a), missing = cast(emit("Less", {v, integers({}, {minimum})}), element::i64);
  return emit("Add", {v, emit("Gather", {integers({1}, {0}), missing}, {{"axis", i64{0}}})});
}

void filler::write_numbers(const value_facts& facts) {
  const value_id output = op().outputs[0];
  const shape_t shape = made(output).shape;
  const element type = made(output).type;
  std::vector<value_id> parts;
  for (const amount& a : facts.numbers) parts.push_back(reshaped(cast(value_of(a), type), {1}));
  const value_id list = parts.size() == 1 ? parts[0] : emit("Concat", parts, {{"axis", i64{0}}});
  emit("Reshape", {list, integers({static_cast<i64>(shape.size())}, shape)}, {}, output);
}

// Counts.

value_id filler::length_output(value_id chosen) {
  const auto found = m_length_outputs.find(chosen);
  return found != m_length_outputs.end() ? found->second : new_value(op().name + "/count");
}

void filler::write_length() {
  const value_id of = input(0), output = op().outputs[0];
  if (m_lengths.chosen(of) != nullptr) return count_into(of, output);
  const auto axis = static_cast<std::size_t>(op().integer("axis", 0));
  emit("Identity", {value_of(m_lengths.axes(of)[axis])}, {}, output);
}

void filler::count_into(value_id chosen, value_id output) {
  const source s = m_sources.at(chosen);
  if (s.by.op == "Unique") return count_groups(s, output);
  if (s.by.op == "NonMaxSuppression") return count_rows(s, output);
  if (s.by.op != "Range") return count_chosen(s, output);
  if (s.of != output) emit("Identity", {s.of}, {}, output);
}

/// How many elements of a mask are not 0.
void filler::count_chosen(const source& s, value_id output) {
  const std::int64_t integer = number_of(onnx_type::int64), real = number_of(onnx_type::float32);
  const value_id chosen = emit_beside(s.by, "chosen", "Cast", {s.of}, {{"to", number_of(onnx_type::boolean)}}),
                 numbers = emit_beside(s.by, "numbers", "Cast", {chosen}, {{"to", real}}),
                 sum = emit_beside(s.by, "sum", "ReduceSum", {numbers}, {{"keepdims", i64{0}}});
  emit_beside(s.by, "count", "Cast", {sum}, {{"to", integer}}, output);
}

/// The largest group that an element is in, and 1.
void filler::count_groups(const source& s, value_id output) {
  const value_id last = emit_beside(s.by, "last", "ReduceMax", {s.of}, {{"keepdims", i64{0}}}),
                 one = constant(make_ints({}, {1}), s.by.name + "/one");
  emit_beside(s.by, "count", "Add", {last, one}, {}, output);
}

/// Rows that begin with -1 are not used.
void filler::count_rows(const source& s, value_id output) {
  const value_id first = emit("Gather", {s.of, integers({}, {0})}, {{"axis", i64{1}}}),
                 used = emit("Less", {integers({}, {-1}), first});
  emit("Cast", {emit("ReduceSum", {cast(used, element::f32)}, {{"keepdims", i64{0}}})},
       {{"to", number_of(onnx_type::int64)}}, output);
}

// Masks.

value_id filler::is_used(value_id end, i64 length, std::size_t axis, std::size_t rank) {
  const auto [at, is_new] = m_masks.try_emplace({end, length, axis, rank}, no_value);
  if (!is_new) return at->second;
  shape_t shape(rank, 1);
  shape[axis] = length;
  std::vector<i64> places(static_cast<std::size_t>(length));
  std::iota(places.begin(), places.end(), 0);
  const value_id mask = emit("Less", {integers(shape, places, element::i32), cast(end, element::i32)});
  return m_masks[{end, length, axis, rank}] = mask;
}

value_id filler::is_used(const amount& a, i64 length, std::size_t axis, std::size_t rank) {
  return is_used(value_of(a), length, axis, rank);
}

std::vector<bool> filler::varying(value_id v, const std::vector<bool>& chosen) const {
  const std::vector<amount> axes = m_lengths.axes(v);
  std::vector<bool> flags;
  for (std::size_t d = 0; d < axes.size(); ++d) flags.push_back(chosen[d] && axes[d].varies());
  return flags;
}

bool filler::varies(value_id v, const std::vector<bool>& chosen) const {
  const std::vector<bool> flags = varying(v, chosen);
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

value_id filler::masked(value_id v, const std::vector<bool>& chosen, value_id other) {
  return masked_like(v, v, chosen, other);
}

value_id filler::masked_like(value_id v, value_id like, const std::vector<bool>& chosen, value_id other) {
  const std::vector<amount> axes = m_lengths.axes(like);
  const std::vector<bool> flags = varying(like, chosen);
  value_id result = v;
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (flags[d]) result = emit("Where", {is_used(axes[d], made(like).shape[d], d, axes.size()), result, other});
  return result;
}

value_id filler::masked(value_id v, const std::vector<bool>& chosen, neutral other) {
  return varies(v, chosen) ? masked(v, chosen, neutral_of(made(v).type, other)) : v;
}

value_id filler::masked(value_id v, value_id other) { return masked_like(v, v, other); }

value_id filler::masked_like(value_id v, value_id like, value_id other) {
  return masked_like(v, like, std::vector<bool>(made(like).shape.size(), true), other);
}

graph filled(const graph& g) { return filler(g).run(); }

graph counting(const graph& g) { return filler(g).run_counting(); }

}
