// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <optional>
#include "errors.hpp"
#include "passes/lower/lowerer.hpp"

namespace nsk::tool {

void lowerer::set_epilogue(plan_step& s, const post_operation& post) {
  s.e.fn = post.fn;
  s.e.alpha = static_cast<float>(post.alpha);
  s.e.beta = static_cast<float>(post.beta);
  s.e.activation_first = post.activation_first;
  if (post.fn != function::prelu) return;
  const std::vector<float> slope(post.slope.begin(), post.slope.end());
  s.e.slope = static_cast<int>(s.inputs.size());
  s.inputs.push_back(constant_floats(s.name + "#slope", slope));
}

void lowerer::lower_unary(const operation& o) {
  const view x = place_of(o.inputs[0]);
  const axis_order inherited = order_of(x);
  const view y = allocate(o.output, inherited);
  if (decided(o.output).order && *decided(o.output).order != inherited)
    ask_innermost(x, static_cast<std::size_t>(decided(o.output).order->back()));
  std::vector<int> t;
  joint_tensors({y, x}, {name_of_value(o.output), name_of_value(o.inputs[0])}, t);
  step(op::unary, o, {t[1]}, t[0]);
  set_epilogue(m_plan.steps.back(), o.post);
  bind(o.output, y);
}

/// Result and operands of an elementwise operation, broadcast to the result's shape: tensors of the result, then of the
/// operands.
std::vector<int> lowerer::elementwise_tensors(const operation& o) {
  const shape_t& out = m_program.shape(o.output);
  // the result lies as the first operand of its full size does; constants are laid out to match it
  int model = no_value;
  for (int v : o.inputs)
    if (model == no_value && !m_program.is_constant(v) && count_of(m_program.shape(v)) == count_of(out)) model = v;
  axis_order order = model == no_value ? channels_last_order(out.size()) : order_of(broadcast(place_of(model), out));
  if (model == no_value && out.size() != 4) order = identity_order(out.size());
  const view y = allocate(o.output, order);
  const axis_order actual = order_of(y);
  if (model != no_value && actual != order)
    ask_innermost(broadcast(place_of(model), out), static_cast<std::size_t>(actual.back()));
  const auto operand = [&](int v) {
    if (!m_program.is_constant(v)) return broadcast(place_of(v), out);
    const std::size_t rank = m_program.shape(v).size();
    if (rank > out.size())
      refuse(o.source + ": its constant operand has " + std::to_string(rank) + " dimensions, its result " +
             std::to_string(out.size()));
    const std::size_t lead = out.size() - rank;
    axis_order mine;
    for (int axis : actual)
      if (axis >= static_cast<int>(lead)) mine.push_back(axis - static_cast<int>(lead));
    return broadcast(constant_view(v, mine), out);
  };
  std::vector<view> views = {y};
  std::vector<std::string> names = {name_of_value(o.output)};
  for (int v : o.inputs) {
    views.push_back(operand(v));
    names.push_back(name_of_value(v));
  }
  std::vector<int> tensors;
  joint_tensors(views, names, tensors);
  bind(o.output, y);
  return tensors;
}

void lowerer::lower_binary(const operation& o, const binary_parameters& b) {
  const std::vector<int> t = elementwise_tensors(o);
  step(op::binary, o, {t[1], t[2]}, t[0]).binary = b.kind;
  set_epilogue(m_plan.steps.back(), o.post);
}

namespace {

/// A reduction in two steps: of runs of the outermost physical axis, then of their results.
struct reduction_by_runs {
  std::size_t axis;
  std::int64_t runs;
};

/// Finds the runs of large pictures whose outermost axis is reduced. Without them tiles are channels, and every lane
/// reads what all others wrote in the step before; runs of rows are its own. How many pictures there are changes
/// nothing, so that each has the bits that it has alone.
std::optional<reduction_by_runs> runs_of(const view& x, const std::vector<char>& reduced) {
  constexpr std::int64_t least_elements = 32768, least_runs = 8, most_runs = 32;
  std::vector<std::size_t> axes;  // of one picture, longer than 1
  std::int64_t elements = 1;
  for (int a : order_of(x)) {
    const auto axis = static_cast<std::size_t>(a);
    if (x.shape[axis] == 1 || (axes.empty() && !reduced[axis])) continue;
    axes.push_back(axis);
    elements *= x.shape[axis];
  }
  if (elements < least_elements || reduced[axes.back()]) return std::nullopt;
  const std::int64_t length = x.shape[axes.front()];
  for (std::int64_t runs = least_runs; runs <= std::min(most_runs, length); ++runs)
    if (length % runs == 0) return reduction_by_runs{axes.front(), runs};
  return std::nullopt;
}

}

void lowerer::lower_reduce(const operation& o, const reduce_parameters& r) {
  view x = place_of(o.inputs[0]);
  const view y = allocate(o.output, order_of(x));
  ask_dense(y);
  std::vector<char> reduced(x.rank(), 0);
  for (int a : r.axes) reduced[static_cast<std::size_t>(a)] = 1;
  std::string name = name_of_value(o.inputs[0]);
  reduce_kind kind = r.kind;
  if (const auto by = runs_of(x, reduced)) {
    const auto at = static_cast<std::ptrdiff_t>(by->axis);
    view rows = x;
    rows.shape[by->axis] = by->runs;
    rows.shape.insert(rows.shape.begin() + at + 1, x.shape[by->axis] / by->runs);
    rows.stride[by->axis] *= x.shape[by->axis] / by->runs;
    rows.stride.insert(rows.stride.begin() + at + 1, x.stride[by->axis]);
    std::vector<char> inner = reduced;
    inner[by->axis] = 0;
    inner.insert(inner.begin() + at + 1, 1);
    shape_t shape = rows.shape;
    for (std::size_t a = 0; a < shape.size(); ++a)
      if (inner[a]) shape[a] = 1;
    const std::string result = o.name + "#runs";
    view partial = new_storage(-1, result, shape, order_of(rows), {}, storage_kind::arena);
    reduce_step(o, kind, rows, partial, inner, {name, result});
    partial.shape.erase(partial.shape.begin() + at + 1);
    partial.stride.erase(partial.stride.begin() + at + 1);
    x = std::move(partial);
    name = result;
    if (kind == reduce_kind::sum_square) kind = reduce_kind::sum;
  }
  reduce_step(o, kind, x, y, reduced, {name, name_of_value(o.output)});
  set_epilogue(m_plan.steps.back(), o.post);
  bind(o.output, y);
}

void lowerer::reduce_step(const operation& o, reduce_kind kind, const view& x, const view& y,
                          const std::vector<char>& reduced, const std::array<std::string, 2>& names) {
  // physical dimensions of both sides; neighbours merge when both are reduced or both are kept
  plan_tensor in, out;
  in.name = names[0];
  out.name = names[1];
  in.storage = x.storage;
  in.offset = x.offset;
  out.storage = y.storage;
  out.offset = y.offset;
  std::vector<char> kept;
  for (int axis : order_of(x)) {
    const auto a = static_cast<std::size_t>(axis);
    if (x.shape[a] == 1) continue;
    const auto length = static_cast<std::int32_t>(x.shape[a]);
    const bool gone = reduced[a] != 0;
    const bool merges = !kept.empty() && (kept.back() == 0) == gone && in.strides.back() == x.stride[a] * length &&
                        (gone || out.strides.back() == y.stride[a] * length);
    if (merges) {
      in.shape.back() *= length;
      in.strides.back() = x.stride[a];
      if (!gone) out.shape.back() *= length;
      out.strides.back() = gone ? 0 : y.stride[a];
      continue;
    }
    kept.push_back(gone ? 0 : 1);
    in.shape.push_back(length);
    in.strides.push_back(x.stride[a]);
    out.shape.push_back(gone ? 1 : length);
    out.strides.push_back(gone ? 0 : y.stride[a]);
  }
  if (in.shape.empty()) {
    in.shape = out.shape = {1};
    in.strides = out.strides = {1};
  }
  if (in.shape.size() > static_cast<std::size_t>(max_rank))
    refuse(o.source + ": the reduction has more than six dimensions after merging");
  // a length of 1 may have any stride; give it the dense one
  std::int64_t dense = 1;
  for (std::size_t i = out.shape.size(); i-- > 0;) {
    if (out.shape[i] == 1) out.strides[i] = dense;
    dense = std::max(dense, out.strides[i] * out.shape[i]);
  }
  m_plan.tensors.push_back(std::move(in));
  m_plan.tensors.push_back(std::move(out));
  const int last = static_cast<int>(m_plan.tensors.size()) - 1;
  step(op::reduce, o, {last - 1}, last).reduce = kind;
}

void lowerer::lower_softmax(const operation& o, const softmax_parameters& s) {
  const view x = place_of(o.inputs[0]);
  const view y = allocate(o.output, order_of(x));
  std::vector<int> t;
  const int axis = joint_tensors({y, x}, {name_of_value(o.output), name_of_value(o.inputs[0])}, t, s.axis);
  plan_step& made = step(op::softmax, o, {t[1]}, t[0]);
  made.axis = axis;
  made.log = s.log;
  bind(o.output, y);
}

}
