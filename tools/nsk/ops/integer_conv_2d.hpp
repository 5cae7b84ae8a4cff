// SPDX-License-Identifier: MIT
#pragma once
/// Convolutions and products of stored integers whose zero point is computed.
#include "errors.hpp"
#include "pack/quads.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::integer_conv_2d> : byte_convolution {
  using parameters = integer_conv_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& c) {
    const places at = c.dense ? rows_of_lines(l, o) : images(l, o);
    const int depth = l.result.tensor(at.input).shape.back() / c.groups;
    const bool whole_rows =
        c.groups == 1 && c.w.dilation_w == 1 && l.result.tensor(at.input).strides[2] == std::int64_t{depth};
    const std::vector<float> scale = c.real ? c.scale : std::vector<float>(c.sums.size(), 1.0f);
    quad_layer layer = quad_layer::of(c, depth, whole_rows);
    layer.bias = c.sums.data();
    layer.scale = scale.data();
    const int weights = constant_bytes(l, o.name + "#weights", dtype::int8,
                                       are_safe(layer) ? packing::safe_quads : packing::quads, pack_quads(layer));
    std::vector<int> inputs = {at.input, weights, one_number(l, o.inputs[1])};
    if (c.real) {
      inputs.push_back(one_number(l, o.inputs[2]));
      inputs.push_back(l.constant_floats(o.name + "#bias", c.bias));
    }
    plan_step& s = l.step<op::integer_conv_2d>(o, std::move(inputs), at.output);
    s.p.as<op::integer_conv_2d>() = {c.w, c.groups, whole_rows, c.real};
    s.macs = count_of(l.source.shape(o.output)) * c.w.kernel_h * c.w.kernel_w * depth;
    set_epilogue(l, s, o.post, at.residual);
  }

 private:
  struct places {
    int input, output, residual = -1;
  };

  static places images(lowerer& l, const operation& o) {
    const auto [x, y, axes] = place_images(l, o);
    places p{l.tensor(x, axes, l.name_of_value(o.inputs[0])), l.tensor(y, axes, l.name_of_value(o.output))};
    if (o.post.residual != no_value)
      p.residual =
          l.tensor(l.with_innermost(l.place_of(o.post.residual), 1, o), axes, l.name_of_value(o.post.residual));
    l.bind(o.output, y);
    return p;
  }

  /// Lines along the last axis are images of one pixel; the axes before it become at most three.
  static places rows_of_lines(lowerer& l, const operation& o) {
    const std::size_t last = l.source.shape(o.inputs[0]).size() - 1;
    const view y = l.allocate(o.output, identity_order(last + 1), true);
    std::vector<view> views = {y, l.with_innermost(l.place_of(o.inputs[0]), last, o)};
    std::vector<std::string> names = {l.name_of_value(o.output), l.name_of_value(o.inputs[0])};
    if (o.post.residual != no_value) {
      views.push_back(l.with_innermost(l.place_of(o.post.residual), last, o));
      names.push_back(l.name_of_value(o.post.residual));
    }
    std::vector<view> lines = views;
    for (view& v : lines) v.shape.pop_back(), v.stride.pop_back();
    std::vector<int> t;
    l.joint_tensors(lines, names, t);
    if (l.result.tensor(t[0]).shape.size() > 3)
      refuse(o.source + ": its rows are more than three dimensions apart. Reshape its input to two dimensions");
    for (std::size_t i = 0; i < t.size(); ++i) {
      plan_tensor& tensor = l.result.tensor(t[i]);
      const auto length = static_cast<std::int32_t>(views[i].shape[last]);
      while (tensor.shape.size() < 3) {
        tensor.shape.push_back(1);
        tensor.strides.push_back(length);
      }
      tensor.shape.push_back(length);
      tensor.strides.push_back(1);
    }
    l.bind(o.output, y);
    return {t[1], t[0], t.size() > 2 ? t[2] : -1};
  }
};

}
