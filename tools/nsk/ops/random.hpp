// SPDX-License-Identifier: MIT
#pragma once
/// Random numbers.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::random> : streamed<op::random, streamed_elements / 4>, moves_elements {
  using parameters = random_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& r) {
    // numbers belong to elements in the source's order, so its axes are kept as they are
    const std::size_t rank = l.source.shape(o.output).size();
    require_rank(o, rank);
    const axis_order order = identity_order(rank);
    const view y = l.allocate(o.output, order, true);
    l.ask_dense(y);
    plan_step& s = l.step<op::random>(o, {}, l.tensor(y, order, l.name_of_value(o.output), false));
    s.p.as<op::random>() = {r.kind, static_cast<float>(r.scale), static_cast<float>(r.offset), r.stream};
    l.bind(o.output, y);
  }
};

}
