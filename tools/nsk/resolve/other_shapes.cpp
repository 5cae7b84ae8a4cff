// SPDX-License-Identifier: MIT
#include "resolve/other_shapes.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "errors.hpp"
#include "resolve/axes.hpp"

namespace nsk::tool {
namespace {

using list = std::vector<std::int64_t>;

list integers_of(const array& a) {
  list result;
  for (std::int64_t i = 0; i < a.count(); ++i) result.push_back(a.integer(i));
  return result;
}

/// Elements behind axis `d`: how far apart its indices are.
std::int64_t stride_of(const shape_t& s, std::size_t d) {
  std::int64_t n = 1;
  for (std::size_t i = d + 1; i < s.size(); ++i) n *= s[i];
  return n;
}

bool divides(std::int64_t a, std::int64_t b) { return a != 0 && b % a == 0; }

/// Where an index that has `inner` elements behind it is among the axes of `to`: the axes that hold its place.
std::vector<std::size_t> places_of(std::int64_t inner, std::int64_t length, const shape_t& to) {
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < to.size(); ++k)
    if (divides(stride_of(to, k), inner) && divides(inner * length, stride_of(to, k) * to[k])) places.push_back(k);
  return places;
}

/// Whether axis `k` of `to` is an axis of `from`, at the same place.
bool is_intact(const shape_t& from, const shape_t& to, std::size_t k) {
  for (std::size_t d = 0; d < from.size(); ++d)
    if (from[d] == to[k] && stride_of(from, d) == stride_of(to, k)) return true;
  return false;
}

/// The axis of `to` that holds `length` positions with `inner` elements behind each, where a Reshape makes it of
/// `from`; -1 where none does. Rows (one position) between two axes may join either: an axis of length 1 is taken
/// before others (the outermost for the outermost, else the one that `literal`, the exporter's target, leaves open),
/// others before the last one, which has features, and those that the Reshape makes before those that it leaves alone.
/// Positions that are split belong to the part that `literal` leaves open.
int place_of_axis(const shape_t& from, std::int64_t inner, std::int64_t length, const shape_t& to,
                  const list& literal) {
  const bool outermost = inner * length == count_of(from);
  int best = -1, rank_of_best = 0;
  for (const std::size_t k : places_of(inner, length, to)) {
    const bool open = k < literal.size() && literal[k] == -1;
    const int rank = to[k] == 1               ? (outermost && k == 0 ? 5
                                                 : open              ? 4
                                                                     : 3)
                     : k + 1 == to.size()     ? 0
                     : is_intact(from, to, k) ? 1
                                              : 2;
    if (best >= 0 && rank <= rank_of_best) continue;
    best = static_cast<int>(k);
    rank_of_best = rank;
  }
  for (std::size_t k = 0; best < 0 && k < to.size() && k < literal.size(); ++k) {
    const bool inside = stride_of(to, k) >= inner && divides(stride_of(to, k) * to[k], inner * length);
    if (inside && literal[k] == -1) best = static_cast<int>(k);
  }
  return best;
}

}

shape_adapter::shape_adapter(graph& g, const graph* exported, folder& folds, node_placer& placer)
    : m_graph(g), m_folds(folds), m_placer(placer) {
  if (exported == nullptr) return;
  for (const value& v : exported->values) m_before.emplace(v.name, &v);
}

const value* shape_adapter::before(value_id v) const {
  const auto found = m_before.find(m_graph.values[static_cast<std::size_t>(v)].name);
  return found == m_before.end() ? nullptr : found->second;
}

void shape_adapter::fail(const node& n, const std::string& why) const {
  refuse(describe(m_graph, n) + ": " + why +
         ", so that the model cannot be made for these input shapes. Export it for them, or leave --input out");
}

/// Whether operand `i` is a list of integers that does not depend on the shapes: what it was in the exported graph.
bool shape_adapter::is_literal(const node& n, std::size_t i) {
  if (!has(n, i)) return false;
  const value& v = at(n.inputs[i]);
  const value* old = before(n.inputs[i]);
  return v.constant && is_integer(v.type) &&
         (old == nullptr || (old->constant && old->constant->data == v.constant->data));
}

void shape_adapter::write(node& n, std::size_t input, const std::string& what, const list& numbers) {
  n.inputs[input] = m_placer.new_constant(n, what, make_ints({static_cast<std::int64_t>(numbers.size())}, numbers));
}

std::int64_t shape_adapter::scaled(const node& n, std::int64_t number, std::int64_t was, std::int64_t is,
                                   const char* what) const {
  if (number == was) return is;
  if (!divides(was, number * is))
    fail(n, std::string(what) + " " + std::to_string(number) + " belongs to a length of " + std::to_string(was) +
                ", which is " + std::to_string(is) + " now");
  return number * is / was;
}

void shape_adapter::adapt_reshape(node& n) {
  const value* old = before(n.inputs[0]);
  const value* made = before(n.outputs[0]);
  if (made == nullptr || !is_literal(n, 1)) return;
  const shape_t &was = old->shape, &is = at(n.inputs[0]).shape;
  const list literal = integers_of(*at(n.inputs[1]).constant);
  shape_t target = made->shape;
  std::vector<part> parts;
  for (std::size_t d = 0; d < was.size(); ++d) {
    if (was[d] == is[d]) continue;
    for (const part& p : parts_of(n.inputs[0], d)) {
      const std::int64_t inner = p.inner * stride_of(was, d);
      const int k = place_of_axis(was, inner, p.was, made->shape, literal);
      if (k < 0)
        fail(n, "axis " + std::to_string(d) + " of its input is " + std::to_string(is[d]) + " long instead of " +
                    std::to_string(was[d]) + ", and it does not follow which axis of " + to_string(made->shape) +
                    " has that");
      const auto axis = static_cast<std::size_t>(k);
      target[axis] = scaled(n, target[axis], p.was, p.now, "a length of");
      parts.push_back({axis, inner / stride_of(made->shape, axis), p.was, p.now});
    }
  }
  m_parts[n.outputs[0]] = parts;
  n.attributes.erase("allowzero");
  write(n, 1, "shape", target);
}

void shape_adapter::adapt_expand(node& n) {
  if (!is_literal(n, 1)) return;
  const shape_t &was = before(n.inputs[0])->shape, &is = at(n.inputs[0]).shape;
  list target = integers_of(*at(n.inputs[1]).constant);
  const std::size_t rank = std::min(was.size(), target.size());
  for (std::size_t i = 1; i <= rank; ++i) {
    const std::size_t d = was.size() - i;
    std::int64_t& length = target[target.size() - i];
    if (was[d] != is[d] && was[d] == length) length = is[d];
  }
  write(n, 1, "shape", target);
}

void shape_adapter::adapt_resize(node& n) {
  constexpr std::size_t sizes = 3;
  if (!is_literal(n, sizes) || at(n.inputs[sizes]).constant->count() == 0) return;
  const shape_t &was = before(n.inputs[0])->shape, &is = at(n.inputs[0]).shape;
  list target = integers_of(*at(n.inputs[sizes]).constant);
  const list axes = n.integers("axes");
  for (std::size_t i = 0; i < target.size(); ++i) {
    const std::int64_t named = axes.empty()      ? static_cast<std::int64_t>(i)
                               : i < axes.size() ? axes[i]
                                                 : -1,
                       d = counted_from_start(named, was.size());
    if (d < 0 || d >= static_cast<std::int64_t>(was.size())) return;  // inference says what is wrong
    const auto axis = static_cast<std::size_t>(d);
    target[i] = scaled(n, target[i], was[axis], is[axis], "a size of");
  }
  write(n, sizes, "sizes", target);
}

void shape_adapter::adapt_split(node& n) {
  const shape_t &was = before(n.inputs[0])->shape, &is = at(n.inputs[0]).shape;
  const std::int64_t d = counted_from_start(n.integer("axis", 0), was.size());
  if (d < 0 || d >= static_cast<std::int64_t>(was.size()) || !is_literal(n, 1)) return;
  const auto axis = static_cast<std::size_t>(d);
  if (was[axis] == is[axis]) return;
  list parts = integers_of(*at(n.inputs[1]).constant);
  for (std::int64_t& part : parts) part = scaled(n, part, was[axis], is[axis], "a part of");
  write(n, 1, "split", parts);
}

/// Ends of axes that were taken whole go to the ends of these axes.
void shape_adapter::adapt_slice(node& n) {
  const value* made = before(n.outputs[0]);
  if (made == nullptr || !is_literal(n, 1) || !is_literal(n, 2)) return;
  const shape_t &was = before(n.inputs[0])->shape, &is = at(n.inputs[0]).shape;
  list starts = integers_of(*at(n.inputs[1]).constant), ends = integers_of(*at(n.inputs[2]).constant), axes, steps;
  if (has(n, 3)) {
    if (!is_literal(n, 3)) return;
    axes = integers_of(*at(n.inputs[3]).constant);
  } else {
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (has(n, 4) && !is_literal(n, 4)) return;
  if (has(n, 4)) steps = integers_of(*at(n.inputs[4]).constant);
  if (ends.size() != starts.size() || axes.size() != starts.size()) return;  // inference says what is wrong
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t d = counted_from_start(axes[i], was.size());
    if (d < 0 || d >= static_cast<std::int64_t>(was.size())) return;
    const auto axis = static_cast<std::size_t>(d);
    const bool forwards = steps.empty() || (i < steps.size() && steps[i] == 1);
    if (was[axis] == is[axis] || made->shape[axis] != was[axis] || !forwards) continue;
    starts[i] = 0;
    ends[i] = std::numeric_limits<std::int64_t>::max();
  }
  write(n, 1, "starts", starts);
  write(n, 2, "ends", ends);
}

/// Makes operand `input`, a constant with lengths of 1 where `shape` has others, as long as that.
void shape_adapter::repeat(node& n, std::size_t input, const shape_t& shape) {
  const std::shared_ptr<const array> from = at(n.inputs[input]).constant;
  m_folds.make(checked_count(shape, describe(m_graph, n)), describe(m_graph, n));
  array to(from->type, shape);
  const std::size_t size = size_of(to.type);
  for (std::int64_t i = 0; i < to.count(); ++i) {
    std::int64_t rest = i, at = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t stride = stride_of(shape, d), index = rest / stride;
      rest %= stride;
      if (from->shape[d] != 1) at += index * stride_of(from->shape, d);
    }
    std::memcpy(&to.data[static_cast<std::size_t>(i) * size], &from->data[static_cast<std::size_t>(at) * size], size);
  }
  n.inputs[input] = m_placer.new_constant(n, "rows_" + std::to_string(input), std::move(to));
}

void shape_adapter::adapt_concat(node& n) {
  const value_id* data = nullptr;
  for (const value_id& v : n.inputs)
    if (v != no_value && !at(v).constant && before(v) != nullptr) data = &v;
  if (data == nullptr) return;
  const shape_t was = before(*data)->shape, is = at(*data).shape;
  const std::int64_t axis = counted_from_start(n.integer("axis", 0), was.size());
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (!has(n, i) || !at(n.inputs[i]).constant || at(n.inputs[i]).shape.size() != was.size()) continue;
    shape_t wanted = at(n.inputs[i]).shape;
    for (std::size_t d = 0; d < wanted.size(); ++d)
      if (static_cast<std::int64_t>(d) != axis && wanted[d] == 1 && was[d] == 1) wanted[d] = is[d];
    if (wanted != at(n.inputs[i]).shape) repeat(n, i, wanted);
  }
}

void shape_adapter::adapt_recurrent(node& n) {
  const shape_t &was = before(n.inputs[0])->shape, &is = at(n.inputs[0]).shape;
  if (was.size() != 3) return;
  const bool batch_first = n.integer("layout", 0) == 1;
  const std::size_t rows = batch_first ? 0 : 1;
  for (const std::size_t i : {std::size_t{4}, std::size_t{5}, std::size_t{6}}) {
    if (!has(n, i) || !at(n.inputs[i]).constant || was[rows] != 1) continue;
    const std::size_t axis = i == 4 ? 0 : rows;
    shape_t wanted = at(n.inputs[i]).shape;
    if (axis >= wanted.size() || wanted[axis] != 1) continue;
    wanted[axis] = is[rows];
    repeat(n, i, wanted);
  }
}

void shape_adapter::adapt(node& n) {
  if (m_before.empty() || !n.domain.empty() || n.outputs.empty() || n.outputs[0] == no_value) return;
  if (n.op == "Concat") return adapt_concat(n);
  if (!has(n, 0)) return;
  const value* old = before(n.inputs[0]);
  if (old == nullptr || old->shape == at(n.inputs[0]).shape || old->shape.size() != at(n.inputs[0]).shape.size())
    return;
  if (n.op == "Reshape") adapt_reshape(n);
  if (n.op == "Expand") adapt_expand(n);
  if (n.op == "Resize") adapt_resize(n);
  if (n.op == "Split") adapt_split(n);
  if (n.op == "Slice") adapt_slice(n);
  if (n.op == "LSTM" || n.op == "GRU" || n.op == "RNN") adapt_recurrent(n);
}

/// What changed in axis `d` of a value: the axis, unless it was made of several.
std::vector<shape_adapter::part> shape_adapter::parts_of(value_id v, std::size_t d) const {
  std::vector<part> found;
  if (const auto known = m_parts.find(v); known != m_parts.end())
    for (const part& p : known->second)
      if (p.axis == d) found.push_back(p);
  if (found.empty()) found.push_back({d, 1, before(v)->shape[d], m_placer.at(v).shape[d]});
  return found;
}

/// An axis of a result is made of several where one of an operand with the same lengths is.
void shape_adapter::pass_on_parts(const node& n) {
  for (const value_id from : n.inputs) {
    if (from == no_value || m_parts.count(from) == 0 || before(from) == nullptr) continue;
    const std::vector<part> parts = m_parts.at(from);
    for (const value_id to : n.outputs) {
      const value* old = to == no_value ? nullptr : before(to);
      if (old == nullptr || old->shape.size() != at(to).shape.size() || m_parts.count(to) != 0) continue;
      std::vector<part> same;
      for (std::size_t d = 0; d < old->shape.size(); ++d)
        for (const part& p : parts)
          if (old->shape[d] != at(to).shape[d] && old->shape[d] == before(from)->shape[p.axis] &&
              at(to).shape[d] == at(from).shape[p.axis])
            same.push_back({d, p.inner, p.was, p.now});
      if (!same.empty()) m_parts[to] = same;
    }
  }
}

void shape_adapter::look_at_results(const node& n) {
  if (m_before.empty()) return;
  if (n.op != "Reshape") pass_on_parts(n);
  for (const value_id v : n.outputs) {
    const value* old = v == no_value ? nullptr : before(v);
    const std::size_t rank = old == nullptr ? 0 : m_graph.values[static_cast<std::size_t>(v)].shape.size();
    if (old != nullptr && rank != old->shape.size())
      fail(n, "its result has " + std::to_string(rank) + " axes instead of " + std::to_string(old->shape.size()));
  }
}

}
