// SPDX-License-Identifier: MIT
#pragma once
/// Fills, which padding and concatenations of constants make necessary.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::fill> : streamed<op::fill, streamed_elements>, moves_elements {
  using parameters = made_by_lowering;
};

}
