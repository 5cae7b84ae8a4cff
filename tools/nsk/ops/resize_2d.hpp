// SPDX-License-Identifier: MIT
#pragma once
/// Resampling of rows and columns.
#include "errors.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

/// Rows of a tile share the rows of input that are resampled across.
template <>
struct op_rules<op::resize_2d> : streamed<op::resize_2d, 8 * streamed_elements>, kind_is<work_kinds::resize> {
  using parameters = resize_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& r) {
    if (l.source.shape(o.inputs[0]).size() < 3) refuse(o.source + ": resizing needs [N, C, W] or [N, C, H, W]");
    const placed_images at = place_images(l, o);
    const auto table = [&](int axis) {
      for (const resize_axis& a : r.axes)
        if (a.axis == axis) return a;
      resize_axis same;
      const std::int64_t length = axis < 0 ? 1 : at.input.shape[static_cast<std::size_t>(axis)];
      for (std::int64_t i = 0; i < length; ++i) same.index.push_back(static_cast<std::int32_t>(i));
      same.weight.assign(static_cast<std::size_t>(length), 1.0f);
      return same;
    };
    const resize_axis rows = table(at.axes[1]), columns = table(at.axes[2]);
    const std::vector<int> inputs = {
        l.tensor(at.input, at.axes, l.name_of_value(o.inputs[0])), l.constant_ints(o.name + "#rows", rows.index),
        l.constant_floats(o.name + "#row_weights", rows.weight), l.constant_ints(o.name + "#columns", columns.index),
        l.constant_floats(o.name + "#column_weights", columns.weight)};
    plan_step& s = l.step<op::resize_2d>(o, inputs, l.tensor(at.output, at.axes, l.name_of_value(o.output)));
    s.p.as<op::resize_2d>() = {rows.taps, columns.taps};
    l.bind(o.output, at.output);
  }
};

}
