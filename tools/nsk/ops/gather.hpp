// SPDX-License-Identifier: MIT
#pragma once
/// Slices and elements at positions that indices name.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::gather> : streamed<op::gather, streamed_elements>, moves_elements {
  using parameters = gather_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& g) {
    const gathered_tensors t = place_gathered(l, o, g);
    if (g.elements)
      l.step<op::gather_elements>(o, {t.data, t.indices}, t.output).p.as<op::gather_elements>() = {{t.axis}};
    else
      l.step<op::gather>(o, {t.data, t.indices}, t.output).p.as<op::gather>() = {t.axis};
  }
};

}
