// SPDX-License-Identifier: MIT
#pragma once
/// Softmax and its logarithm.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::softmax> : streamed<op::softmax, streamed_elements / 2>, kind_is<work_kinds::softmax> {
  using parameters = softmax_params;

  static void lower(lowerer& l, const operation& o, const parameters& s) {
    const view x = l.place_of(o.inputs[0]);
    const view y = l.allocate(o.output, order_of(x));
    std::vector<int> t;
    const int axis = l.joint_tensors({y, x}, {l.name_of_value(o.output), l.name_of_value(o.inputs[0])}, t, s.axis);
    l.step<op::softmax>(o, {t[1]}, t[0]).p.as<op::softmax>() = {axis, s.log};
    l.bind(o.output, y);
  }
};

}
