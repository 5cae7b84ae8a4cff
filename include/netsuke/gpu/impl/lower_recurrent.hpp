// SPDX-License-Identifier: MIT
#pragma once
/// Recurrent layers: one dispatch per direction, in which a group of threads goes through the time steps of a row.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/packing.hpp>
#include <netsuke/gpu/impl/lowering.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Hidden elements of which gates and states fit into 16 KiB of group memory (shaders/recurrent.comp).
inline constexpr std::int32_t max_hidden = 672;

inline std::uint32_t recurrent_flags(const step_view& s, const recurrent_params& p, int direction) {
  const recurrent_inputs in = recurrent_inputs::of(p);
  const auto constant = [&](std::int32_t i) { return i >= 0 && is_constant(s.input(i)); };
  std::uint32_t f = 0;
  const auto set = [&](bool condition, std::uint32_t flag) { f |= condition ? flag : 0; };
  set((p.reverse >> direction & 1u) != 0, 1);
  set(p.linear_before_reset, 2);
  set(p.has_peephole, 4);
  set(p.input_forget, 8);
  set(p.has_lengths, 16);
  set(is_constant(s.input(2)), 32);
  set(constant(in.initial_c), 64);
  set(constant(in.lengths), 128);
  return f;
}

/// Sets offsets and strides of one direction of x, y, h and c.
inline void set_recurrent_places(recurrent_constants& c, const step_view& s, const recurrent_inputs& in, int direction,
                                 const dispatch_writer& to) {
  const auto view = [&](const tensor_info& t) { return t.view(nullptr, to.lengths()); };
  const auto at = [&](const tensor_info& t, int dimension) {
    return word_of(t, to) + word(view(t).stride[dimension] * direction);
  };
  const tensor_view x = view(s.input(0)), y = view(s.output()), h = view(s.input(2));
  c.x = at(s.input(0), 2), c.x_row = word(x.stride[0]), c.x_time = word(x.stride[1]);
  c.y = at(s.output(), 2), c.y_row = word(y.stride[0]), c.y_time = word(y.stride[1]);
  c.h = at(s.input(2), 1), c.h_row = word(h.stride[0]);
  if (in.initial_c >= 0) {
    c.c = at(s.input(in.initial_c), 1);
    c.c_row = word(view(s.input(in.initial_c)).stride[0]);
  }
  if (in.peephole >= 0)
    c.peephole = word_of(s.input(in.peephole), to) + 3 * c.hidden * static_cast<unsigned>(direction);
  if (in.lengths >= 0) c.lengths = word_of(s.input(in.lengths), to);
}

template <>
struct lowering<op::recurrent> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const recurrent_params p = s.params<op::recurrent>();
    const tensor_view x = s.input(0).view(nullptr, to.lengths()), y = s.output().view(nullptr, to.lengths());
    if (y.shape[3] > max_hidden) return "it has more than 672 hidden elements: they do not fit into group memory";
    if (is_constant(s.input(0))) return "its input is a constant";
    for (int direction = 0; direction < x.shape[2]; ++direction) {
      if (const refusal why = lower_direction(s, p, x, y.shape[3], direction, to)) return why;
    }
    return nullptr;
  }

 private:
  static refusal lower_direction(const step_view& s, const recurrent_params& p, const tensor_view& x,
                                 std::int32_t hidden, int direction, dispatch_writer& to) {
    const bool two_products = p.kind == recurrent_kind::gru && !p.linear_before_reset;
    recurrent_constants c;
    c.rows = word(x.shape[0]);
    c.time_steps = word(x.shape[1]);
    c.hidden = word(hidden);
    c.channels = word(std::int64_t{two_products ? 2 : recurrent_gates(p.kind)} * hidden);
    set_recurrent_places(c, s, recurrent_inputs::of(p), direction, to);
    c.w = word_of(s.input(1), to) + word(direction * recurrent_weight_floats(p.kind, p.linear_before_reset, hidden));
    c.w_hidden = c.w + word(panel_floats(c.channels, hidden));
    c.reset_product = c.channels;
    const recurrent_gate* g = p.gate[direction];
    for (int i = 0; i < recurrent_functions(p.kind); ++i) c.functions |= static_cast<std::uint32_t>(g[i].fn) << 4 * i;
    c.a0 = g[0].alpha, c.b0 = g[0].beta, c.a1 = g[1].alpha, c.b1 = g[1].beta, c.a2 = g[2].alpha, c.b2 = g[2].beta;
    c.clip = p.clip;
    c.cell_clip = p.cell_clip;
    c.flags = recurrent_flags(s, p, direction);
    draft d;
    d.key.kernel = kernel::recurrent;
    d.mode() = static_cast<std::uint8_t>(p.kind);
    d.beside = direction > 0;
    d.set_constants(c);
    d.spread(std::uint64_t{c.rows} * group_threads);
    return to.add(d);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
