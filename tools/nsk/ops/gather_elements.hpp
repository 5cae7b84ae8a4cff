// SPDX-License-Identifier: MIT
#pragma once
/// Single elements, which gather lowers.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::gather_elements> : streamed<op::gather_elements, streamed_elements>, moves_elements {
  using parameters = made_by_lowering;
};

}
