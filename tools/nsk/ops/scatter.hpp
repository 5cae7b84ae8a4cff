// SPDX-License-Identifier: MIT
#pragma once
/// Data with updates at positions that indices name.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::scatter> : moves_elements {
  using parameters = scatter_params;

  /// Inputs that have length 1 where the result is longer are repeated, but for indices and updates along the axis.
  static void lower(lowerer& l, const operation& o, const parameters& p) {
    shape_t wide = l.source.shape(o.output);
    const view x = broadcast(l.place_of(o.inputs[0]), wide), updates = l.place_of(o.inputs[2]);
    const view y = l.allocate(o.output, order_of(x));
    const auto along = static_cast<std::size_t>(p.axis);
    wide[along] = updates.shape[along];
    std::vector<int> t;
    const int axis = l.joint_tensors({y, x, broadcast(l.place_of(o.inputs[1]), wide), broadcast(updates, wide)},
                                     {l.name_of_value(o.output), l.name_of_value(o.inputs[0]),
                                      l.name_of_value(o.inputs[1]), l.name_of_value(o.inputs[2])},
                                     t, p.axis);
    for (const std::size_t i : {2, 3})
      l.result.tensor(t[i]).shape[static_cast<std::size_t>(axis)] = static_cast<std::int32_t>(wide[along]);
    l.step<op::scatter>(o, {t[1], t[2], t[3]}, t[0]).p.as<op::scatter>() = {axis, p.kind};
    l.bind(o.output, y);
  }
  /// Rows that have one index each are moved as runs, which tiles would cut.
  static tile_size tiles(const tile_request& r, const scatter_params& p) {
    const bool rows = r.input(1).strides.back() == 0 && r.input(1).type != dtype::boolean;
    return stream_tile_size(r.space(), (rows ? 8 : 2) * streamed_elements, op_traits<op::scatter>::whole(p, r.rank()));
  }
};

}
