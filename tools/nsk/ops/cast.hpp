// SPDX-License-Identifier: MIT
#pragma once
/// Conversions between element types.
#include "ops/impl/lower_parts.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::cast> : streamed<op::cast, streamed_elements>, moves_elements {
  using parameters = cast_params;

  static void lower(lowerer& l, const operation& o, const parameters&) { elementwise_step<op::cast>(l, o); }
};

}
