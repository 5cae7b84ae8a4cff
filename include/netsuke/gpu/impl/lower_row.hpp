// SPDX-License-Identifier: MIT
#pragma once
/// Operators that compute each element from its row: decision trees, local response normalization.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/lowering.hpp>

NSK_BEGIN
namespace gpu::impl {

template <>
struct lowering<op::local_response_normalization> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    constexpr int slots = 3;
    const local_response_normalization_params p = s.params<op::local_response_normalization>();
    const length_values lengths = to.lengths();
    if (is_constant(s.input(0))) return "its input is a constant";
    const tensor_view x = s.input(0).view(nullptr, lengths), y = s.output().view(nullptr, lengths);
    tensor_view before = y;
    before.shape[y.rank - 1] = 1;
    const tensor_view* both[2] = {&x, &y};
    const joined_dimensions<2> dims(before, both);
    if (dims.count > slots) return "it has more than three dimensions before its last after joining";
    neighbour_constants c;
    c.channels = word(y.length(0));
    c.count = dims.length_in(slots, 0) * dims.length_in(slots, 1) * dims.length_in(slots, 2) * c.channels;
    c.l1 = dims.length_in(slots, 1), c.l2 = dims.length_in(slots, 2);
    c.x = word_of(s.input(0), to);
    c.x0 = dims.stride_in(slots, 0, 0), c.x1 = dims.stride_in(slots, 1, 0), c.x2 = dims.stride_in(slots, 2, 0);
    c.y = word_of(s.output(), to);
    c.y0 = dims.stride_in(slots, 0, 1), c.y1 = dims.stride_in(slots, 1, 1), c.y2 = dims.stride_in(slots, 2, 1);
    c.size = word(p.size);
    c.alpha = p.alpha / static_cast<float>(p.size);
    c.beta = p.beta;
    c.bias = p.bias;
    draft d;
    d.key.kernel = kernel::local_response_normalization;
    d.set_constants(c);
    d.spread(c.count);
    return to.add(d);
  }
};

template <>
struct lowering<op::tree_ensemble> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const length_values lengths = to.lengths();
    if (is_constant(s.input(0))) return "its input is a constant";
    const tensor_view x = s.input(0).view(nullptr, lengths), y = s.output().view(nullptr, lengths);
    tree_ensemble_constants c;
    c.targets = word(y.length(0));
    c.count = word(std::int64_t{y.length(1)} * y.length(0));
    c.trees = word(s.input(1).elements());
    c.x = word_of(s.input(0), to), c.x_row = number(x.stride_of(1)), c.x_feature = number(x.stride_of(0));
    c.y = word_of(s.output(), to), c.y_row = number(y.stride_of(1)), c.y_target = number(y.stride_of(0));
    c.roots = word_of(s.input(1), to);
    c.nodes = word_of(s.input(2), to);
    c.thresholds = word_of(s.input(3), to);
    c.entry_target = word_of(s.input(4), to);
    c.entry_weight = word_of(s.input(5), to);
    c.base = word_of(s.input(6), to);
    draft d;
    d.key.kernel = kernel::tree_ensemble;
    d.mode() = static_cast<std::uint8_t>(s.params<op::tree_ensemble>().aggregate);
    d.set_constants(c);
    d.spread(c.count);
    return to.add(d);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
