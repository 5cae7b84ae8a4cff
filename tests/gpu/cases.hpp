// SPDX-License-Identifier: MIT
#pragma once
/// Small plans, each with one step that a kernel of the GPU path computes, for every device.
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "../model/winograd_matrix.hpp"
#include "support.hpp"

namespace test {

struct kernel_case {
  std::string name;
  plan_spec plan;
  nsk::gpu::plan_settings how{};
  double tolerance = 1e-5;  ///< of the largest output of a step
};

/// Runs every step of a case on both sides, on the CPU's inputs.
template <class Device>
void check_case(Device& device, const kernel_case& c) {
  CAPTURE(c.name);
  both<Device> net(device);
  REQUIRE(net.open(c.plan, c.how) == "");
  net.fill_inputs(5);
  for (int d = 0; d < net.plan().dispatch_count();) {
    const auto r = net.run_step(d);
    CAPTURE(d);
    CHECK(r.apart.relative() <= c.tolerance);
    CHECK(r.apart.largest > 0);
    CHECK(r.stray_bytes == 0);
  }
}
template <class Device>
void check_cases(Device& device, const std::vector<kernel_case>& cases) {
  for (const kernel_case& c : cases) check_case(device, c);
}

/// A convolution, depthwise convolution or pooling.
struct window_case {
  int n = 1, h = 7, w = 9, ic = 8, oc = 8;
  int kh = 1, kw = 1, stride = 1, dilation = 1, pad = 0, groups = 1;
  int more_stride = 0, more_dilation = 0, more_pad = 0;  ///< of columns: that much more than of rows
  epilogue_spec epilogue{};                              ///< its residual and slope are set by the flags
  bool residual = false, slope = false;
  int beside = 0;  ///< channels of input and output buffers on either side of the slices that the step touches
  nsk::conv_algorithm algorithm = nsk::conv_algorithm::direct;

  int out_h() const { return (h + 2 * pad - dilation * (kh - 1) - 1) / stride + 1; }
  int out_w() const {
    return (w + 2 * (pad + more_pad) - (dilation + more_dilation) * (kw - 1) - 1) / (stride + more_stride) + 1;
  }
  format::Window window() const {
    const auto u = [](int v) { return static_cast<std::uint16_t>(v); };
    return {u(kh),       u(kw),
            u(stride),   u(stride + more_stride),
            u(dilation), u(dilation + more_dilation),
            u(pad),      u(pad + more_pad)};
  }
  std::string name() const {
    return std::to_string(n) + "x" + std::to_string(h) + "x" + std::to_string(w) + "x" + std::to_string(ic) + " to " +
           std::to_string(oc) + ", " + std::to_string(kh) + "x" + std::to_string(kw) + " stride " +
           std::to_string(stride) + " dilation " + std::to_string(dilation) + " pad " + std::to_string(pad) +
           " columns +" + std::to_string(more_stride) + "+" + std::to_string(more_dilation) + "+" +
           std::to_string(more_pad) + " groups " + std::to_string(groups) + " function " +
           std::to_string(static_cast<int>(epilogue.function)) + (residual ? " residual" : "") + " beside " +
           std::to_string(beside) + " algorithm " + std::to_string(static_cast<int>(algorithm));
  }
};

/// Channels [first, first + count) of an image.
inline std::uint32_t channels_of(plan_spec& p, std::uint32_t image, int first, int count) {
  std::vector<std::int32_t> shape = p.tensors[image].shape;
  const std::vector<std::int64_t> strides = p.tensors[image].strides;
  shape[3] = count;
  return add_view(p, image, shape, strides, static_cast<std::uint64_t>(first) * 4);
}

inline format::Packing packing_of(nsk::conv_algorithm a) {
  return a == nsk::conv_algorithm::direct      ? format::Packing::panels
         : a == nsk::conv_algorithm::winograd4 ? format::Packing::winograd4
                                               : format::Packing::winograd2;
}

/// Input, constants and output of a window operator. What is beside the output's slice is filled before, and the slice
/// itself where a residual is added in place.
inline kernel_case make_window_case(format::Operator op, const window_case& c) {
  plan_spec p;
  noise random(11);
  const int oh = c.out_h(), ow = c.out_w();
  const std::uint32_t end = 1 + (c.beside > 0 ? 2u : 0u) + (c.residual ? 1u : 0u);
  const std::uint32_t all_x = p.add_input("x", {c.n, c.h, c.w, c.ic + 2 * c.beside}, end);
  const std::uint32_t all_y = p.add_output("y", {c.n, oh, ow, c.oc + 2 * c.beside}, 0, end);
  const std::uint32_t x = channels_of(p, all_x, c.beside, c.ic), y = channels_of(p, all_y, c.beside, c.oc);
  std::vector<std::uint32_t> inputs{x};
  if (op != format::Operator::Pool2D) {
    const bool depthwise = op == format::Operator::DepthwiseConv2D;
    const int depth = c.kh * c.kw * (depthwise ? 1 : c.ic / c.groups), per_group = c.oc / c.groups;
    const auto matrix = [&] {
      return random.many(static_cast<std::size_t>(depth) * static_cast<std::size_t>(per_group));
    };
    const auto bias = [&] { return random.many(static_cast<std::size_t>(per_group)); };
    std::uint32_t weights = p.add_panels("w", matrix(), bias());
    if (c.groups > 1) {
      std::vector<float> all;
      for (int g = 0; g < c.groups; ++g) {
        plan_spec one;
        one.add_panels("w", matrix(), bias());
        const std::size_t floats = static_cast<std::size_t>(nsk::panel_floats(per_group, depth));
        all.resize(all.size() + floats);
        std::memcpy(all.data() + all.size() - floats, one.weights.data(), floats * 4);
      }
      weights = p.add_constant("w", all);
      p.tensors[weights].packing = format::Packing::panels;
    }
    if (c.algorithm != nsk::conv_algorithm::direct) {
      const auto inner = static_cast<std::size_t>(c.ic) * static_cast<std::size_t>(c.oc);
      weights = p.add_panels("w", winograd_matrix(c.algorithm, matrix(), inner), bias());
      p.tensors[weights].packing = packing_of(c.algorithm);
    }
    inputs.push_back(weights);
  }
  epilogue_spec e = c.epilogue;
  if (c.residual) {
    e.residual = static_cast<std::int32_t>(inputs.size());
    inputs.push_back(y);
  }
  if (c.slope) {
    e.slope = static_cast<std::int32_t>(inputs.size());
    inputs.push_back(p.add_constant("slope", random.many(static_cast<std::size_t>(c.oc))));
  }
  const auto fill = [&](int first, int count) {
    p.add_step(format::Operator::Fill, {}, channels_of(p, all_y, first, count), "fill").value = 0.625f;
  };
  if (c.beside > 0) fill(0, c.beside), fill(c.beside + c.oc, c.beside);
  if (c.residual) fill(c.beside, c.oc);
  step_spec& s = p.add_step(op, inputs, y, "tested");
  s.window = c.window();
  s.groups = static_cast<std::uint32_t>(c.groups);
  s.epilogue = e;
  s.algorithm = static_cast<format::ConvAlgorithm>(c.algorithm);
  if (op == format::Operator::Conv2D)
    s.scratch_bytes = static_cast<std::uint64_t>(nsk::kernels::conv_2d_scratch_bytes(
        {c.h, c.w, c.ic, oh, ow, c.oc, c.groups, {}, 0, nsk::window::of(&s.window), c.algorithm}));
  p.lane_bytes = s.scratch_bytes;
  return {c.name(), p};
}

}
