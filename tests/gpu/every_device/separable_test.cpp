// SPDX-License-Identifier: MIT
// A depthwise convolution and the 1 x 1 convolution behind it give the same bits in one dispatch as in two.
#include "../../model/separable_plan.hpp"
#include "../cases.hpp"
#include "../device_support.hpp"

using namespace test;
namespace gpu = nsk::gpu;

namespace {

/// The output of a run, element by element; `expected` says whether the two steps are one dispatch.
std::vector<std::byte> output_of(tested_device& on, const plan_spec& p, gpu::plan_settings how, double tolerance) {
  both<tested_device> net(on);
  REQUIRE(net.open(p, how) == "");
  REQUIRE(net.plan().dispatch_count() == (how.separable == gpu::merging::always ? 1 : 2));
  net.fill_inputs(2);
  CHECK(net.run().relative() <= tolerance);
  const aligned_bytes arena = net.device_arena();
  std::vector<std::byte> bytes;
  for_each_element(net.variant().output(0).tensor(), [&](std::ptrdiff_t at) {
    bytes.insert(bytes.end(), arena.data() + at, arena.data() + at + sizeof(float));
  });
  return bytes;
}

}

TEST_CASE("a depthwise and a 1 x 1 convolution in one dispatch give the bits of two") {
  tested_device* const on = device();
  if (!on) return;
  using format::Function;
  // Channels of one slice and of several, whole and not; outputs of one block and of several, odd ones; lines that are
  // no multiple of what a thread computes; windows wider than their image; a slice of wider buffers.
  const separable_case cases[] = {
      {2, 5, 7, 8, 8, 3, 1, 1},      {1, 9, 8, 16, 32, 3, 1, 0}, {1, 9, 9, 24, 17, 3, 2, 1},
      {2, 3, 2, 40, 33, 3, 2, 0, 4}, {1, 6, 5, 200, 8, 5, 1, 2}, {1, 3, 2, 12, 40, 5, 1, 4, 8},
      {1, 11, 9, 20, 70, 5, 2, 2},   {1, 8, 13, 36, 3, 5, 2, 1}, {1, 9, 10, 32, 20, 3, 1, 1, 0, Function::prelu},
  };
  for (const separable_case& c : cases) {
    CAPTURE(c.channels);
    CAPTURE(c.outputs);
    CAPTURE(c.kernel);
    CAPTURE(c.stride);
    const plan_spec p = make_separable(c);
    gpu::plan_settings how;
    how.separable = gpu::merging::always;
    const std::vector<std::byte> one = output_of(*on, p, how, 1e-5);
    how.separable = gpu::merging::never;
    CHECK(output_of(*on, p, how, 1e-5) == one);
  }
}

TEST_CASE("one dispatch of two convolutions changes no byte beside its output") {
  tested_device* const on = device();
  if (!on) return;
  kernel_case c{"separable", make_separable({2, 7, 9, 24, 20, 3, 1, 1, 4})};
  c.how.separable = gpu::merging::always;
  check_case(*on, c);
}

TEST_CASE("one dispatch of two convolutions reads and writes 16-bit floats") {
  tested_device* const on = device();
  if (!on) return;
  for (const int kernel : {3, 5}) {
    CAPTURE(kernel);
    both<tested_device> net(*on);
    gpu::plan_settings how;
    how.separable = gpu::merging::always;
    how.half_activations = true;
    REQUIRE(net.open(make_separable_chain({1, 9, 10, 24, 24, kernel, 1, kernel / 2}), how) == "");
    REQUIRE(net.plan().dispatch_count() == 3);
    const gpu::pipeline_key& key = net.plan().pipelines()[static_cast<std::size_t>(net.plan().dispatch(1).pipeline)];
    CHECK(key.kernel == gpu::kernel::separable_conv_2d);
    CHECK(key.specialization[6] == 7);  // input, output and residual
    net.fill_inputs(2);
    CHECK(net.run().relative() <= 2e-3);
  }
}
