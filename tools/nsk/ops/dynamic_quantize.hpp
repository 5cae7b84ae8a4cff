// SPDX-License-Identifier: MIT
#pragma once
/// Real numbers stored as bytes by a scale that is computed.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::dynamic_quantize> : streamed<op::dynamic_quantize, streamed_elements>,
                                        kind_is<work_kinds::elementwise> {
  using parameters = dynamic_quantize_params;

  static void lower(lowerer& l, const operation& o, const parameters&) {
    const view x = l.place_of(o.inputs[0]);
    const view y = l.allocate(o.output, order_of(x));
    std::vector<int> t;
    l.joint_tensors({y, x}, {l.name_of_value(o.output), l.name_of_value(o.inputs[0])}, t);
    const int scale = one_number(l, o.inputs[1]), zero = one_number(l, o.inputs[2]);
    l.step<op::dynamic_quantize>(o, {t[1], scale, zero}, t[0]);
    l.bind(o.output, y);
  }
};

}
