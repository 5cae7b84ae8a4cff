// SPDX-License-Identifier: MIT
/// A model for several rows where its file fixes one (length_view.hpp). Which axis of a result has the rows is chosen
/// by rank where it does not follow; check/row_check.hpp finds wrong choices.
#include <algorithm>
#include <cstring>

#include "resolve/lengths/length_view.hpp"

namespace nsk::tool {
namespace {

using list = std::vector<std::int64_t>;

bool divides(std::int64_t a, std::int64_t b) { return a != 0 && b % a == 0; }

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
  for (std::size_t k = 0; k < to.size(); ++k) {
    const std::int64_t stride = stride_of(to, k);
    if (!divides(stride, inner) || !divides(inner * length, stride * to[k])) continue;
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

/// What changed in axis `d` of a value: the axis, unless it was made of several.
std::vector<row_part> parts_of(const length_view& view, value_id v, std::size_t d) {
  std::vector<row_part> found;
  if (const auto known = view.parts.find(v); known != view.parts.end())
    for (const row_part& p : known->second)
      if (p.axis == d) found.push_back(p);
  if (found.empty()) found.push_back({d, 1, view.before(v)->shape[d], view.at(v).shape[d]});
  return found;
}

/// Makes operand `input`, a constant, as long as `shape` where it is 1 long and that is not.
void repeat(length_view& view, node& n, std::size_t input, const shape_t& shape) {
  const std::shared_ptr<const array> from = view.at(n.inputs[input]).constant;
  if (shape == from->shape) return;
  const std::string who = describe(view.the_graph(), n);
  view.folds().make(checked_count(shape, who), who);
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
  n.inputs[input] = view.placer().new_constant(n, "rows_" + std::to_string(input), std::move(to));
}

void repeat_joined(length_view& view, node& n) {
  shape_t was, now;
  for (const value_id v : n.inputs)
    if (v != no_value && !view.at(v).constant && view.before(v) != nullptr) view.shapes_of(v, was, now);
  if (was.size() != now.size()) return;
  const std::int64_t axis = counted_from_start(n.integer("axis", 0), was.size());
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (!n.reads(i) || !view.at(n.inputs[i]).constant || view.at(n.inputs[i]).shape.size() != was.size()) continue;
    shape_t wanted = view.at(n.inputs[i]).shape;
    for (std::size_t d = 0; d < wanted.size(); ++d)
      if (static_cast<std::int64_t>(d) != axis && wanted[d] == 1 && was[d] == 1) wanted[d] = now[d];
    repeat(view, n, i, wanted);
  }
}

/// Sequence lengths and initial values of a recurrent layer.
void repeat_initial(length_view& view, node& n) {
  shape_t was, now;
  const std::size_t rows = n.integer("layout", 0) == 1 ? 0 : 1;
  if (!n.reads(0) || !view.shapes_of(n.inputs[0], was, now) || was.size() != 3 || was[rows] != 1) return;
  for (const std::size_t i : {std::size_t{4}, std::size_t{5}, std::size_t{6}}) {
    if (!n.reads(i) || !view.at(n.inputs[i]).constant) continue;
    const std::size_t axis = i == 4 ? 0 : rows;
    shape_t wanted = view.at(n.inputs[i]).shape;
    if (axis < wanted.size() && wanted[axis] == 1) wanted[axis] = now[rows];
    repeat(view, n, i, wanted);
  }
}

[[noreturn]] void fail(const length_view& view, const node& n, const std::string& why) {
  refuse(describe(view.the_graph(), n) + ": " + why +
         ", so that the model cannot be made for these input shapes. Export it for them, or leave --input out");
}

}

void repeat_constants(length_view& view, node& n) {
  if (n.domain.empty() && n.op == "Concat") repeat_joined(view, n);
  if (n.domain.empty() && (n.op == "LSTM" || n.op == "GRU" || n.op == "RNN")) repeat_initial(view, n);
}

std::vector<reading> place_rows(length_view& view, const node& n, const length_literal& to) {
  shape_t was, now;
  const value* made = view.before(n.outputs[0]);
  if (made == nullptr || !to.known || !view.shapes_of(n.inputs[0], was, now)) return {};
  list target = made->shape;
  std::vector<row_part> parts;
  for (std::size_t d = 0; d < was.size(); ++d) {
    if (was[d] == now[d]) continue;
    for (const row_part& p : parts_of(view, n.inputs[0], d)) {
      const std::int64_t inner = p.inner * stride_of(was, d);
      const int k = place_of_axis(was, inner, p.was, made->shape, to.now);
      if (k < 0)
        fail(view, n,
             "axis " + std::to_string(d) + " of its input is " + std::to_string(now[d]) + " long instead of " +
                 std::to_string(was[d]) + ", and it does not follow which axis of " + to_string(made->shape) +
                 " has that");
      const auto axis = static_cast<std::size_t>(k);
      if (!divides(p.was, target[axis] * p.now))
        fail(view, n,
             "a length of " + std::to_string(target[axis]) + " belongs to a length of " + std::to_string(p.was) +
                 ", which is " + std::to_string(p.now) + " now");
      target[axis] = target[axis] * p.now / p.was;
      parts.push_back({axis, inner / stride_of(made->shape, axis), p.was, p.now});
    }
  }
  view.parts[n.outputs[0]] = parts;
  return {{to.with(target)}};
}

void follow_rows(length_view& view, const node& n) {
  for (const value_id from : n.inputs) {
    if (n.op == "Reshape" || from == no_value || view.parts.count(from) == 0 || view.before(from) == nullptr) continue;
    const std::vector<row_part> parts = view.parts.at(from);
    for (const value_id to : n.outputs) {
      shape_t was, now;
      if (view.before(to) == nullptr || !view.shapes_of(to, was, now) || view.parts.count(to) != 0) continue;
      std::vector<row_part> same;
      for (std::size_t d = 0; d < was.size(); ++d)
        for (const row_part& p : parts)
          if (was[d] != now[d] && was[d] == view.before(from)->shape[p.axis] && now[d] == view.at(from).shape[p.axis])
            same.push_back({d, p.inner, p.was, p.now});
      if (!same.empty()) view.parts[to] = same;
    }
  }
  for (const value_id v : n.outputs)
    if (view.before(v) != nullptr && view.before(v)->shape.size() != view.at(v).shape.size())
      fail(view, n,
           "its result has " + std::to_string(view.at(v).shape.size()) + " axes instead of " +
               std::to_string(view.before(v)->shape.size()));
}

}
