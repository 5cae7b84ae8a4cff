// SPDX-License-Identifier: MIT
// Every elementwise function on a device, for small numbers, middling ones and large ones.
#include "../device_support.hpp"

using namespace test;
using format::Function;
using format::Operator;

TEST_CASE("every function on a device is the CPU's within 1e-5 of the largest result, at every scale of numbers") {
  tested_device* const on = device();
  if (!on) return;
  constexpr std::int32_t count = 250;
  plan_spec p;
  std::vector<std::string> names;
  noise random(2);
  const std::uint32_t slopes = p.add_constant("slopes", random.many(count));
  for (int f = 0; f < nsk::function_count; ++f)
    for (const float scale : {1e-4f, 1.0f, 30.0f}) {
      const auto function = static_cast<Function>(f);
      const bool positive = function == Function::log || function == Function::sqrt || function == Function::reciprocal;
      std::vector<float> numbers = random.many(count);
      for (float& x : numbers) x = (positive ? std::fabs(x) + 0.01f : x) * scale;
      if (function == Function::acosh)
        for (float& x : numbers) x = std::fabs(x) + 1;
      const std::uint32_t constant = p.add_constant("x", numbers),
                          x = p.add_tensor("x", {1, count}, p.tensors[constant].buffer);
      const std::uint32_t y = p.add_dense("y", {1, count}, 0, 1000);
      step_spec& s = p.add_step(Operator::Unary, {x}, y);
      s.epilogue.function = function;
      s.epilogue.alpha = function == Function::clip ? -0.5f : 0.25f;
      s.epilogue.beta = 0.5f;
      if (function == Function::prelu) {
        s.inputs.push_back(slopes);
        s.epilogue.slope = 1;
      }
    }
  const auto end = static_cast<std::uint32_t>(p.steps.size()) + 1;
  const std::uint32_t last = p.add_output("end", {1}, end - 1, end);
  p.add_step(Operator::Fill, {}, last);
  for (buffer_spec& b : p.buffers)
    if (b.last_step == 1000) b.last_step = end;
  both<tested_device> net(*on);
  REQUIRE(net.open(p) == "");
  for (int d = 0; d + 1 < net.plan().dispatch_count();) {
    CAPTURE(d / 3);
    CAPTURE(d % 3);
    const auto r = net.run_step(d);
    CHECK(r.apart.relative() <= 1e-5);
    CHECK(r.stray_bytes == 0);
  }
}
