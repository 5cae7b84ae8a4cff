// SPDX-License-Identifier: MIT
#pragma once
/// Where: elements of one value or another.
#include "ops/impl/lower_parts.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::select> : streamed<op::select, streamed_elements>, moves_elements {
  using parameters = select_params;

  static void lower(lowerer& l, const operation& o, const parameters&) { elementwise_step<op::select>(l, o); }
};

}
