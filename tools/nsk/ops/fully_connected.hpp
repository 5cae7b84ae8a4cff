// SPDX-License-Identifier: MIT
#pragma once
/// Dense layers.
#include "pack/panels.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::fully_connected> : product_work {
  using parameters = dense_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& d) {
    const std::size_t last = l.source.shape(o.inputs[0]).size() - 1;
    const view x = l.with_innermost(l.place_of(o.inputs[0]), last, o);
    const view y = l.allocate(o.output, identity_order(x.rank()), true);
    // leading axes merge jointly; the last one differs in length, so it is cut off and put back
    const auto leading = [&](const view& v) {
      view head = v;
      head.shape.pop_back();
      head.stride.pop_back();
      return head;
    };
    std::vector<view> views = {leading(y), leading(x)};
    std::vector<std::string> names = {l.name_of_value(o.output), l.name_of_value(o.inputs[0])};
    if (o.post.residual != no_value) {
      const view r = l.with_innermost(l.place_of(o.post.residual), last, o);
      views.push_back(leading(r));
      names.push_back(l.name_of_value(o.post.residual));
    }
    std::vector<int> tensors;
    l.joint_tensors(views, names, tensors);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      plan_tensor& t = l.result.tensor(tensors[i]);
      t.shape.push_back(i == 1 ? d.depth : d.outputs);
      t.strides.push_back(1);
    }
    const int weights =
        constant_panels(l, o, packed_once(l, o, [&] { return packed_panels(pack(d)); }), {{d.outputs, d.depth}}, true);
    plan_step& s = l.step<op::fully_connected>(o, {tensors[1], weights}, tensors[0]);
    s.macs = count_of(y.shape) * d.depth;
    set_epilogue(l, s, o.post, o.post.residual == no_value ? -1 : tensors[2]);
    l.bind(o.output, y);
  }
  static tile_size tiles(const tile_request& r, const fully_connected_params&) {
    return gemm_tile_size(r, r.input(1), r.input(0).shape.back());
  }

 private:
  static std::vector<float> pack(const dense_parameters& d) {
    std::vector<float> packed;
    pack_panels(
        packed, d.outputs, d.depth, [&](std::int64_t k, std::int64_t n) { return d.weights.data()[k * d.outputs + n]; },
        [&](std::int64_t n) { return d.bias.data()[n]; });
    return packed;
  }
};

}
