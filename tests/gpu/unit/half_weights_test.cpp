// SPDX-License-Identifier: MIT
// 16-bit weights: what is written, which layers keep float32, and who checks the size.
#include <doctest/doctest.h>
#include <cmath>
#include <netsuke/gpu.hpp>
#include <netsuke/netsuke.hpp>

#include "../../model/sample_plans.hpp"
#include "devices/null.hpp"

using namespace test;
namespace gpu = nsk::gpu;

namespace {

/// Dense layers x -> y of 4 inputs and 20 outputs, in two panels' columns, with weights of the caller.
struct dense_layer {
  aligned_bytes file;
  nsk::model model;
  gpu::plan_settings how;

  explicit dense_layer(const std::vector<float>& weights, bool twice = false) {
    plan_spec p;
    const std::uint32_t end = twice ? 2 : 1;
    const std::uint32_t x = p.add_input("x", {1, 4}, end), y = p.add_output("y", {1, 20}, 0, end);
    std::vector<float> bias(20);
    for (std::size_t i = 0; i < 20; ++i) bias[i] = 0.1f + static_cast<float>(i);
    p.add_constant("unused", std::vector<float>(3, 7.0f));
    const std::uint32_t w = p.add_panels("w", weights, bias);
    p.add_step(format::Operator::FullyConnected, {x, w}, y);
    if (twice) {
      // A second layer reads those bytes as panels of 24 outputs.
      p.add_step(format::Operator::FullyConnected, {x, w}, p.add_output("z", {1, 24}, 1, end));
    }
    file = p.write();
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    how.half_weights = model.weights();
  }
  bool is_half() const {
    gpu::impl::dispatch_writer chosen(how);
    gpu::impl::choose_half_panels(model.variant(), chosen);
    return chosen.panels().has(model.variant().step(0).input(1));
  }
};
std::vector<float> ordinary() {
  noise random(3);
  std::vector<float> w = random.many(80);
  for (float& x : w) x = x < 0 ? x - 0.01f : x + 0.01f;
  return w;
}

}

TEST_CASE("16-bit weights are nearest, even where two are as near; small ones become 0 or the smallest") {
  const auto through = [](float x) { return gpu::impl::number_of(gpu::impl::half_of(x)); };
  CHECK(through(1 + 0x1p-11f) == 1);
  CHECK(through(1 + 0x3p-11f) == 1 + 0x1p-9f);
  CHECK(through(1 + 0x1.002p-11f) == 1 + 0x1p-10f);
  CHECK(through(-65504) == -65504);
  CHECK(through(65503) == 65504);
  CHECK(through(0) == 0);
  CHECK(std::signbit(through(-0.0f)));
  CHECK(through(0x1p-14f) == 0x1p-14f);
  CHECK(through(0x1.8p-15f) == 0x1p-14f);
  CHECK(through(0x1p-15f) == 0);
  CHECK(through(-0x1p-30f) == 0);
}

TEST_CASE("16-bit weights: biases stay as they are, and what follows the panels is in its place") {
  const dense_layer layer(ordinary());
  REQUIRE(layer.is_half());
  const nsk::variant_view v = layer.model.variant();
  const std::size_t bytes = gpu::half_weights::required_bytes(v, layer.how);
  // 12 bytes of a constant; [24 biases][4][24] as one panel; the pad.
  CHECK(bytes == 64 + (24 * 4 + 4 * 24 * 2 + 63) / 64 * 64 + 64);
  aligned_bytes packed(bytes);
  CHECK(gpu::half_weights::write(v, layer.how, {packed.data(), bytes - 1}).code() ==
        gpu::status_code::too_little_memory);
  CHECK(gpu::half_weights::write(v, {}, packed.span()).code() == gpu::status_code::not_ready);
  REQUIRE(gpu::half_weights::write(v, layer.how, packed.span()));
  const auto whole = [&](std::size_t at) {
    float x;
    std::memcpy(&x, packed.data() + at, sizeof x);
    return x;
  };
  CHECK(whole(8) == 7.0f);
  const std::byte* const from = layer.model.weights().data() + v.step(0).input(1).buffer_offset();
  CHECK(std::memcmp(packed.data() + 64, from, 24 * 4) == 0);
  for (std::size_t i = 0; i < 96; ++i) {
    std::uint16_t half;
    std::memcpy(&half, packed.data() + 64 + 24 * 4 + 2 * i, sizeof half);
    float x;
    std::memcpy(&x, from + (24 + i) * 4, sizeof x);
    CAPTURE(i);
    CHECK(half == gpu::impl::half_of(x));
  }
}

TEST_CASE("layers whose weights 16-bit floats do not hold keep 32 bits") {
  std::vector<float> w = ordinary();
  CHECK(dense_layer(w).is_half());
  for (const float x : {65505.0f, -1e9f, INFINITY, NAN}) {
    CAPTURE(x);
    w = ordinary();
    w[33] = x;
    CHECK_FALSE(dense_layer(w).is_half());
  }
  w = ordinary();
  w[33] = 1e-7f;  // beside others of its channel it is nothing
  CHECK(dense_layer(w).is_half());
  for (std::size_t k = 0; k < 4; ++k) w[k * 20 + 13] = 1e-5f;  // a whole channel
  CHECK_FALSE(dense_layer(w).is_half());
  for (std::size_t k = 0; k < 4; ++k) w[k * 20 + 13] = 0;
  CHECK(dense_layer(w).is_half());
}

TEST_CASE("panels that two layers read in different shapes keep 32 bits") {
  const dense_layer layer(ordinary(), true);
  CHECK_FALSE(layer.is_half());
}

TEST_CASE("a plan of 16-bit weights reads fewer bytes, and its session refuses the section of the file") {
  const cnn_sample sample = make_cnn();
  const aligned_bytes file = sample.plan.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  gpu::plan_settings how;
  gpu::plan plan[2];
  aligned_bytes space[2];
  for (const int i : {0, 1}) {
    if (i == 1) how.half_weights = model.weights();
    space[i] = aligned_bytes(gpu::plan::required_bytes(model.variant(), how));
    REQUIRE(gpu::plan::make(model.variant(), how, space[i].span(), plan[i]));
  }
  CHECK(plan[0].weight_bytes() == 0);
  CHECK(plan[1].weight_bytes() == gpu::half_weights::required_bytes(model.variant(), how));
  CHECK(plan[1].traffic().constants < plan[0].traffic().constants);
  CHECK(plan[1].traffic().activations() == plan[0].traffic().activations());
  CHECK(plan[1].barrier_count() == plan[0].barrier_count());
  null_device device;
  aligned_bytes memory(gpu::session<null_device>::required_bytes(plan[1]));
  const auto made = [&](std::size_t bytes) {
    return gpu::session<null_device>(device, plan[1], {{1, bytes}, {2, plan[1].required_arena_bytes()}}, bytes,
                                     memory.span())
        .status()
        .code();
  };
  CHECK(made(model.weights().size()) == gpu::status_code::bad_gpu_buffer);
  CHECK(made(plan[1].weight_bytes()) == gpu::status_code::ok);
}
