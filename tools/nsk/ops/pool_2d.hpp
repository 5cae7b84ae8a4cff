// SPDX-License-Identifier: MIT
#pragma once
/// Maximum and average over windows.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::pool_2d> : kind_is<work_kinds::pool> {
  using parameters = pool_2d_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) {
    const auto [x, y, axes] = place_images(l, o);
    const int input = l.tensor(x, axes, l.name_of_value(o.inputs[0]));
    l.step<op::pool_2d>(o, {input}, l.tensor(y, axes, l.name_of_value(o.output))).p.as<op::pool_2d>() = p;
    l.bind(o.output, y);
  }
  static tile_size tiles(const tile_request& r, const pool_2d_params& p) {
    return stream_tile_size(r.space(),
                            std::max<std::int64_t>(8 * streamed_elements / (p.w.kernel_h * p.w.kernel_w), 1024), {});
  }
};

}
