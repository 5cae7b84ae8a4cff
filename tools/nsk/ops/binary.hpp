// SPDX-License-Identifier: MIT
#pragma once
/// Elementwise functions of two numbers.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::binary> : streamed<op::binary, streamed_elements> {
  using parameters = binary_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) {
    elementwise_step<op::binary>(l, o) = p;
    set_epilogue(l, l.result.steps.back(), o.post);
  }
  static std::string work_kind(const step_view&, const binary_params& p, const tile_space&) {
    const bool costly = p.kind == binary_kind::pow || p.kind >= binary_kind::atan2;
    return costly ? work_kinds::function : work_kinds::elementwise;
  }
};

}
