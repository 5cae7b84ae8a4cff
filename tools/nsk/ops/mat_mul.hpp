// SPDX-License-Identifier: MIT
#pragma once
/// Products of two computed matrices: the right one is packed first.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::mat_mul> : product_work {
  using parameters = mat_mul_params;

  static void lower(lowerer& l, const operation& o, const parameters&) {
    const shape_t& out = l.source.shape(o.output);
    const std::size_t rank = out.size();
    const std::int64_t rows = out[rank - 2], columns = out[rank - 1], depth = l.source.shape(o.inputs[0])[rank - 1];
    const shape_t batch(out.begin(), out.end() - 2);
    const std::int64_t matrices = count_of(batch);
    /// [batch..., a, b] of a view as [matrices, a, b], copied where its batch axes do not merge.
    const auto flattened = [&](const view& v, std::int64_t matrix_count, std::int64_t a, std::int64_t b,
                               const char* which) {
      shape_t full = matrix_count == 1 ? shape_t(rank - 2, 1) : batch;
      full.insert(full.end(), {a, b});
      const view wide = broadcast(v, full);
      const shape_t flat = {matrix_count, a, b};
      if (const auto r = reshaped(wide, flat)) return *r;
      return *reshaped(l.copied(wide, identity_order(rank), o, which, "needs its batch axes as one"), flat);
    };
    const view b = l.place_of(o.inputs[1]);
    const bool shared = count_of({b.shape.begin(), b.shape.end() - 2}) == 1;
    const view left = flattened(l.with_innermost(l.place_of(o.inputs[0]), rank - 1, o), matrices, rows, depth, "left");
    const view right = flattened(b, shared ? 1 : matrices, depth, columns, "right");
    const view panels = l.new_storage(-1, o.name + "#panels", {shared ? 1 : matrices, panel_floats(columns, depth)},
                                      identity_order(2), {}, storage_kind::arena);
    const int panel_tensor = l.tensor(panels, {0, 1}, o.name + "#panels", false),
              right_tensor = l.tensor(right, {0, 1, 2}, l.name_of_value(o.inputs[1]), false);
    l.step<op::pack_panels>(o, {right_tensor}, panel_tensor);

    const view y = l.allocate(o.output, l.decided(o.output).order.value_or(identity_order(rank)), true);
    if (l.roots[y.storage].owner == o.output) l.roots[y.storage].rows = true;
    const auto direct = reshaped(y, {matrices, rows, columns});
    const view target = direct && (columns == 1 || direct->stride[2] == 1)
                            ? *direct
                            : l.new_storage(-1, o.name + "#product", {matrices, rows, columns}, identity_order(3), {},
                                            storage_kind::arena);
    const std::vector<int> inputs = {l.tensor(left, {0, 1, 2}, l.name_of_value(o.inputs[0]), false), panel_tensor};
    int residual = -1;
    if (o.post.residual != no_value) {
      const view r = flattened(broadcast(l.place_of(o.post.residual), out), matrices, rows, columns, "residual");
      residual = l.tensor(r, {0, 1, 2}, l.name_of_value(o.post.residual), false);
    }
    plan_step& s = l.step<op::mat_mul>(o, inputs, l.tensor(target, {0, 1, 2}, l.name_of_value(o.output), false));
    s.p.as<op::mat_mul>() = {shared};
    s.macs = count_of(out) * depth;
    set_epilogue(l, s, o.post, residual);
    if (target.storage != y.storage) l.copy_step(*reshaped(target, out), y, o.name, l.name_of_value(o.output));
    l.bind(o.output, y);
  }
  static tile_size tiles(const tile_request& r, const mat_mul_params&) {
    return gemm_tile_size(r, r.input(1), r.input(0).shape.back());
  }
};

}
