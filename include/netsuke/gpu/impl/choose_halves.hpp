// SPDX-License-Identifier: MIT
#pragma once
/// Which activations become 16-bit floats: buffers of the arena that steps alone touch, each through an operand that
/// its kernel can read or write so. A thread writes whole words, so outputs are quads of channels.
/// And which layers' weights do: panels that window operators alone read, whose numbers stay what they are but for a
/// thousandth.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/core/assert.hpp>
#include <netsuke/format/variant_view.hpp>
#include <netsuke/gpu/impl/lower_every_op.hpp>

NSK_BEGIN
namespace gpu::impl {

inline constexpr float largest_half = 65504, smallest_half = 1.0f / (1 << 14);

/// Returns the nearest one, ties to even, of a number of at most largest_half; below smallest_half the nearest of 0 and
/// that.
inline std::uint16_t half_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  bits &= 0x7fffffffu;
  constexpr std::uint32_t smallest = (127 - 14) << 23;
  if (bits < smallest) return static_cast<std::uint16_t>(sign | (bits > smallest - (1u << 23) ? 0x400u : 0u));
  bits = bits + 4095 + (bits >> 13 & 1u);
  return static_cast<std::uint16_t>(sign | ((bits >> 13) - ((127 - 15) << 10)));
}
/// Returns the value of a normal one, or of a zero.
inline float number_of(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7fffu, sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t bits = sign | (magnitude == 0 ? 0 : (magnitude << 13) + ((127u - 15) << 23));
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// The panels that a step reads as input 1; no matrices where it reads none that kernels can read as 16-bit floats.
inline panel_shape panels_of(const step_view& s) {
  if (s.input_count() < 2 || !is_constant(s.input(1)) || s.input(1).arrangement() != packing::panels) return {};
  const tensor_info w = s.input(1);
  const tensor_view x = s.input(0).view(nullptr), y = s.output().view(nullptr);
  panel_shape p;
  if (s.op() == op::conv_2d) {
    const conv_2d_params c = s.params<op::conv_2d>();
    if (c.algorithm != conv_algorithm::direct) return {};
    p = {y.length(0) / c.groups, std::int64_t{c.w.kernel_h} * c.w.kernel_w * (x.length(0) / c.groups), 0};
  } else if (s.op() == op::depthwise_conv_2d) {
    const window k = s.params<op::depthwise_conv_2d>().w;
    p = {y.length(0), std::int64_t{k.kernel_h} * k.kernel_w, 0};
  } else if (s.op() == op::fully_connected || s.op() == op::mat_mul) {
    p = {y.length(0), x.length(0), 0};
  } else {
    return {};
  }
  p.matrices = static_cast<std::int64_t>(w.buffer_bytes() / 4) / panel_floats(p.channels, p.depth);
  return w.offset() == 0 && p.bytes() == w.buffer_bytes() ? p : panel_shape{};
}

/// Calls f(width, data) for every panel, of `depth` + 1 rows of `width` floats.
template <class F>
void for_each_panel(const panel_shape& s, const std::byte* data, F&& f) {
  for (std::int64_t m = 0; m < s.matrices; ++m) {
    for (std::int64_t p = 0; p < panel_count(s.channels); ++p) {
      const std::int64_t width = width_of_panel(s.channels, p);
      f(width, data);
      data += width * (s.depth + 1) * 4;
    }
  }
}
inline float panel_float(const std::byte* data, std::int64_t i) {
  float x;
  std::memcpy(&x, data + i * 4, sizeof x);
  return x;
}

/// Whether 16-bit floats hold the weights: each is at most 65504, and the root of the sum of squares of the errors of
/// an output channel is at most 2^-10 of that of its weights. Weights below 2^-14 lose digits: they become 0 or 2^-14,
/// because devices differ in what they make of smaller ones.
inline bool keeps_weights(const panel_shape& s, const std::byte* data) {
  bool kept = true;
  for_each_panel(s, data, [&](std::int64_t width, const std::byte* panel) {
    for (std::int64_t c = 0; c < width && kept; ++c) {
      double lost = 0, all = 0;
      for (std::int64_t k = 1; k <= s.depth && kept; ++k) {
        const float x = panel_float(panel, k * width + c);
        kept = x >= -largest_half && x <= largest_half;
        const double error = kept ? double{x} - double{number_of(half_of(x))} : 0;
        lost += error * error;
        all += double{x} * double{x};
      }
      kept = kept && lost * (1 << 20) <= all;
    }
  });
  return kept;
}

/// Chooses the layers. A buffer that another operator reads, or two steps in different shapes, keeps 32-bit floats.
NSK_COLD inline void choose_half_panels(const variant_view& v, dispatch_writer& to) {
  const span<const std::byte> weights = to.settings().half_weights;
  if (weights.size() == 0) return;
  half_panels& chosen = to.panels();
  chosen.begin(v);
  const auto shape_in = [&](int step, int input) {
    dispatch_writer counting(plan_settings{});
    const bool runs = input == 1 && !lower_step(v.step(step), counting);
    return runs ? panels_of(v.step(step)) : panel_shape{};
  };
  // The first step that reads a buffer decides, and every later one that reads it otherwise takes it back.
  const auto first_reader = [&](int buffer, int before) {
    for (int i = 0; i < before; ++i) {
      for (int k = 0; k < v.step(i).input_count(); ++k) {
        if (v.step(i).input(k).buffer() == buffer) return i;
      }
    }
    return -1;
  };
  for (int i = 0; i < v.step_count(); ++i) {
    for (int k = 0; k < v.step(i).input_count(); ++k) {
      const tensor_info t = v.step(i).input(k);
      if (!is_constant(t) || t.arrangement() != packing::panels) continue;
      const panel_shape p = shape_in(i, k);
      const int first = first_reader(t.buffer(), i);
      if (first < 0 && p.matrices > 0 && keeps_weights(p, weights.data() + t.buffer_offset()))
        chosen.add(t.buffer(), p);
      else if (first >= 0 && !(panels_of(v.step(first)) == p))
        chosen.remove(t.buffer());
    }
  }
}

constexpr operand_set input_operand(int i) {
  return i >= 0 && i < set_inputs ? static_cast<operand_set>(1 << i) : operand_set{0};
}

/// `operand_set of(step, to)`: the operands that may be 16-bit floats; none, where no specialisation says more.
template <op>
struct half_operands {
  static operand_set of(const step_view&, const dispatch_writer&) { return 0; }
};

/// Of a window operator whose channels are cut into `groups`.
inline operand_set window_halves(const step_view& s, length_values lengths, const image_place& x, const image_place& y,
                                 const image_place& r, int residual, int groups) {
  const std::int32_t in = s.input(0).view(nullptr, lengths).length(0),
                     out = s.output().view(nullptr, lengths).length(0);
  operand_set found = 0;
  if (x.aligned(2) && in % (2 * groups) == 0) found |= input_operand(0);
  if (y.aligned(2) && r.aligned(2) && out % (2 * groups) == 0)
    found |= static_cast<operand_set>(output_operand | input_operand(residual));
  return found;
}
inline operand_set window_halves(const step_view& s, const dispatch_writer& to, int residual, int groups = 1) {
  return window_halves(s, to.choosing_lengths(), place_of(s.input(0), to), place_of(s.output(), to),
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
    return window_halves(s, to.choosing_lengths(), matrix_place_of(s.input(0), to), matrix_place_of(s.output(), to),
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
