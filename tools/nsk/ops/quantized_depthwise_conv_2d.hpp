// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolutions of stored integers, which quantized_conv_2d lowers.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::quantized_depthwise_conv_2d> : kind_is<work_kinds::depthwise> {
  using parameters = made_by_lowering;
  static tile_size tiles(const tile_request& r, const quantized_depthwise_conv_2d_params& p) {
    const std::int64_t taps = std::int64_t{p.w.kernel_h} * p.w.kernel_w;
    return stream_tile_size(r.space(), std::clamp(r.step.macs / wanted_tiles, min_tile_macs / 2, r.limit() / 2) / taps,
                            {});
  }
};

}
