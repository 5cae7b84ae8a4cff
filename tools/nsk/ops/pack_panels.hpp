// SPDX-License-Identifier: MIT
#pragma once
/// The right side of a matrix product in panels, which mat_mul lowers.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::pack_panels> : moves_elements {
  using parameters = made_by_lowering;
  static tile_size tiles(const tile_request&, const pack_panels_params&) { return {0, 1, 0}; }
};

}
