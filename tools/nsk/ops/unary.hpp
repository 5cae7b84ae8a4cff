// SPDX-License-Identifier: MIT
#pragma once
/// Elementwise functions.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::unary> : streamed<op::unary, streamed_elements> {
  using parameters = unary_params;

  static void lower(lowerer& l, const operation& o, const parameters&) {
    const view x = l.place_of(o.inputs[0]);
    const axis_order inherited = order_of(x);
    const view y = l.allocate(o.output, inherited);
    if (l.decided(o.output).order && *l.decided(o.output).order != inherited)
      l.ask_innermost(x, static_cast<std::size_t>(l.decided(o.output).order->back()));
    std::vector<int> t;
    l.joint_tensors({y, x}, {l.name_of_value(o.output), l.name_of_value(o.inputs[0])}, t);
    plan_step& s = l.step<op::unary>(o, {t[1]}, t[0]);
    set_epilogue(l, s, o.post);
    l.bind(o.output, y);
  }
  static std::string work_kind(const step_view& s, const unary_params&, const tile_space&) {
    return is_costly(s.epilogue().fn) ? work_kinds::function : work_kinds::elementwise;
  }
};

}
