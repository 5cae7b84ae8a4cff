// SPDX-License-Identifier: MIT
// The samples of tests/model on a device: every step, and the whole network.
#include "../device_support.hpp"

using namespace test;

namespace {

void check_network(const plan_spec& p) {
  tested_device* const on = device();
  if (!on) return;
  both<tested_device> net(*on);
  REQUIRE(net.open(p) == "");
  net.fill_inputs(1);
  for (int d = 0; d < net.plan().dispatch_count();) {
    CAPTURE(d);
    const auto r = net.run_step(d);
    CHECK(r.apart.relative() <= 1e-5);
    CHECK(r.stray_bytes == 0);
  }
  CHECK(net.run().relative() <= 1e-5);
}

}

TEST_CASE("a convolutional network on a device equals the CPU, step by step") { check_network(make_cnn().plan); }
