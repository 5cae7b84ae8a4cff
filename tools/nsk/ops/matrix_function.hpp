// SPDX-License-Identifier: MIT
#pragma once
/// Determinants and inverses of matrices, [B, n, n].
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::matrix_function> : streamed<op::matrix_function, streamed_elements / 8>,
                                       kind_is<work_kinds::function> {
  using parameters = matrix_function_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) {
    const view x = l.place_of(o.inputs[0]), y = l.allocate(o.output, identity_order(3));
    const int input = l.tensor(x, {0, 1, 2}, l.name_of_value(o.inputs[0])),
              output = l.tensor(y, {0, 1, 2}, l.name_of_value(o.output));
    plan_step& s = l.step<op::matrix_function>(o, {input}, output);
    s.p.as<op::matrix_function>() = p;
    s.macs = count_of(x.shape) * x.shape.back() / (p.kind == matrix_kind::determinant ? 3 : 1);
    l.bind(o.output, y);
  }
};

}
