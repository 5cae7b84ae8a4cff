// SPDX-License-Identifier: MIT
// What fails gives a status and leaves nothing behind; what does not fail takes nothing from the heap and makes
// nothing.
#include "../null_support.hpp"
#include "resources.hpp"

using namespace test;
namespace gpu = nsk::gpu;
using gpu::status_code;

namespace {

struct opened_sample {
  aligned_bytes file = make_cnn().plan.write();
  nsk::model model;
  opened_sample() { REQUIRE(nsk::open({file.data(), file.size()}, model)); }
};

}

TEST_CASE("a refused pipeline ends the session, whichever it is, and those made before it are destroyed") {
  const opened_sample sample;
  const std::size_t all = [&] {
    null_device device;
    headless<null_device> net(device);
    REQUIRE(net.open(sample.model));
    return net.plan().pipelines().size();
  }();
  REQUIRE(all >= 5);
  for (const status_code why : {status_code::pipeline_refused, status_code::out_of_memory, status_code::device_lost}) {
    for (std::size_t i = 0; i < all; ++i) {
      null_device device;
      device.refused_pipeline = i;
      device.refusal = why;
      {
        headless<null_device> net(device);
        const gpu::status s = net.open(sample.model);
        CHECK(s.code() == why);
        CHECK(s.where() == static_cast<int>(i));
        CHECK(net.session().record(device.begin()).code() == why);
        CHECK(net.session().reset(device.begin()).code() == why);
      }
      CHECK(device.counts.pipelines_made == i);
      CHECK(device.counts.pipelines_destroyed == i);
      CHECK(device.counts.buffers_made == device.counts.buffers_destroyed);
      CHECK(device.counts.dispatches == 0);
    }
  }
}

TEST_CASE("a device without memory, and one that is lost, give a status and lose nothing of ours") {
  const opened_sample sample;
  null_device device;
  {
    headless<null_device> net(device);
    device.full = status_code::out_of_memory;
    CHECK(net.open(sample.model).code() == status_code::out_of_memory);
  }
  device.full = {};
  {
    headless<null_device> net(device);
    REQUIRE(net.open(sample.model));
    device.lost = status_code::device_lost;
    CHECK(net.run().code() == status_code::device_lost);
  }
  CHECK(device.counts.pipelines_made == device.counts.pipelines_destroyed);
  CHECK(device.counts.buffers_made == device.counts.buffers_destroyed);
}

TEST_CASE("weights or an arena over the device's limit are refused before anything is made") {
  const opened_sample sample;
  null_device device;
  device.max_binding_bytes = sample.model.weights().size() - 1;
  headless<null_device> net(device);
  CHECK(net.open(sample.model).code() == status_code::too_large);
  CHECK(device.counts.pipelines_made == 0);
}

TEST_CASE("planning and recording take nothing from the heap, and nothing is made after a session is") {
  const opened_sample sample;
  null_device device;
  headless<null_device> net(device);
  REQUIRE(net.open(sample.model));
  aligned_bytes space(gpu::plan::required_bytes(sample.model.variant()));
  const auto made = [&] { return device.counts.pipelines_made + device.counts.buffers_made; };
  const std::uint64_t before = made();
  const long heap = heap_calls;
  gpu::plan plan;
  gpu::pipeline_key keys[64];
  bool good = static_cast<bool>(gpu::plan::make(sample.model.variant(), {}, {space.data(), space.size()}, plan));
  good = good && gpu::required_pipelines(sample.model.variant(), keys) > 0;
  bool done = false;
  for (int i = 0; i < 100; ++i) {
    good = good && net.session().record(device.begin()) && net.session().reset(device.begin());
    good = good && net.session().record_for(device.begin(), nsk::work{1000}, done);
    good = good && net.session().record(device.begin(), 0, 2);
  }
  CHECK(heap_calls == heap);
  CHECK(good);
  CHECK(made() == before);
  CHECK(device.counts.pipelines_destroyed == 0);
}

TEST_CASE("panels that are not aligned for four floats at once are refused") {
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, 2, 8}, 2), z = p.add_input("z", {1, 8, 8}, 2);
  const std::uint32_t buffer = p.add_buffer(format::Storage::arena, 128 * 4, 0, 1);
  const std::uint32_t panels = p.add_tensor("panels", {1, 72}, buffer), y = p.add_output("y", {1, 2, 8}, 1, 2);
  p.add_step(format::Operator::PackPanels, {z}, panels, "pack");
  p.add_step(format::Operator::MatMul, {x, panels}, y, "multiply");
  for (const bool aligned : {true, false}) {
    p.tensors[panels].offset = aligned ? 16 : 4;
    const aligned_bytes file = p.write();
    nsk::model model;
    if (!nsk::open({file.data(), file.size()}, model)) continue;  // the engine refuses it already
    CHECK((gpu::why_no_shader(model.variant(), 1) == nullptr) == aligned);
  }
}

TEST_CASE("checked_device knows dispatches whose random source the session has set") {
  plan_spec p;
  const std::uint32_t a = p.add_output("a", {3, 40}, 0, 2), b = p.add_output("b", {3, 40}, 1, 2);
  p.add_step(format::Operator::Random, {}, a, "first");
  p.add_step(format::Operator::Random, {}, b, "second").stream = 1;
  const aligned_bytes file = p.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  null_device null;
  checked_null device(null);
  headless<checked_null> net(device);
  REQUIRE(net.open(model));
  REQUIRE(net.run());
  CHECK(net.plan().barrier_count() == 0);
  CHECK(device.violation());
  device.loading();
}
