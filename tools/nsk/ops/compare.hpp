// SPDX-License-Identifier: MIT
#pragma once
/// Comparisons.
#include "ops/impl/lower_parts.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::compare> : streamed<op::compare, streamed_elements>, moves_elements {
  using parameters = compare_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) { elementwise_step<op::compare>(l, o) = p; }
};

}
