// SPDX-License-Identifier: MIT
#pragma once
/// Convolutions of stored integers, of all channels of a group or channel by channel.
#include "ops/quantized_depthwise_conv_2d.hpp"
#include "pack/quads.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::quantized_conv_2d> : byte_convolution {
  using parameters = quantized_conv_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& c) {
    const auto [x, y, axes] = place_images(l, o);
    const int input = l.tensor(x, axes, l.name_of_value(o.inputs[0]));
    const std::int64_t depth = x.shape[1] / c.groups;
    const bool depthwise = c.groups > 1 && depth == 1 && c.outputs == c.groups;
    const bool whole_rows = c.groups == 1 && c.w.dilation_w == 1 && l.result.tensor(input).strides[2] == x.shape[1];
    quad_layer layer = quad_layer::of(c, depth, whole_rows);
    layer.bias = c.bias.data();
    layer.scale = c.scale.data();
    bool safe = !depthwise && are_safe(layer);
    const std::vector<std::uint8_t> packed = depthwise ? pack_depthwise_quads(layer, safe) : pack_quads(layer);
    const int weights = constant_bytes(l, o.name + "#weights", dtype::int8, safe ? packing::safe_quads : packing::quads,
                                       packed),
              output = l.tensor(y, axes, l.name_of_value(o.output)),
              residual = c.residual_scale != 0 ? residual_of(l, o, axes) : -1;
    plan_step& s = depthwise ? l.step<op::quantized_depthwise_conv_2d>(o, {input, weights}, output)
                             : l.step<op::quantized_conv_2d>(o, {input, weights}, output);
    const stored_range& to = c.range;
    if (depthwise)
      s.p.as<op::quantized_depthwise_conv_2d>() = {c.w, c.input_zero, to.zero, to.low, to.high, c.weight_offset};
    else
      s.p.as<op::quantized_conv_2d>() = {c.w,    c.groups, whole_rows,       c.input_zero,    to.zero,
                                         to.low, to.high,  c.residual_scale, c.residual_zero, c.weight_offset};
    if (residual >= 0) l.result.steps.back().inputs.push_back(residual);
    s.macs = count_of(y.shape) * c.w.kernel_h * c.w.kernel_w * depth;
    l.bind(o.output, y);
  }

 private:
  static int residual_of(lowerer& l, const operation& o, const std::vector<int>& axes) {
    return l.tensor(l.with_innermost(l.place_of(o.inputs[1]), 1, o), axes, l.name_of_value(o.inputs[1]));
  }
};

}
