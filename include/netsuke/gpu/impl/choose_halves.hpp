// SPDX-License-Identifier: MIT
#pragma once
/// Which activations become 16-bit floats: buffers of the arena that steps alone touch, each through an operand that
/// its kernel can read or write so. A thread writes whole words, so outputs are quads of channels.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/variant_view.hpp>
#include <netsuke/gpu/impl/lower_every_op.hpp>

NSK_BEGIN
namespace gpu::impl {

constexpr operand_set input_operand(int i) {
  return i >= 0 && i < set_inputs ? static_cast<operand_set>(1 << i) : operand_set{0};
}

/// `operand_set of(step, to)`: the operands that may be 16-bit floats; none, where no specialisation says more.
template <op>
struct half_operands {
  static operand_set of(const step_view&, const dispatch_writer&) { return 0; }
};

/// Of a window operator whose channels are cut into `groups`.
inline operand_set window_halves(const step_view& s, const image_place& x, const image_place& y, const image_place& r,
                                 int residual, int groups) {
  const std::int32_t in = s.input(0).view(nullptr).length(0), out = s.output().view(nullptr).length(0);
  operand_set found = 0;
  if (x.aligned(2) && in % (2 * groups) == 0) found |= input_operand(0);
  if (y.aligned(2) && r.aligned(2) && out % (2 * groups) == 0)
    found |= static_cast<operand_set>(output_operand | input_operand(residual));
  return found;
}
inline operand_set window_halves(const step_view& s, const dispatch_writer& to, int residual, int groups = 1) {
  return window_halves(s, place_of(s.input(0), to), place_of(s.output(), to),
                       residual >= 0 ? place_of(s.input(residual), to) : image_place{}, residual, groups);
}

template <>
struct half_operands<op::conv_2d> {
  static operand_set of(const step_view& s, const dispatch_writer& to) {
    return window_halves(s, to, s.epilogue().residual, s.params<op::conv_2d>().groups);
  }
};
template <>
struct half_operands<op::fully_connected> {
  static operand_set of(const step_view& s, const dispatch_writer& to) {
    return window_halves(s, to, s.epilogue().residual);
  }
};
template <>
struct half_operands<op::depthwise_conv_2d> : half_operands<op::fully_connected> {};
template <>
struct half_operands<op::pool_2d> {
  static operand_set of(const step_view& s, const dispatch_writer& to) { return window_halves(s, to, -1); }
};
template <>
struct half_operands<op::resize_2d> : half_operands<op::pool_2d> {};
template <>
struct half_operands<op::mat_mul> {
  static operand_set of(const step_view& s, const dispatch_writer& to) {
    const int residual = s.epilogue().residual;
    return window_halves(s, matrix_place_of(s.input(0), to), matrix_place_of(s.output(), to),
                         residual >= 0 ? matrix_place_of(s.input(residual), to) : image_place{}, residual, 1);
  }
};

/// Any input may be read element by element; the output is written where threads compute neighbours.
inline operand_set elementwise_halves(const step_view& s, const dispatch_writer& to, int a, int b, int residual) {
  elementwise_operands in(to);
  in.set(s, a, b, residual);
  const operand_set inputs = static_cast<operand_set>(input_operand(a) | input_operand(b) | input_operand(residual));
  const joining how = s.epilogue().slope >= 0 ? joining::but_last : joining::all;
  return in.width(in.joined(how)) > 1 ? static_cast<operand_set>(inputs | output_operand) : inputs;
}
template <>
struct half_operands<op::unary> {
  static operand_set of(const step_view& s, const dispatch_writer& to) {
    return elementwise_halves(s, to, 0, -1, s.epilogue().residual);
  }
};
template <>
struct half_operands<op::binary> {
  static operand_set of(const step_view& s, const dispatch_writer& to) {
    return elementwise_halves(s, to, 0, 1, s.epilogue().residual);
  }
};
template <>
struct half_operands<op::fill> {
  static operand_set of(const step_view& s, const dispatch_writer& to) { return elementwise_halves(s, to, -1, -1, -1); }
};
template <>
struct half_operands<op::copy> {
  static operand_set of(const step_view& s, const dispatch_writer& to) { return elementwise_halves(s, to, 0, -1, -1); }
};
template <>
struct half_operands<op::reduce> {
  static operand_set of(const step_view&, const dispatch_writer&) { return input_operand(0); }
};

/// The operands of a step that may be 16-bit floats; none where the step runs on the CPU.
inline operand_set possible_halves(const step_view& s, const dispatch_writer& to) {
  dispatch_writer counting(to.settings());
  if (lower_on_device(s, counting)) return 0;
  switch (s.op()) {
#define NSK_GPU_HALF_OPERANDS(name, Table) \
  case op::name: return half_operands<op::name>::of(s, to);
    NSK_OP_LIST(NSK_GPU_HALF_OPERANDS)
#undef NSK_GPU_HALF_OPERANDS
    case op::none: break;
  }
  return 0;
}

/// Chooses the buffers: all but those of ports and states, of other types, and of operands that keep 32 bits.
NSK_COLD inline void choose_halves(const variant_view& v, dispatch_writer& to) {
  half_buffers chosen;
  chosen.add_all();
  const auto keep = [&](const tensor_info& t, bool may) {
    if (!may || !is_float(t)) chosen.remove(t);
  };
  for (int i = 0; i < v.input_count(); ++i) keep(v.input(i).tensor(), false);
  for (int i = 0; i < v.output_count(); ++i) keep(v.output(i).tensor(), false);
  for (int i = 0; i < v.state_count(); ++i) {
    keep(v.state(i).tensor(), false);
    keep(v.state(i).next(), false);
  }
  for (int i = 0; i < v.step_count(); ++i) {
    const step_view s = v.step(i);
    const operand_set possible = possible_halves(s, to);
    for (int k = 0; k < s.input_count(); ++k) keep(s.input(k), (possible & input_operand(k)) != 0);
    for (int k = 0; k < s.output_count(); ++k) keep(s.output(k), k == 0 && (possible & output_operand) != 0);
  }
  to.halves() = chosen;
}

/// The buffers that a plan with these settings chooses.
NSK_COLD inline half_buffers half_buffers_of(const variant_view& v, const plan_settings& how) {
  dispatch_writer counting(how);
  if (how.half_activations) choose_halves(v, counting);
  return counting.halves();
}

/// The operands of a step that are 16-bit floats.
inline operand_set halves_of_step(const step_view& s, const dispatch_writer& to) {
  operand_set found = 0;
  for (int k = 0; k < s.input_count() && k < set_inputs; ++k) {
    if (to.is_half(s.input(k)) || (k == 1 && is_constant(s.input(k)) && to.panels().has(s.input(k))))
      found |= input_operand(k);
  }
  if (s.output_count() > 0 && to.is_half(s.output())) found |= output_operand;
  return found;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
