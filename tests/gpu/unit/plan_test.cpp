// SPDX-License-Identifier: MIT
// Plans: what a variant becomes, without a device.
#include <doctest/doctest.h>
#include <netsuke/gpu.hpp>
#include <netsuke/netsuke.hpp>

#include "../../model/sample_plans.hpp"

using namespace test;
namespace gpu = nsk::gpu;

TEST_CASE("a plan has a dispatch per step, and a barrier only where bytes meet") {
  const aligned_bytes file = make_cnn().plan.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  aligned_bytes space(gpu::plan_bytes(model.variant()));
  gpu::plan plan;
  REQUIRE(gpu::plan::make(model.variant(), {}, space.span(), plan));
  CHECK(plan.dispatch_count() == cnn_sample::steps);
  // The convolution and the copy fill two slices of one buffer.
  CHECK(plan.barrier_count() == cnn_sample::steps - 2);
  CHECK_FALSE(plan.dispatch(cnn_sample::copy_step).barrier);
}
