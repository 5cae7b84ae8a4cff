// SPDX-License-Identifier: MIT
#pragma once
/// Real numbers stored as bytes.
#include "ops/impl/lower_parts.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::quantize> : streamed<op::quantize, streamed_elements>, kind_is<work_kinds::elementwise> {
  using parameters = quantize_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) { elementwise_step<op::quantize>(l, o) = p; }
};

}
