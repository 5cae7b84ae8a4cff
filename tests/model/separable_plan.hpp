// SPDX-License-Identifier: MIT
#pragma once
/// A depthwise convolution and a 1 x 1 convolution that reads it, as plans.
#include "sample_plans.hpp"

namespace test {

struct separable_case {
  std::int32_t images = 1, height = 7, width = 9, channels = 8, outputs = 8, kernel = 3, stride = 1, pad = 1;
  std::int32_t beside = 0;  ///< channels of the input's buffer before those that are read
  format::Function first = format::Function::clip, second = format::Function::leaky_relu;

  std::int32_t out(std::int32_t n) const { return (n + 2 * pad - kernel) / stride + 1; }
  std::vector<std::int32_t> made(std::int32_t count) const { return {images, out(height), out(width), count}; }
};

/// Adds both steps: input and residual are tensors, `y` the output, `between` what is between them.
inline void add_separable(plan_spec& p, const separable_case& c, std::uint32_t x, std::uint32_t between,
                          std::uint32_t residual, std::uint32_t y) {
  noise random(5);
  const auto n = static_cast<std::size_t>(c.channels), outputs = static_cast<std::size_t>(c.outputs);
  const auto k = static_cast<std::uint16_t>(c.kernel), stride = static_cast<std::uint16_t>(c.stride),
             pad = static_cast<std::uint16_t>(c.pad);
  const std::uint32_t taps = p.add_panels("taps", random.many(static_cast<std::size_t>(c.kernel * c.kernel) * n),
                                          random.many(n)),
                      weights = p.add_panels("weights", random.many(n * outputs), random.many(outputs));
  std::vector<std::uint32_t> inputs{x, taps};
  if (c.first == format::Function::prelu) inputs.push_back(p.add_constant("slope", random.many(n)));
  step_spec& depthwise = p.add_step(format::Operator::DepthwiseConv2D, inputs, between, "depthwise");
  depthwise.window = format::Window(k, k, stride, stride, 1, 1, pad, pad);
  depthwise.epilogue = {c.first, -0.5f, 0.75f, false, -1, c.first == format::Function::prelu ? 2 : -1};
  depthwise.macs = static_cast<std::uint64_t>(c.kernel * c.kernel) * n;
  step_spec& pointwise = p.add_step(format::Operator::Conv2D, {between, weights, residual}, y, "pointwise");
  pointwise.window = format::Window(1, 1, 1, 1, 1, 1, 0, 0);
  pointwise.epilogue = {c.second, 0.1f, 0.0f, false, 2, -1};
  pointwise.macs = n * outputs;
}

/// x, added -> depthwise convolution -> 1 x 1 convolution, with a sum -> y.
inline plan_spec make_separable(const separable_case& c) {
  plan_spec p;
  const std::uint32_t all = p.add_input("x", {c.images, c.height, c.width, c.channels + c.beside}, 2);
  const std::uint32_t added = p.add_input("added", c.made(c.outputs), 2);
  const std::uint32_t between = p.add_dense("between", c.made(c.channels), 0, 1);
  const std::uint32_t y = p.add_output("y", c.made(c.outputs), 1, 2);
  const std::vector<std::int64_t> strides = p.tensors[all].strides;
  const std::uint32_t x = c.beside == 0 ? all
                                        : add_view(p, all, {c.images, c.height, c.width, c.channels}, strides,
                                                   static_cast<std::uint64_t>(c.beside) * sizeof(float));
  add_separable(p, c, x, between, added, y);
  return p;
}

/// x -> neg -> depthwise convolution -> 1 x 1 convolution, plus the result of neg -> neg -> y: of equal channels and
/// stride 1.
inline plan_spec make_separable_chain(const separable_case& c) {
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {c.images, c.height, c.width, c.channels}, 4);
  const std::uint32_t inner = p.add_dense("inner", {c.images, c.height, c.width, c.channels}, 0, 2);
  const std::uint32_t between = p.add_dense("between", c.made(c.channels), 1, 2);
  const std::uint32_t sum = p.add_dense("sum", c.made(c.outputs), 2, 3);
  const std::uint32_t y = p.add_output("y", c.made(c.outputs), 3, 4);
  p.add_step(format::Operator::Unary, {x}, inner).epilogue.function = format::Function::neg;
  add_separable(p, c, inner, between, inner, sum);
  p.add_step(format::Operator::Unary, {sum}, y).epilogue.function = format::Function::neg;
  return p;
}

}
