// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolutions, which conv_2d lowers.
#include "pack/panels.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::depthwise_conv_2d> : kind_is<work_kinds::depthwise> {
  using parameters = made_by_lowering;
  /// Register tiles have two rows: an even number of rows, or all of a small image of odd height, cut by channels.
  static tile_size tiles(const tile_request& r, const depthwise_conv_2d_params& p) {
    const std::int64_t taps = std::int64_t{p.w.kernel_h} * p.w.kernel_w, height = r.output().shape[1];
    const std::int64_t elements = std::clamp(r.step.macs / wanted_tiles, min_tile_macs / 2, r.limit() / 2) / taps;
    const tile_space s = r.space();
    if (height % 2 == 0) return stream_tile_size(s, elements, {}, 2);
    const tile_size t = stream_tile_size(s, elements, {});
    return t.rows == 1 && s.rows == height ? image_tile_size(s, elements) : t;
  }

  /// Weights as the kernel reads them.
  static std::vector<float> pack(const conv_parameters& c) {
    const std::int64_t taps = c.w.kernel_h * c.w.kernel_w;
    std::vector<float> packed;
    pack_panels(
        packed, c.outputs, taps, [&](std::int64_t k, std::int64_t n) { return c.weights.data()[n * taps + k]; },
        [&](std::int64_t n) { return c.bias.data()[n]; });
    return packed;
  }
};

}
