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
  aligned_bytes space(gpu::plan::required_bytes(model));
  CHECK(space.size() == gpu::plan::required_bytes(model.variant()));
  gpu::plan plan;
  REQUIRE(gpu::plan::make(model, {}, space.span(), plan));
  CHECK(gpu::plan::make(model, {}, space.span(), plan, 1).code() == gpu::status_code::bad_variant);
  CHECK(gpu::plan::make(nsk::model(), {}, space.span(), plan).code() == gpu::status_code::not_open);
  CHECK(gpu::plan::required_bytes(model, {}, 1) == 0);
  CHECK(plan.dispatch_count() == cnn_sample::steps);
  // The convolution and the copy fill two slices of one buffer.
  CHECK(plan.barrier_count() == cnn_sample::steps - 2);
  CHECK_FALSE(plan.dispatch(cnn_sample::copy_step).barrier);
}

TEST_CASE("a row of a batch is summed up alike in plans of any number of rows") {
  plan_spec p;
  noise random(2);
  const std::uint32_t x = p.add_input("x", {8, 1024}, 1), y = p.add_output("y", {8, 64}, 0, 1);
  p.add_step(format::Operator::FullyConnected, {x, p.add_panels("w", random.many(1024 * 64), random.many(64))}, y);
  p.batch = 8;
  for (const std::uint32_t t : {x, y}) p.tensors[t].batch = 1;
  const aligned_bytes file = p.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  for (const int rows : {0, 1, 3, 8}) {
    CAPTURE(rows);
    gpu::plan_settings how;
    how.rows = rows;
    aligned_bytes space(gpu::plan::required_bytes(model.variant(), how));
    gpu::plan plan;
    REQUIRE(gpu::plan::make(model.variant(), how, space.span(), plan));
    REQUIRE(plan.dispatch_count() == 2);
    CHECK(plan.pipelines()[static_cast<std::size_t>(plan.dispatch(0).pipeline)].kernel == gpu::kernel::conv_2d_split);
    CHECK(plan.dispatch(0).constants[30] == 8);  // slices: 8 x 16 threads become 1024
  }
}

TEST_CASE("a barrier keeps what is still read from being overwritten") {
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {64}, 4);
  const std::uint32_t first = p.add_dense("first", {64}, 0, 1), second = p.add_dense("second", {64}, 2, 3);
  p.buffers[p.tensors[second].buffer].offset = p.buffers[p.tensors[first].buffer].offset;  // one after the other
  const std::uint32_t y = p.add_output("y", {64}, 1, 4), z = p.add_output("z", {64}, 3, 4);
  p.add_step(format::Operator::Copy, {x}, first);
  p.add_step(format::Operator::Copy, {first}, y);
  p.add_step(format::Operator::Copy, {x}, second);
  p.add_step(format::Operator::Copy, {second}, z);
  const aligned_bytes file = p.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  aligned_bytes space(gpu::plan::required_bytes(model.variant()));
  gpu::plan plan;
  REQUIRE(gpu::plan::make(model.variant(), {}, space.span(), plan));
  for (int i = 1; i < 4; ++i) CHECK(plan.dispatch(i).barrier);
}
