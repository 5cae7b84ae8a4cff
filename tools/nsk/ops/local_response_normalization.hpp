// SPDX-License-Identifier: MIT
#pragma once
/// Division by a power of the squares of neighbouring channels.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::local_response_normalization> : streamed<op::local_response_normalization, streamed_elements / 2>,
                                                    moves_elements {
  using parameters = local_response_normalization_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) {
    const view x = l.with_innermost(l.place_of(o.inputs[0]), 1, o);
    const axis_order order = channels_last_order(x.rank());
    std::vector<int> axes(order.begin(), order.end());
    if (x.rank() == 2) axes = {0, 1};
    require_rank(o, x.rank());
    const view y = l.allocate(o.output, order, true);
    const int input = l.tensor(x, axes, l.name_of_value(o.inputs[0]), false);
    plan_step& s = l.step<op::local_response_normalization>(o, {input}, l.tensor(y, axes, l.name_of_value(o.output)));
    s.p.as<op::local_response_normalization>() = p;
    l.bind(o.output, y);
  }
};

}
