// SPDX-License-Identifier: MIT
// Elementwise operators: every function, every kind of two operands, broadcasts, transposition, constants, in place.
#include "../cases.hpp"
#include "../device_support.hpp"

using namespace test;
using format::Function;
using format::Operator;

namespace {

/// Numbers in every range that a function may meet, besides the noise.
const float corners[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1.5f, 2.5f, -2.5f, 6.0f, -3.0f, 1e-6f, -1e-6f, 30.0f, -30.0f};

/// A constant of `count` numbers: the corners, then noise between -3 and 3; positive ones where asked.
std::vector<float> numbers(std::size_t count, bool positive, std::uint32_t seed) {
  noise random(seed);
  std::vector<float> v(count);
  for (std::size_t i = 0; i < count; ++i) {
    v[i] = i < std::size(corners) ? corners[i] : 3 * random();
    if (positive) v[i] = std::fabs(v[i]) + 0.125f;
  }
  return v;
}

kernel_case function_case(Function f) {
  plan_spec p;
  const bool positive = f == Function::log || f == Function::sqrt || f == Function::reciprocal;
  const std::uint32_t x = p.add_constant("x", numbers(3 * 5 * 8, positive, 1));
  const std::uint32_t image = add_view(p, x, {1, 3, 5, 8}, {120, 40, 8, 1});
  const std::uint32_t y = p.add_output("y", {1, 3, 5, 8}, 0, 1);
  std::vector<std::uint32_t> inputs{image};
  epilogue_spec e{f, 0.75f, 1.25f, false, -1, -1};
  if (f == Function::prelu) {
    inputs.push_back(p.add_constant("slope", noise(4).many(8)));
    e.slope = 1;
  }
  p.add_step(Operator::Unary, inputs, y).epilogue = e;
  return {"function " + std::to_string(static_cast<int>(f)), p};
}

/// y = x op z, where both are views of [2, 3, 4, 5]; `permuted` makes x a transposition and z a row that repeats.
kernel_case binary_case(format::BinaryKind kind, bool permuted) {
  plan_spec p;
  const bool positive = kind == format::BinaryKind::pow || kind == format::BinaryKind::div;
  const std::uint32_t x = p.add_constant("x", numbers(120, positive, 2)),
                      z = p.add_constant("z", numbers(120, positive, 3));
  const std::vector<std::int32_t> shape{2, 3, 4, 5};
  const std::uint32_t a = add_view(
      p, x, shape, permuted ? std::vector<std::int64_t>{1, 2, 30, 6} : std::vector<std::int64_t>{60, 20, 5, 1});
  const std::uint32_t b =
      add_view(p, z, shape, permuted ? std::vector<std::int64_t>{0, 5, 0, 1} : std::vector<std::int64_t>{60, 20, 5, 1});
  const std::uint32_t y = p.add_output("y", shape, 0, 1);
  p.add_step(Operator::Binary, {a, b}, y).binary = kind;
  return {"binary " + std::to_string(static_cast<int>(kind)) + (permuted ? " permuted" : ""), p};
}

}

TEST_CASE("every function of the file format") {
  tested_device* const on = device();
  if (!on) return;
  for (int f = 1; f <= static_cast<int>(Function::cos); ++f) check_case(*on, function_case(static_cast<Function>(f)));
}

TEST_CASE("two operands of every kind, dense, repeated and transposed") {
  tested_device* const on = device();
  if (!on) return;
  for (int kind = 0; kind <= static_cast<int>(format::BinaryKind::atan2); ++kind) {
    check_case(*on, binary_case(static_cast<format::BinaryKind>(kind), false));
    check_case(*on, binary_case(static_cast<format::BinaryKind>(kind), true));
  }
}

TEST_CASE("powers of negative numbers and of zero are those of the CPU") {
  tested_device* const on = device();
  if (!on) return;
  plan_spec p;
  const std::uint32_t x = p.add_constant("x", std::vector<float>{-2, -2, -2, -2, 0, 0, 2, -1.5f, -8, 1, -1, 3});
  const std::uint32_t z = p.add_constant("z", std::vector<float>{2, 3, 0, -3, 0, 2, -2, 0.5f, 1.5f, 7, 4, 0.25f});
  const std::uint32_t y = p.add_output("y", {12}, 0, 1);
  p.add_step(Operator::Binary, {x, z}, y).binary = format::BinaryKind::pow;
  check_case(*on, {"powers", p});
}

TEST_CASE("residuals and slopes of elementwise operators, in place") {
  tested_device* const on = device();
  if (!on) return;
  for (const bool activation_first : {false, true}) {
    plan_spec p;
    const std::uint32_t x = p.add_input("x", {2, 3, 5, 7}, 2), y = p.add_output("y", {2, 3, 5, 7}, 0, 2);
    const std::uint32_t slope = p.add_constant("slope", noise(4).many(7));
    p.add_step(Operator::Fill, {}, y, "fill").value = -0.375f;
    p.add_step(Operator::Binary, {y, x, x, slope}, y).epilogue = {Function::prelu, 0, 0, activation_first, 2, 3};
    check_case(*on, {"in place", p});
  }
}

TEST_CASE("what needs more than four dimensions is refused") {
  const auto refused = [](const plan_spec& p) {
    const aligned_bytes file = p.write();
    nsk::model model;
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    const char* const why = nsk::gpu::why_no_shader(model.variant(), 0);
    return std::string(why ? why : "");
  };
  plan_spec five;
  const std::uint32_t x = five.add_input("x", {2, 2, 2, 2, 2}, 1), y = five.add_output("y", {2, 2, 2, 2, 2}, 0, 1);
  five.add_step(Operator::Unary, {add_view(five, x, {2, 2, 2, 2, 2}, {1, 2, 4, 8, 16})}, y).epilogue.function =
      Function::neg;
  CHECK(refused(five).find("four dimensions") != std::string::npos);
}
