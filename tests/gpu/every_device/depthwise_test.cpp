// SPDX-License-Identifier: MIT
// Depthwise convolutions whose window is a constant of the kernel give the bits of the general kernel.
#include "../device_support.hpp"

using namespace test;

namespace {

struct depthwise_case {
  std::int32_t kernel, stride, pad, height, width, channels;
};

/// x -> depthwise convolution, with a sum, -> y.
plan_spec make_depthwise(const depthwise_case& c) {
  plan_spec p;
  noise random(5);
  const std::int32_t oh = (c.height + 2 * c.pad - c.kernel) / c.stride + 1;
  const std::int32_t ow = (c.width + 2 * c.pad - c.kernel) / c.stride + 1;
  const std::uint32_t x = p.add_input("x", {2, c.height, c.width, c.channels}, 1);
  const std::uint32_t added = p.add_input("added", {2, oh, ow, c.channels}, 1);
  const std::uint32_t y = p.add_output("y", {2, oh, ow, c.channels}, 0, 1);
  const auto taps = static_cast<std::size_t>(c.kernel * c.kernel), n = static_cast<std::size_t>(c.channels);
  const std::uint32_t w = p.add_panels("w", random.many(taps * n), random.many(n));
  step_spec& s = p.add_step(format::Operator::DepthwiseConv2D, {x, w, added}, y, "depthwise");
  const auto k = static_cast<std::uint16_t>(c.kernel), stride = static_cast<std::uint16_t>(c.stride),
             pad = static_cast<std::uint16_t>(c.pad);
  s.window = format::Window(k, k, stride, stride, 1, 1, pad, pad);
  s.epilogue = {format::Function::clip, -0.5f, 0.5f, false, 2, -1};
  return p;
}

aligned_bytes outputs(tested_device& on, const plan_spec& p, nsk::gpu::conv_kernel how, nsk::gpu::kernel expected) {
  both<tested_device> net(on);
  nsk::gpu::plan_settings settings;
  settings.convolutions = how;
  REQUIRE(net.open(p, settings) == "");
  CHECK(net.plan().pipelines()[0].kernel == expected);
  net.fill_inputs(2);
  CHECK(net.run().relative() <= 1e-5);
  return net.device_arena();
}

}

TEST_CASE("depthwise convolutions of constant windows give the bits of the general kernel") {
  tested_device* const on = device();
  if (!on) return;
  // Channels of whole quads and odd ones; odd and even widths; a border on every side, on none, wider than the window.
  const depthwise_case cases[] = {{3, 1, 1, 5, 7, 8}, {3, 1, 0, 5, 6, 3}, {3, 2, 1, 9, 8, 24}, {3, 2, 0, 7, 5, 5},
                                  {5, 1, 2, 6, 5, 4}, {5, 1, 4, 3, 2, 8}, {5, 2, 2, 9, 9, 8},  {5, 2, 1, 8, 6, 1}};
  for (const depthwise_case& c : cases) {
    CAPTURE(c.kernel);
    CAPTURE(c.stride);
    CAPTURE(c.channels);
    const plan_spec p = make_depthwise(c);
    using nsk::gpu::conv_kernel;
    using nsk::gpu::kernel;
    const aligned_bytes got = outputs(*on, p, conv_kernel::automatic, kernel::depthwise_window);
    const aligned_bytes general = outputs(*on, p, conv_kernel::direct, kernel::depthwise_conv_2d);
    REQUIRE(got.size() == general.size());
    CHECK(std::memcmp(got.data(), general.data(), got.size()) == 0);
  }
}
