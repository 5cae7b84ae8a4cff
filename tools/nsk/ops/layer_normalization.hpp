// SPDX-License-Identifier: MIT
#pragma once
/// Normalisation along the last axis.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::layer_normalization> : streamed<op::layer_normalization, streamed_elements / 2>, moves_elements {
  using parameters = layer_normalization_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& p) {
    const int last = static_cast<int>(l.source.shape(o.output).size()) - 1;
    const view x = l.place_of(o.inputs[0]);
    l.ask_innermost(x, static_cast<std::size_t>(last));
    const view y = l.allocate(o.output, order_of(x));
    std::vector<int> t;
    const int axis = l.joint_tensors({y, x}, {l.name_of_value(o.output), l.name_of_value(o.inputs[0])}, t, last);
    const int rank = static_cast<int>(l.result.tensor(t[0]).shape.size());
    if (axis + 1 != rank) {  // the engine normalises along the last dimension
      const auto move_last = [&](plan_tensor& t) {
        const auto at = static_cast<std::ptrdiff_t>(axis);
        const std::int32_t length = t.shape[static_cast<std::size_t>(axis)];
        const std::int64_t stride = t.strides[static_cast<std::size_t>(axis)];
        t.shape.erase(t.shape.begin() + at);
        t.strides.erase(t.strides.begin() + at);
        t.shape.push_back(length);
        t.strides.push_back(stride);
      };
      for (int i : t) move_last(l.result.tensor(i));
      l.ask_dense(y);
    }
    const int scale = l.constant_floats(o.name + "#scale", p.scale), bias = l.constant_floats(o.name + "#bias", p.bias);
    l.step<op::layer_normalization>(o, {t[1], scale, bias}, t[0]).p.as<op::layer_normalization>() = {p.epsilon,
                                                                                                     p.centre};
    l.bind(o.output, y);
  }
};

}
