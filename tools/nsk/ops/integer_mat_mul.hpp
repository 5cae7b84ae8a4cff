// SPDX-License-Identifier: MIT
#pragma once
/// Products of matrices of integers, [B, M, K] times [B, K, N].
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::integer_mat_mul> : streamed<op::integer_mat_mul, streamed_elements / 8>, product_work {
  using parameters = integer_mat_mul_params;

  static void lower(lowerer& l, const operation& o, const parameters&) {
    const shape_t& out = l.source.shape(o.output);
    const std::int64_t depth = l.source.shape(o.inputs[0]).back();
    const view a = broadcast(l.place_of(o.inputs[0]), {out[0], out[1], depth}),
               b = broadcast(l.place_of(o.inputs[1]), {out[0], depth, out[2]}),
               y = l.allocate(o.output, identity_order(3));
    std::vector<int> inputs = {l.tensor(a, {0, 1, 2}, l.name_of_value(o.inputs[0])),
                               l.tensor(b, {0, 1, 2}, l.name_of_value(o.inputs[1]))};
    plan_step& s = l.step<op::integer_mat_mul>(o, std::move(inputs), l.tensor(y, {0, 1, 2}, l.name_of_value(o.output)));
    s.macs = count_of(out) * depth;
    l.bind(o.output, y);
  }
};

}
