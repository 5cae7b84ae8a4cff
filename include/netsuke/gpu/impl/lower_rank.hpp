// SPDX-License-Identifier: MIT
#pragma once
/// Positions of the best elements along one dimension: arg-reduce and top-k. Up to three kept dimensions.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/lower_typed.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Longest line of which a thread may compare one element with all others: a dispatch that takes longer than some
/// milliseconds makes drivers reset a device.
inline constexpr std::int32_t max_ranked = 16384;

/// Sets the lines along `axis`.
inline refusal set_ranked_lines(rank_constants& c, const step_view& s, int axis, const dispatch_writer& to) {
  constexpr int slots = 3;
  const tensor_info xi = s.input(0), yi = s.output();
  const tensor_view x = xi.view(nullptr, to.lengths()), y = yi.view(nullptr, to.lengths());
  tensor_view kept = y;
  kept.shape[axis] = 1;
  const tensor_view* both[2] = {&x, &y};
  const joined_dimensions<2> k(kept, both);
  if (k.count > slots) return "it has more than three kept dimensions after joining";
  c.count = k.length_in(slots, 0) * k.length_in(slots, 1) * k.length_in(slots, 2);
  c.k1 = k.length_in(slots, 1), c.k2 = k.length_in(slots, 2);
  c.x = element_of(xi, to);
  c.x0 = k.stride_in(slots, 0, 0), c.x1 = k.stride_in(slots, 1, 0), c.x2 = k.stride_in(slots, 2, 0);
  c.y = element_of(yi, to);
  c.y0 = k.stride_in(slots, 0, 1), c.y1 = k.stride_in(slots, 1, 1), c.y2 = k.stride_in(slots, 2, 1);
  c.extent = word(x.shape[axis]);
  c.along = number(x.stride[axis]);
  c.kept = word(y.shape[axis]);
  c.apart = number(y.stride[axis]);
  c.flags = static_cast<std::uint32_t>(xi.type()) | (is_constant(xi) ? 16u : 0u);
  return nullptr;
}

template <>
struct lowering<op::arg_reduce> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const arg_reduce_params p = s.params<op::arg_reduce>();
    rank_constants c;
    if (const refusal why = set_ranked_lines(c, s, p.axis, to)) return why;
    draft d;
    d.key.kernel = kernel::arg_reduce;
    d.mode() = static_cast<std::uint8_t>(static_cast<int>(p.kind) + (p.last ? 2 : 0));
    d.set_constants(c);
    d.spread(c.count);
    return to.add(d);
  }
};
template <>
struct lowering<op::top_k> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const top_k_params p = s.params<op::top_k>();
    if (s.input(0).view(nullptr, to.choosing_lengths()).shape[p.axis] > max_ranked)
      return "its lines are longer than 16384: the CPU sorts them sooner";
    rank_constants c;
    if (const refusal why = set_ranked_lines(c, s, p.axis, to)) return why;
    c.count *= c.extent;
    draft d;
    d.key.kernel = kernel::top_k;
    d.mode() = p.smallest ? 1 : 0;
    d.set_constants(c);
    d.spread(c.count);
    return to.add(d);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
