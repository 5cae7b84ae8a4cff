// SPDX-License-Identifier: MIT
#pragma once
/// Selection of boxes.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::non_max_suppression> : moves_elements {
  using parameters = non_max_suppression_params;

  static void lower(lowerer& l, const operation& o, const parameters& n) {
    const std::vector<int> axes = {0, 1, 2};
    const view y = l.allocate(o.output, identity_order(2));
    l.ask_dense(y);
    const int boxes = l.tensor(l.place_of(o.inputs[0]), axes, l.name_of_value(o.inputs[0]), false),
              scores = l.tensor(l.place_of(o.inputs[1]), axes, l.name_of_value(o.inputs[1]), false);
    const int rows = l.tensor(y, {0, 1}, l.name_of_value(o.output), false);
    l.step<op::non_max_suppression>(o, {boxes, scores}, rows).p.as<op::non_max_suppression>() = n;
    l.bind(o.output, y);
  }
  static tile_size tiles(const tile_request&, const non_max_suppression_params&) { return {}; }
};

}
