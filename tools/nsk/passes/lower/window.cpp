// SPDX-License-Identifier: MIT
#include <algorithm>
#include "errors.hpp"
#include "passes/lower/lowerer.hpp"

namespace nsk::tool {

void lowerer::lower_pool(const operation& o, const pool_parameters& p) {
  const view x = with_innermost(place_of(o.inputs[0]), 1, o);
  const bool flat = x.rank() == 3;
  const std::vector<int> axes = {0, flat ? -1 : 2, flat ? 2 : 3, 1};
  const view y = allocate(o.output, channels_last_order(x.rank()), true);
  const int input = tensor(x, axes, name_of_value(o.inputs[0]));
  plan_step& s = step(op::pool_2d, o, {input}, tensor(y, axes, name_of_value(o.output)));
  s.pool = p.kind;
  s.w = p.w;
  s.pad_bottom = p.pad_bottom;
  s.pad_right = p.pad_right;
  s.count_include_pad = p.count_include_pad;
  bind(o.output, y);
}

void lowerer::lower_resize(const operation& o, const resize_parameters& r) {
  const view x = with_innermost(place_of(o.inputs[0]), 1, o);
  const bool flat = x.rank() == 3;
  if (x.rank() < 3) refuse(o.source + ": resizing needs [N, C, W] or [N, C, H, W]");
  const std::vector<int> axes = {0, flat ? -1 : 2, flat ? 2 : 3, 1};
  const view y = allocate(o.output, channels_last_order(x.rank()), true);
  const auto table = [&](int axis) {
    for (const resize_axis& a : r.axes)
      if (a.axis == axis) return a;
    resize_axis same;
    const std::int64_t length = axis < 0 ? 1 : x.shape[static_cast<std::size_t>(axis)];
    for (std::int64_t i = 0; i < length; ++i) same.index.push_back(static_cast<std::int32_t>(i));
    same.weight.assign(static_cast<std::size_t>(length), 1.0f);
    return same;
  };
  const resize_axis rows = table(axes[1]), columns = table(axes[2]);
  const std::vector<int> inputs = {
      tensor(x, axes, name_of_value(o.inputs[0])), constant_ints(o.name + "#rows", rows.index),
      constant_floats(o.name + "#row_weights", rows.weight), constant_ints(o.name + "#columns", columns.index),
      constant_floats(o.name + "#column_weights", columns.weight)};
  plan_step& s = step(op::resize_2d, o, inputs, tensor(y, axes, name_of_value(o.output)));
  s.row_taps = rows.taps;
  s.column_taps = columns.taps;
  bind(o.output, y);
}

void lowerer::lower_pad(const operation& o, const pad_parameters& p) {
  view x = place_of(o.inputs[0]);
  const shape_t& shape = m_program.shape(o.output);
  const std::size_t rank = shape.size();
  std::vector<std::int64_t> before = p.before, after = p.after;
  for (std::size_t a = 0; a < rank; ++a) {  // negative pads crop
    if (before[a] < 0) {
      x.offset -= before[a] * x.stride[a];
      x.shape[a] += before[a];
    }
    if (after[a] < 0) x.shape[a] += after[a];
    before[a] = std::max<std::int64_t>(before[a], 0);
    after[a] = std::max<std::int64_t>(after[a], 0);
  }
  const auto part = [](view v, std::size_t axis, std::int64_t start, std::int64_t length) {
    v.offset += start * v.stride[axis];
    v.shape[axis] = length;
    return v;
  };
  std::vector<std::size_t> padded;
  for (std::size_t a = 0; a < rank; ++a)
    if (before[a] || after[a]) padded.push_back(a);
  if (padded.empty()) {
    const view y = allocate(o.output, order_of(x));
    copy_step(x, y, o.name, name_of_value(o.output));
    bind(o.output, y);
    return;
  }
  for (std::size_t i = 0; i < padded.size(); ++i) {  // one axis after the other, each into a wider block
    const std::size_t a = padded[i];
    const std::int64_t length = x.shape[a], lead = before[a], tail = after[a];
    shape_t wider = x.shape;
    wider[a] += lead + tail;
    const bool last = i + 1 == padded.size();
    const view y = last ? allocate(o.output, order_of(x))
                        : new_storage(-1, o.name + "#axis" + std::to_string(a), wider, order_of(x), {},
                                      storage_kind::arena, type_of(x));
    ask_dense(y);
    const std::string result = last ? name_of_value(o.output) : o.name + "#axis" + std::to_string(a);
    copy_step(x, part(y, a, lead, length), o.name, result);
    const auto strip = [&](std::int64_t at, std::int64_t count, bool low) {
      if (count == 0) return;
      const view to = part(y, a, at, count);
      if (p.mode == pad_mode::constant) return fill_step(to, static_cast<float>(p.value), o.name, result);
      view from = part(x, a, 0, count);
      if (p.mode == pad_mode::reflect) {
        from = part(x, a, low ? lead : length - 2, count);
        from.stride[a] = -x.stride[a];
      } else if (p.mode == pad_mode::edge) {
        from = part(x, a, low ? 0 : length - 1, count);
        from.stride[a] = 0;
      } else {
        from = part(x, a, low ? length - lead : 0, count);
      }
      copy_step(from, to, o.name, result);
    };
    strip(0, lead, true);
    strip(lead + length, tail, false);
    x = y;
  }
  bind(o.output, x);
}

}
