// SPDX-License-Identifier: MIT
#pragma once
/// Decision trees.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::tree_ensemble> : moves_elements {
  using parameters = tree_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& t) {
    const view x = l.place_of(o.inputs[0]), y = l.allocate(o.output, identity_order(2), true);
    l.ask_dense(y);
    const int input = l.tensor(x, {0, 1}, l.name_of_value(o.inputs[0]), false),
              output = l.tensor(y, {0, 1}, l.name_of_value(o.output), false);
    const std::vector<int> inputs = {input,
                                     l.constant_ints(o.name + "#roots", t.roots),
                                     l.constant_ints(o.name + "#nodes", t.nodes),
                                     l.constant_floats(o.name + "#thresholds", t.thresholds),
                                     l.constant_ints(o.name + "#targets", t.targets),
                                     l.constant_floats(o.name + "#weights", t.weights),
                                     l.constant_floats(o.name + "#base", t.base)};
    l.step<op::tree_ensemble>(o, inputs, output).p.as<op::tree_ensemble>() = {t.aggregate};
    l.bind(o.output, y);
  }
  static tile_size tiles(const tile_request& r, const tree_ensemble_params&) {
    return stream_tile_size(r.space(), std::max<std::int64_t>(streamed_elements / r.input(1).count(), 1),
                            {false, false, true});
  }
};

}
