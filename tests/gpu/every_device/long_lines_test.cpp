// SPDX-License-Identifier: MIT
// Reductions, softmax and layer normalization on a device, of lines that a thread computes and of lines that a group
// does.
#include "../device_support.hpp"

using namespace test;
using format::Operator;
using format::ReduceKind;

namespace {

/// A plan of steps that read one input, each into a tensor of its own.
struct lines_plan {
  plan_spec p;
  std::uint32_t x;

  explicit lines_plan(std::vector<std::int32_t> shape) { x = p.add_input("x", std::move(shape), 0); }
  step_spec& step(Operator op, std::vector<std::uint32_t> in, std::vector<std::int32_t> shape) {
    const auto number = static_cast<std::uint32_t>(p.steps.size());
    return p.add_step(op, std::move(in), p.add_output("y", std::move(shape), number, 0));
  }
  void check() {
    for (buffer_spec& b : p.buffers) {
      if (b.storage != format::Storage::constant) b.last_step = static_cast<std::uint32_t>(p.steps.size());
    }
    tested_device* const on = device();
    if (!on) return;
    both<tested_device> net(*on);
    REQUIRE(net.open(p) == "");
    net.fill_inputs(6);
    for (int d = 0; d < net.plan().dispatch_count();) {
      CAPTURE(d);
      const auto r = net.run_step(d);
      CHECK(r.apart.relative() <= 1e-5);
      CHECK(r.stray_bytes == 0);
    }
  }
};

constexpr std::int32_t lengths[] = {1, 63, 64, 65, 1000};

}

TEST_CASE("reductions of short and long lines on a device equal the CPU") {
  for (const std::int32_t n : lengths) {
    lines_plan t({3, n, 4, 5});
    for (int kind = 0; kind < 6; ++kind)
      for (const int axes : {0, 1, 2}) {
        const std::vector<std::int32_t> shape = axes == 0   ? std::vector<std::int32_t>{3, 1, 4, 5}
                                                : axes == 1 ? std::vector<std::int32_t>{3, 1, 1, 5}
                                                            : std::vector<std::int32_t>{1, n, 4, 1};
        t.step(Operator::Reduce, {t.x}, shape).reduce = static_cast<ReduceKind>(kind);
      }
    t.check();
  }
}

TEST_CASE("softmax of short and long lines on a device equals the CPU") {
  for (const std::int32_t n : lengths) {
    lines_plan t({3, 5, n});
    t.step(Operator::Softmax, {t.x}, {3, 5, n}).axis = 2;
    step_spec& s = t.step(Operator::Softmax, {t.x}, {3, 5, n});
    s.axis = 2;
    s.log = true;
    t.step(Operator::Softmax, {t.x}, {3, 5, n}).axis = 1;
    t.check();
  }
}

TEST_CASE("layer normalization of short and long lines on a device equals the CPU") {
  noise random(8);
  for (const std::int32_t n : lengths) {
    lines_plan t({3, 5, n});
    const auto floats = static_cast<std::size_t>(n);
    const std::uint32_t scale = t.p.add_constant("scale", random.many(floats)),
                        bias = t.p.add_constant("bias", random.many(floats));
    for (const bool centre : {true, false}) {
      step_spec& s = t.step(Operator::LayerNormalization, {t.x, scale, bias}, {3, 5, n});
      s.epsilon = 1e-3f;
      s.centre = centre;
    }
    t.check();
  }
}

TEST_CASE("long lines are normalized in place") {
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {2, 300}, 2), y = p.add_output("y", {2, 300}, 0, 2);
  p.add_step(Operator::Copy, {x}, y);
  p.add_step(Operator::Softmax, {y}, y).axis = 1;
  tested_device* const on = device();
  if (!on) return;
  both<tested_device> net(*on);
  REQUIRE(net.open(p) == "");
  net.fill_inputs(6);
  CHECK(net.run().relative() <= 1e-5);
}

TEST_CASE("few long lines have a group each, many have a thread") {
  const auto kernel_of = [](std::int32_t lines, std::int32_t length) {
    lines_plan t({lines, length});
    t.step(Operator::Softmax, {t.x}, {lines, length}).axis = 1;
    t.p.buffers[0].last_step = t.p.buffers[1].last_step = 1;
    nsk::gpu::pipeline_key key;
    const aligned_bytes file = t.p.write();
    nsk::model model;
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    REQUIRE(nsk::gpu::required_pipelines(model.variant(), {&key, 1}) == 1);
    return key.kernel;
  };
  CHECK(kernel_of(4, 63) == nsk::gpu::kernel::softmax);
  CHECK(kernel_of(4, 64) == nsk::gpu::kernel::softmax_by_group);
  CHECK(kernel_of(4096, 64) == nsk::gpu::kernel::softmax);
}
