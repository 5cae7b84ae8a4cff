// SPDX-License-Identifier: MIT
// Positions of the best elements on a device, with ties and NaN, and operators that compute from rows.
#include "../../model/tree_ensemble_plan.hpp"
#include "../device_support.hpp"
#include "../typed_plan.hpp"

using namespace test;
using format::DataType;
using format::Operator;

namespace {

void check(const plan_spec& p, double tolerance) {
  tested_device* const on = device();
  if (!on) return;
  both<tested_device> net(*on);
  REQUIRE(net.open(p) == "");
  net.fill_inputs(3);
  CHECK(first_wrong_step(net, tolerance) == "");
}

/// [3, 5, 4] with ties along every dimension, as every type that has an order, and transposed.
std::vector<std::uint32_t> add_lines(typed_plan& t) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  noise random(5);
  std::vector<float> numbers;
  std::vector<std::int32_t> integers;
  std::vector<std::int64_t> wide;
  for (int i = 0; i < 60; ++i) {
    const auto n = static_cast<std::int32_t>(random() * 4);
    integers.push_back(n);
    wide.push_back(std::int64_t{n} * 4294967297);
    numbers.push_back(i % 17 == 3   ? nan
                      : i % 13 == 5 ? -inf
                      : i % 11 == 4 ? inf
                      : n == 0      ? -0.0f
                                    : static_cast<float>(n));
  }
  std::vector<std::uint32_t> lines = {
      t.add_values(numbers, DataType::float32, {3, 5, 4}), t.add_values(integers, DataType::int32, {3, 5, 4}),
      t.add_values(wide, DataType::int64, {3, 5, 4}), t.add_constant(numbers, DataType::float32, {3, 5, 4})};
  const std::uint32_t transposed = t.p.add_tensor("transposed", {4, 3, 5}, t.p.tensors[lines[0]].buffer);
  t.p.tensors[transposed].strides = {1, 20, 4};
  lines.push_back(transposed);
  return lines;
}

}

TEST_CASE("positions of the largest and smallest elements on a device are the CPU's") {
  typed_plan t;
  for (const std::uint32_t x : add_lines(t))
    for (std::uint8_t axis = 0; axis < 3; ++axis)
      for (int kind = 0; kind < 4; ++kind) {
        std::vector<std::int32_t> shape = t.p.tensors[x].shape;
        shape[axis] = 1;
        step_spec& s = t.step(Operator::ArgReduce, {x}, shape, DataType::int64, 1);
        s.axis = axis;
        s.arg_reduce = kind % 2 == 0 ? format::ArgReduceKind::max : format::ArgReduceKind::min;
        s.last = kind >= 2;
      }
  check(t.finished(), 0);
}

TEST_CASE("positions of the k best elements on a device are the CPU's") {
  typed_plan t;
  for (const std::uint32_t x : add_lines(t))
    for (std::uint8_t axis = 0; axis < 3; ++axis)
      for (const bool smallest : {false, true}) {
        std::vector<std::int32_t> shape = t.p.tensors[x].shape;
        shape[axis] = smallest ? shape[axis] : 2;
        step_spec& s = t.step(Operator::TopK, {x}, shape, DataType::int64);
        s.axis = axis;
        s.smallest = smallest;
      }
  check(t.finished(), 0);
}

TEST_CASE("local response normalization on a device is the CPU's") {
  for (const std::uint32_t size : {1u, 4u, 5u, 40u}) {
    plan_spec p;
    const std::uint32_t x = p.add_input("x", {2, 3, 5, 17}, 1), y = p.add_output("y", {2, 3, 5, 17}, 0, 1);
    step_spec& s = p.add_step(Operator::LocalResponseNormalization, {x}, y);
    s.size = size;
    s.alpha = 2.5f;
    s.beta = 0.75f;
    s.bias = 1.5f;
    check(p, 1e-5);
  }
}

TEST_CASE("decision trees on a device add up what the CPU adds up") {
  for (const auto aggregate : {format::TreeAggregate::sum, format::TreeAggregate::average, format::TreeAggregate::min,
                               format::TreeAggregate::max}) {
    for (std::int32_t test = 1; test <= 6; ++test) {
      tree_ensemble trees;
      trees.nodes[1] = test;
      trees.thresholds[0] = test >= 5 ? 0.0f : 0.1f;
      plan_spec p = trees.plan();
      p.steps[0].aggregate = aggregate;
      check(p, 1e-6);
    }
  }
}
