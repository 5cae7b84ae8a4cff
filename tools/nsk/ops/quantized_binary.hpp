// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of two tensors that bytes store.
#include "ops/impl/lower_parts.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::quantized_binary> : streamed<op::quantized_binary, streamed_elements>,
                                        kind_is<work_kinds::elementwise> {
  using parameters = quantized_binary_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) {
    elementwise_step<op::quantized_binary>(l, o) = p;
  }
};

}
