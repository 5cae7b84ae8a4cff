// SPDX-License-Identifier: MIT
// Reduction, softmax, layer normalization: every kind, every axis, lengths that fill nothing, in place.
#include "../cases.hpp"
#include "../device_support.hpp"

using namespace test;
using format::Function;
using format::Operator;

namespace {

const std::vector<std::int32_t> shape{2, 3, 5, 7};

/// Reduces the axes of `mask` (bit 0: the first).
kernel_case reduction(format::ReduceKind kind, int mask) {
  plan_spec p;
  const std::uint32_t x = p.add_input("x", shape, 1);
  std::vector<std::int32_t> reduced = shape;
  for (int d = 0; d < 4; ++d) {
    if ((mask >> d & 1) != 0) reduced[static_cast<std::size_t>(d)] = 1;
  }
  const std::uint32_t y = p.add_output("y", reduced, 0, 1);
  p.add_step(Operator::Reduce, {x}, y).reduce = kind;
  return {"reduce " + std::to_string(static_cast<int>(kind)) + " axes " + std::to_string(mask), p};
}

}

TEST_CASE("reductions of every kind, over every set of axes") {
  tested_device* const on = device();
  if (!on) return;
  for (int kind = 0; kind <= static_cast<int>(format::ReduceKind::sum_square); ++kind) {
    const bool product = static_cast<format::ReduceKind>(kind) == format::ReduceKind::prod;
    for (const int mask : {1, 2, 4, 8, 5, 6, 10, 12, 14, 15}) {
      if (product && mask > 5) continue;  // so many factors below 1 give 0
      check_case(*on, reduction(static_cast<format::ReduceKind>(kind), mask));
    }
  }
}

TEST_CASE("reductions have functions and slopes") {
  tested_device* const on = device();
  if (!on) return;
  kernel_case c = reduction(format::ReduceKind::sum_square, 6);
  c.plan.steps[0].epilogue.function = Function::sqrt;
  check_case(*on, c);
  c = reduction(format::ReduceKind::sum, 7);
  c.plan.steps[0].inputs.push_back(c.plan.add_constant("slope", noise(4).many(7)));
  c.plan.steps[0].epilogue = {Function::prelu, 0, 0, false, -1, 1};
  check_case(*on, c);
}

TEST_CASE("the largest of infinite numbers is infinite") {
  tested_device* const on = device();
  if (!on) return;
  for (const format::ReduceKind kind : {format::ReduceKind::max, format::ReduceKind::min}) {
    plan_spec p;
    const float infinity = kind == format::ReduceKind::max ? -INFINITY : INFINITY;
    const std::uint32_t x = p.add_dense("x", {2, 3}, 0, 2), y = p.add_output("y", {2, 1}, 2, 3);
    const std::uint32_t unused = p.add_output("unused", {2, 3}, 1, 3);
    p.add_step(Operator::Fill, {}, x, "fill").value = infinity;
    p.add_step(Operator::Fill, {}, unused, "finite").value = 1;
    p.add_step(Operator::Reduce, {x}, y).reduce = kind;
    both<tested_device> net(*on);
    REQUIRE(net.open(p) == "");
    const distance d = net.run();
    CHECK(d.difference == 0);
  }
}

TEST_CASE("softmax along every axis, and its logarithm, in place") {
  tested_device* const on = device();
  if (!on) return;
  for (std::uint8_t axis = 0; axis < 4; ++axis) {
    for (const bool log : {false, true}) {
      plan_spec p;
      const std::uint32_t x = p.add_input("x", shape, 2), y = p.add_output("y", shape, 0, 2);
      step_spec& scale = p.add_step(Operator::Unary, {x}, y, "scale");
      scale.epilogue = {Function::leaky_relu, 60.0f, 0, false, -1, -1};  // exponents of wide range
      step_spec& s = p.add_step(Operator::Softmax, {y}, y);
      s.axis = axis;
      s.log = log;
      check_case(*on, {"softmax axis " + std::to_string(axis) + (log ? " log" : ""), p});
    }
  }
}

TEST_CASE("layer normalization, with and without its mean, in place and of slices") {
  tested_device* const on = device();
  if (!on) return;
  for (const bool centre : {false, true}) {
    for (const int beside : {0, 2}) {
      plan_spec p;
      const std::uint32_t all = p.add_input("x", {1, 3, 5, 24 + beside}, 2);
      const std::uint32_t x = channels_of(p, all, beside, 24), y = p.add_output("y", {1, 3, 5, 24}, 0, 2);
      const std::uint32_t scale = p.add_constant("scale", noise(6).many(24)),
                          bias = p.add_constant("bias", noise(7).many(24));
      p.add_step(Operator::Copy, {x}, y, "copy");
      step_spec& s = p.add_step(Operator::LayerNormalization, {y, scale, bias}, y);
      s.epsilon = 1e-3f;
      s.centre = centre;
      check_case(*on, {"layer normalization", p});
    }
  }
}
