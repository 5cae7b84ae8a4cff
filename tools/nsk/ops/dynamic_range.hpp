// SPDX-License-Identifier: MIT
#pragma once
/// The scale and the zero point by which bytes store a tensor.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::dynamic_range> : kind_is<work_kinds::reduce> {
  using parameters = dynamic_range_params;

  static void lower(lowerer& l, const operation& o, const parameters&) {
    const view x = l.place_of(o.inputs[0]);
    require_rank(o, x.rank());
    const view y = l.allocate(o.output, identity_order(1), true);
    const int input = l.tensor(x, order_of(x), l.name_of_value(o.inputs[0]), false);
    l.step<op::dynamic_range>(o, {input}, l.tensor(y, {0}, l.name_of_value(o.output)));
    l.bind(o.output, y);
  }
  static tile_size tiles(const tile_request&, const dynamic_range_params&) { return {}; }
};

}
