// SPDX-License-Identifier: MIT
// Convolutions of few outputs and long sums, which are computed in slices and added up by a second dispatch.
#include "../device_support.hpp"

using namespace test;

namespace {

struct split_case {
  std::int32_t side, channels, outputs, kernel, slices;
};

/// x -> neg -> convolution or, of one pixel, dense layer, with a sum and an activation -> another one -> y.
plan_spec make_split(const split_case& c) {
  using format::Operator;
  plan_spec p;
  noise random(9);
  const auto image = [&](std::int32_t channels) {
    return c.side == 1 ? std::vector<std::int32_t>{1, channels}
                       : std::vector<std::int32_t>{1, c.side, c.side, channels};
  };
  const std::int32_t taps = c.kernel * c.kernel;
  const std::uint32_t x = p.add_input("x", image(c.channels), 3), added = p.add_input("added", image(c.outputs), 3);
  const std::uint32_t inner = p.add_dense("inner", image(c.channels), 0, 3);
  const std::uint32_t middle = p.add_dense("middle", image(c.outputs), 1, 3);
  const std::uint32_t y = p.add_output("y", image(c.outputs), 2, 3);
  const auto weights = [&] {
    return p.add_panels("w", random.many(static_cast<std::size_t>(taps * c.channels * c.outputs)),
                        random.many(static_cast<std::size_t>(c.outputs)));
  };
  p.add_step(Operator::Unary, {x}, inner).epilogue.function = format::Function::neg;
  const auto k = static_cast<std::uint16_t>(c.kernel), pad = static_cast<std::uint16_t>(c.kernel / 2);
  const std::uint32_t first = weights(), second = weights();
  const auto add = [&](std::uint32_t w, std::uint32_t residual, std::uint32_t out) {
    step_spec& s = p.add_step(c.side == 1 ? Operator::FullyConnected : Operator::Conv2D, {inner, w, residual}, out);
    if (c.side > 1) s.window = format::Window(k, k, 1, 1, 1, 1, pad, pad);
    s.epilogue = {format::Function::leaky_relu, 0.1f, 0.0f, false, 2, -1};
    s.scratch_bytes = c.side > 1 ? static_cast<std::uint64_t>(c.side * c.side * taps * c.channels) * 4 : 0;
    p.lane_bytes = std::max(p.lane_bytes, (s.scratch_bytes + 63) / 64 * 64);
  };
  add(first, added, middle);
  add(second, middle, y);
  return p;
}

}

TEST_CASE("long sums of few outputs are cut into slices") {
  tested_device* const on = device();
  if (!on) return;
  const split_case cases[] = {{1, 300, 40, 1, 18}, {1, 257, 7, 1, 16}, {3, 320, 24, 1, 19}, {4, 72, 8, 3, 4}};
  for (const split_case& c : cases) {
    for (const bool halves : {false, true}) {
      CAPTURE(c.channels);
      CAPTURE(halves);
      nsk::gpu::plan_settings how;
      how.half_activations = halves;
      both<tested_device> net(*on);
      REQUIRE(net.open(make_split(c), how) == "");
      REQUIRE(net.plan().dispatch_count() == 5);
      for (const int i : {1, 3}) {
        const auto kernel_of = [&](int d) {
          return net.plan().pipelines()[static_cast<std::size_t>(net.plan().dispatch(d).pipeline)].kernel;
        };
        CHECK(kernel_of(i) == nsk::gpu::kernel::conv_2d_split);
        CHECK(kernel_of(i + 1) == nsk::gpu::kernel::sum_slices);
        CHECK(net.plan().dispatch(i).constants[30] == static_cast<std::uint32_t>(c.slices));
        CHECK(net.plan().dispatch(i + 1).barrier);
      }
      // The second layer overwrites the scratch that the sums of the first one read.
      CHECK(net.plan().dispatch(3).barrier);
      CHECK(net.arena_bytes() > net.variant().shared_bytes());
      net.fill_inputs(6);
      CHECK(net.run().relative() <= (halves ? 2e-3 : 1e-5));
      const aligned_bytes first = net.device_arena();
      REQUIRE(net.gpu().run());
      const aligned_bytes again = net.device_arena();
      CHECK(std::memcmp(first.data(), again.data(), first.size()) == 0);
      if (halves) continue;
      for (int d = 0; d < net.plan().dispatch_count();) {
        const auto r = net.run_step(d);
        CHECK(r.apart.relative() <= 1e-5);
        CHECK(r.stray_bytes == 0);
      }
    }
  }
}
