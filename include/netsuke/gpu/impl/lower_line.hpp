// SPDX-License-Identifier: MIT
#pragma once
/// Operators along lines: reduction, softmax, layer normalization. Up to three kept and three reduced dimensions.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/lowering.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Sets the loops of lines along `axis`, or, where that is -1, along the dimensions that the output lacks: `k` over
/// kept dimensions, `m` over reduced ones (shaders/bindings.h has their names). Returns why no shader can, or null.
inline refusal set_lines(line_constants& c, const step_view& s, const dispatch_writer& to, int axis,
                         joining how = joining::all) {
  constexpr int slots = 3;
  const length_values lengths = to.lengths();
  const tensor_info xi = s.input(0), yi = s.output();
  if (!is_float(xi) || !is_float(yi)) return "its elements are not float32";
  if (is_constant(xi)) return "its input is a constant";
  const tensor_view x = xi.view(nullptr, lengths), y = yi.view(nullptr, lengths);
  tensor_view kept = y, reduced = x;  // their lengths alone are read: 1 for dimensions of the other
  for (int i = 0; i < x.rank; ++i) {
    const bool along = axis >= 0 ? i == axis : y.shape[i] == 1 && x.shape[i] != 1;
    (along ? kept : reduced).shape[i] = 1;
  }
  const tensor_view* const both[2] = {&x, &y};
  const tensor_view* const along_line[2] = {&x, axis >= 0 ? &y : nullptr};  // a reduced output has no line
  const joined_dimensions<2> k(kept, both, how), m(reduced, along_line);
  if (k.count > slots || m.count > slots) return "it has more than three kept or reduced dimensions after joining";
  c.count = k.length_in(slots, 0) * k.length_in(slots, 1) * k.length_in(slots, 2);
  c.k1 = k.length_in(slots, 1), c.k2 = k.length_in(slots, 2);
  c.x = word_of(xi, to.is_half(xi), to);
  c.x0 = k.stride_in(slots, 0, 0), c.x1 = k.stride_in(slots, 1, 0), c.x2 = k.stride_in(slots, 2, 0);
  c.y = word_of(yi, to);
  c.y0 = k.stride_in(slots, 0, 1), c.y1 = k.stride_in(slots, 1, 1), c.y2 = k.stride_in(slots, 2, 1);
  c.m0 = m.length_in(slots, 0), c.m1 = m.length_in(slots, 1), c.m2 = m.length_in(slots, 2);
  c.s0 = m.stride_in(slots, 0, 0), c.s1 = m.stride_in(slots, 1, 0), c.s2 = m.stride_in(slots, 2, 0);
  c.z0 = m.stride_in(slots, 0, 1), c.z1 = m.stride_in(slots, 1, 1), c.z2 = m.stride_in(slots, 2, 1);
  return nullptr;
}
/// A thread computes one line; where lines are long and too few to fill a device, a group of threads does.
inline refusal add_lines(draft d, kernel by_thread, kernel by_group, const line_constants& c, dispatch_writer& to) {
  constexpr std::uint32_t long_line = 64, many_lines = 4096;
  const bool grouped = c.count < many_lines && std::uint64_t{c.m0} * c.m1 * c.m2 >= long_line;
  d.key.kernel = grouped ? by_group : by_thread;
  d.set_constants(c);
  d.spread(std::uint64_t{c.count} * (grouped ? group_threads : 1));
  return to.add(d);
}

template <>
struct lowering<op::reduce> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const epilogue_params e = s.epilogue();
    line_constants c;
    if (e.residual >= 0) return "it has a residual";
    constexpr int reduced_dimensions = -1;
    // prelu has a slope for each index of the last dimension, which therefore is not joined with others.
    const joining dimensions = e.slope >= 0 ? joining::but_last : joining::all;
    if (const refusal why = set_lines(c, s, to, reduced_dimensions, dimensions)) return why;
    draft d;
    d.halves() = to.is_half(s.input(0)) ? half_input : 0;
    d.mode() = static_cast<std::uint8_t>(s.params<op::reduce>().kind);
    set_epilogue(d, e);
    c.alpha = e.alpha;
    c.beta = e.beta;
    c.slope = slope_of(s, e, to);
    return add_lines(d, kernel::reduce, kernel::reduce_by_group, c, to);
  }
};
template <>
struct lowering<op::softmax> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const softmax_params p = s.params<op::softmax>();
    line_constants c;
    if (const refusal why = set_lines(c, s, to, p.axis)) return why;
    draft d;
    d.mode() = p.log ? 1 : 0;
    return add_lines(d, kernel::softmax, kernel::softmax_by_group, c, to);
  }
};
template <>
struct lowering<op::layer_normalization> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const layer_normalization_params p = s.params<op::layer_normalization>();
    line_constants c;
    if (const refusal why = set_lines(c, s, to, s.input(0).rank() - 1)) return why;
    draft d;
    d.mode() = p.centre ? 0 : 1;
    c.alpha = p.epsilon;
    c.scale = word_of(s.input(1), to);
    c.bias = word_of(s.input(2), to);
    return add_lines(d, kernel::layer_normalization, kernel::layer_normalization_by_group, c, to);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
