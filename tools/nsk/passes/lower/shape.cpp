// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include "errors.hpp"
#include "passes/lower/lowerer.hpp"

namespace nsk::tool {

void lowerer::lower_reshape(const operation& o, const reshape_parameters& r) {
  const view x = place_of(o.inputs[0]);
  const shape_t& shape = m_program.shape(o.output);
  // only axes of length 1 come or go: the storage keeps its border
  const auto wide = [](const shape_t& s) {
    shape_t w;
    for (std::int64_t d : s)
      if (d != 1) w.push_back(d);
    return w;
  };
  const bool squeeze = wide(x.shape) == wide(shape);
  if (!squeeze) ask_dense(x);
  if (const auto v = reshaped(x, shape)) {
    bind(o.output, *v);
    return;
  }
  // moved once: both sides are cut into lengths that refine both shapes, so that the copy can write any layout
  const axis_order order = r.channels_last ? channels_last_order(shape.size()) : identity_order(shape.size());
  const std::string reason = r.channels_last ? "" : "joins axes that do not lie next to each other";
  const auto refined = common_refinement(x.shape, shape);
  if (refined) {
    const auto from = reshaped(x, *refined);
    const view y = allocate(o.output, order);
    const auto to = reshaped(y, *refined);
    if (from && to) {
      ask_dense(y);
      copy_step(*from, *to, o.name, name_of_value(o.output), reason.empty() ? reason : "'" + o.name + "' " + reason);
      bind(o.output, y);
      return;
    }
  }
  const view dense = copied(x, identity_order(x.rank()), o, "rows", "joins axes that do not lie next to each other");
  bind(o.output, *reshaped(dense, shape));
}

void lowerer::lower_slice(const operation& o, const slice_parameters& s) {
  view x = place_of(o.inputs[0]);
  bool backwards = false;
  for (std::size_t a = 0; a < x.rank(); ++a) {
    x.offset += s.starts[a] * x.stride[a];
    x.stride[a] *= s.steps[a];
    backwards = backwards || (s.steps[a] < 0 && m_program.shape(o.output)[a] > 1);
  }
  x.shape = m_program.shape(o.output);
  if (backwards) {  // kernels other than Copy read forwards
    const view y = allocate(o.output, order_of(x));
    copy_step(x, y, o.name, name_of_value(o.output));
    x = y;
  }
  bind(o.output, x);
}

void lowerer::lower_concat(const operation& o, const concat_parameters& c) {
  const auto axis = static_cast<std::size_t>(c.axis);
  axis_order order;
  for (int v : o.inputs)
    if (!m_program.is_constant(v) && order.empty()) order = order_of(broadcast(place_of(v), m_program.shape(v)));
  if (order.empty()) order = identity_order(m_program.shape(o.output).size());
  const view y = allocate(o.output, order);
  bind(o.output, y);
  const axis_order actual = order_of(y);
  if (actual.back() != c.axis) ask_dense(y);
  std::int64_t start = 0;
  for (int v : o.inputs) {
    const shape_t& shape = m_program.shape(v);
    view part = y;
    part.offset += start * y.stride[axis];
    part.shape = shape;
    const embedding here{o.output, c.axis, start, false};
    start += shape[axis];
    if (m_program.is_constant(v)) {
      const array& values = *m_program.values[static_cast<std::size_t>(v)].constant;
      bool equal = std::abs(values.number(0)) < 16777216;  // a fill's value is a float
      for (std::int64_t i = 1; i < values.count() && equal; ++i) equal = values.number(i) == values.number(0);
      if (equal)
        fill_step(part, static_cast<float>(values.number(0)), o.name, name_of_value(o.output));
      else
        copy_step(constant_view(v, actual), part, o.name, name_of_value(o.output));
      continue;
    }
    const view x = place_of(v);
    const root& r = m_roots[x.storage];
    if (x.storage == y.storage && x.offset == part.offset) continue;
    // the part could have been written in place: ask for it, when nothing else lives in its storage
    const bool whole = m_plan.storages[static_cast<std::size_t>(x.storage)].kind == storage_kind::arena &&
                       r.owner >= 0 && r.owner != o.output && count_of(x.shape) == count_of(r.whole.shape) &&
                       x.offset == r.whole.offset && !decided(r.owner).embed &&
                       std::count(o.inputs.begin(), o.inputs.end(), v) == 1 && decided(r.owner).output < 0 &&
                       !m_program.is_output(r.owner);
    if (whole && !m_orders_only && m_options.joins_in_place) {
      bool outermost = true;  // is the part one block of the result?
      for (int a : actual) {
        if (a == c.axis) break;
        outermost = outermost && shape[static_cast<std::size_t>(a)] == 1;
      }
      const bool own_axes = r.whole.shape == shape && r.whole.stride == x.stride;
      const axis_order part_order = order_of(x);
      axis_order wide_part, wide_whole;
      for (int a : part_order)
        if (shape[static_cast<std::size_t>(a)] != 1) wide_part.push_back(a);
      for (int a : actual)
        if (shape[static_cast<std::size_t>(a)] != 1) wide_whole.push_back(a);
      // kernels write neighbours: what is innermost in the part must stay so, also where the concatenation runs along
      // an axis of length 1
      const auto stays = [&](int a) {
        return y.stride[static_cast<std::size_t>(a)] == x.stride[static_cast<std::size_t>(a)];
      };
      const bool same_order = wide_part == wide_whole && (wide_part.empty() || stays(wide_part.back()));
      if (same_order && outermost) {
        ask_dense(x);
        if (is_dense(x)) {
          embedding e = here;
          e.contiguous = true;
          ask(r.owner).embed = e;
          ask(r.owner).order = order_of(r.whole);
          ask(o.output).order = actual;
          ask(o.output).dense = true;
        }
      } else if (same_order && own_axes) {
        ask(r.owner).embed = here;
        ask(o.output).order = actual;
      }
    }
    copy_step(x, part, o.name, name_of_value(o.output));
  }
}

void lowerer::lower_interleave(const operation& o, const interleave_parameters& i) {
  const view y = allocate(o.output, channels_last_order(m_program.shape(o.output).size()), true);
  bind(o.output, y);
  ask_dense(y);
  for (std::size_t k = 0; k < o.inputs.size(); ++k) {
    embedding here;
    here.parent = o.output;
    here.phase = static_cast<int>(k);
    here.rows = i.rows;
    here.columns = i.columns;
    const int v = o.inputs[k];
    const view x = place_of(v), part = phase_of(y, here.phase, here.rows, here.columns, m_program.shape(v));
    if (x.storage == y.storage && x.offset == part.offset) continue;
    const root& r = m_roots[x.storage];
    const bool whole = r.owner == v && !m_program.is_output(v) && decided(v).output < 0;
    if (whole && !m_orders_only) {
      ask(v).embed = here;
      ask(o.output).order = order_of(y);
    }
    copy_step(x, part, o.name, name_of_value(o.output));
  }
}

}
