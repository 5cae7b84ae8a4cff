// SPDX-License-Identifier: MIT
#pragma once
/// Positions of largest and smallest elements.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::arg_reduce> : moves_elements {
  using parameters = arg_reduce_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) {
    const tensors_along t = place_along(l, o, p.axis);
    l.step<op::arg_reduce>(o, {t.input}, t.output).p.as<op::arg_reduce>() = {t.axis, p.kind, p.last};
  }
  static tile_size tiles(const tile_request& r, const arg_reduce_params& p) {
    const std::int64_t length = r.input(0).shape[static_cast<std::size_t>(p.axis)];
    return stream_tile_size(r.space(), std::max<std::int64_t>(streamed_elements / length, 64), {});
  }
};

}
