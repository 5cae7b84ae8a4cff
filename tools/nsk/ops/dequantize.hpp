// SPDX-License-Identifier: MIT
#pragma once
/// Real numbers that bytes store.
#include "ops/impl/lower_parts.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::dequantize> : streamed<op::dequantize, streamed_elements>, kind_is<work_kinds::elementwise> {
  using parameters = dequantize_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) { elementwise_step<op::dequantize>(l, o) = p; }
};

}
