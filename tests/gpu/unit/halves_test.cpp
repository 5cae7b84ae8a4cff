// SPDX-License-Identifier: MIT
// 16-bit activations in plans: bytes that are counted, and the places that hazards are found by.
#include <doctest/doctest.h>
#include <netsuke/gpu.hpp>
#include <netsuke/netsuke.hpp>

#include "../../model/sample_plans.hpp"

using namespace test;
namespace gpu = nsk::gpu;

namespace {

struct half_plan {
  aligned_bytes file, space;
  nsk::model model;
  gpu::plan plan;

  half_plan(const plan_spec& p, bool halves) : file(p.write()) {
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    gpu::plan_settings how;
    how.half_activations = halves;
    space = aligned_bytes(gpu::plan::required_bytes(model.variant(), how));
    REQUIRE(gpu::plan::make(model.variant(), how, space.span(), plan));
  }
};

}

TEST_CASE("16-bit activations halve the bytes between steps") {
  const cnn_sample sample = make_cnn();
  const half_plan whole(sample.plan, false), half(sample.plan, true);
  // Ports and what reduction, dense layer and softmax write keep 32 bits.
  const std::uint64_t image = 64 * 3 * 4, stem = 64 * 16 * 4, left = 64 * 24 * 4, wide = 64 * 40 * 4, mean = 40 * 4,
                      logits = 10 * 4;
  const gpu::traffic before = whole.plan.traffic(), after = half.plan.traffic();
  CHECK(before.read == image + stem + 2 * stem + wide + mean + logits);
  CHECK(before.written == 3 * stem + left + mean + 2 * logits);
  CHECK(after.read == image + (stem + 2 * stem + wide) / 2 + mean + logits);
  CHECK(after.written == (3 * stem + left) / 2 + mean + 2 * logits);
  CHECK(after.constants == before.constants);
  CHECK(half.plan.dispatch_count() == whole.plan.dispatch_count());
}

TEST_CASE("a slice of 16-bit floats is where its shader writes it") {
  const cnn_sample sample = make_cnn();
  const half_plan half(sample.plan, true);
  const nsk::tensor_info right = half.model.variant().step(cnn_sample::copy_step).output();
  const gpu::impl::access a = gpu::impl::access_of(right, nullptr, true, true);
  CHECK(a.begin == static_cast<std::int64_t>(right.buffer_offset() + right.offset() / 2));
  CHECK(a.end == a.begin + (63 * 40 + 16) * 2);
  // The two slices still do not meet; what reads both waits for them.
  CHECK_FALSE(half.plan.dispatch(cnn_sample::copy_step).barrier);
  CHECK(half.plan.dispatch(cnn_sample::mean_step).barrier);
}
