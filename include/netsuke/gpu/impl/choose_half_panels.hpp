// SPDX-License-Identifier: MIT
#pragma once
/// Which layers' weights become 16-bit floats: panels that window operators alone read, whose numbers stay what they
/// are but for a thousandth.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/half_float.hpp>
#include <netsuke/gpu/impl/lower_every_op.hpp>

NSK_BEGIN
namespace gpu::impl {

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

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
