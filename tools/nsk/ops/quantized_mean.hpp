// SPDX-License-Identifier: MIT
#pragma once
/// The mean of all pixels of an image that bytes store.
#include <algorithm>
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::quantized_mean> : kind_is<work_kinds::reduce> {
  using parameters = quantized_mean_params;

  static void lower(lowerer& l, const operation& o, const parameters& p) {
    const auto [x, y, axes] = place_images(l, o);
    const int input = l.tensor(x, axes, l.name_of_value(o.inputs[0])),
              output = l.tensor(y, axes, l.name_of_value(o.output));
    l.step<op::quantized_mean>(o, {input}, output).p.as<op::quantized_mean>() = p;
    l.bind(o.output, y);
  }
  static tile_size tiles(const tile_request& r, const quantized_mean_params&) {
    const std::int64_t pixels = r.input(0).count() / std::max<std::int64_t>(r.output().count(), 1);
    return stream_tile_size(r.space(), std::max<std::int64_t>(4 * streamed_elements / pixels, 64), {});
  }
};

}
