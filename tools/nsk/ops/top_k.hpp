// SPDX-License-Identifier: MIT
#pragma once
/// Positions of the k largest or smallest elements.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::top_k> : streamed<op::top_k, 1024>, moves_elements {
  using parameters = top_k_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) {
    const tensors_along t = place_along(l, o, p.axis);
    l.step<op::top_k>(o, {t.input}, t.output).p.as<op::top_k>() = {t.axis, p.smallest};
  }
};

}
