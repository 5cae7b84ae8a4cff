// SPDX-License-Identifier: MIT
#pragma once
/// Pixels of images at fractional positions: image [N, H, W, G, C], positions [N, P, Q, G].
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::sample_image> : streamed<op::sample_image, 4 * streamed_elements>, kind_is<work_kinds::resize> {
  using parameters = sample_image_params;

  static void lower(lowerer& l, const operation& o, const parameters&) {
    const shape_t& out = l.source.shape(o.output);
    const shape_t places(out.begin(), out.end() - 1);
    const view x = l.with_innermost(l.place_of(o.inputs[0]), 4, o), y = l.allocate(o.output, identity_order(5), true);
    std::vector<int> inputs = {l.tensor(x, {0, 1, 2, 3, 4}, l.name_of_value(o.inputs[0]), false)};
    for (std::size_t i = 1; i < o.inputs.size(); ++i)
      inputs.push_back(
          l.tensor(broadcast(l.place_of(o.inputs[i]), places), {0, 1, 2, 3}, l.name_of_value(o.inputs[i]), false));
    l.step<op::sample_image>(o, std::move(inputs), l.tensor(y, {0, 1, 2, 3, 4}, l.name_of_value(o.output)));
    l.bind(o.output, y);
  }
};

}
