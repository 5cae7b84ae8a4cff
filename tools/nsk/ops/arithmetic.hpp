// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of integers and booleans.
#include "ops/impl/lower_parts.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::arithmetic> : streamed<op::arithmetic, streamed_elements>, moves_elements {
  using parameters = arithmetic_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) { elementwise_step<op::arithmetic>(l, o) = p; }
};

}
