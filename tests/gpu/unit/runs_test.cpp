// SPDX-License-Identifier: MIT
// Sessions, rings and self-tests without a device: what is recorded, what is copied, and what is refused.
#include <doctest/doctest.h>
#include <netsuke/gpu.hpp>
#include <netsuke/gpu/read_back_ring.hpp>
#include <netsuke/gpu/selftest.hpp>
#include <netsuke/netsuke.hpp>

#include "../../model/policy_plan.hpp"
#include "../../model/sample_plans.hpp"
#include "devices/null.hpp"

using namespace test;
namespace gpu = nsk::gpu;
using code = nsk::gpu::status_code;

namespace {

/// A model, its plan and a session on the null device.
struct recorded {
  explicit recorded(const plan_spec& p, gpu::plan_settings how = {}) : file(p.write()) {
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    space = aligned_bytes(gpu::plan::required_bytes(model.variant(), how));
    status = gpu::plan::make(model.variant(), how, space.span(), plan);
    if (status) open();
  }
  void open() {
    memory = aligned_bytes(gpu::session<null_device>::required_bytes(plan));
    net = {device,
           plan,
           {{1, model.weights().size()}, {2, plan.required_arena_bytes()}},
           model.weights().size(),
           memory.span()};
    status = net.status();
  }
  aligned_bytes file, space, memory;
  nsk::model model;
  gpu::plan plan;
  null_device device;
  null_device::list list;
  gpu::session<null_device> net;
  gpu::status status;
};

}

TEST_CASE("a frame copies a small output to the CPU, and nothing else") {
  gpu::plan_settings how;
  how.texture_inputs = true;
  recorded r(make_cnn().plan, how);
  REQUIRE(r.status);
  const auto before = r.device.counts;
  for (int frame = 0; frame < 3; ++frame) {
    REQUIRE(r.net.write_input(r.list, 0, {7, 1}, 640, 480, {}));
    REQUIRE(r.net.record(r.list));
    REQUIRE(r.net.copy_output(r.list, 0, {3, 64}, 0));
  }
  const auto& after = r.device.counts;
  CHECK(after.copies - before.copies == 3);
  CHECK(after.copied_bytes - before.copied_bytes == 3 * 10 * 4);
  CHECK(after.dispatches - before.dispatches == static_cast<std::uint64_t>(3 * (1 + r.plan.dispatch_count())));
  CHECK(after.written_bytes == before.written_bytes);
  CHECK(after.read_bytes == before.read_bytes);
  CHECK(after.pipelines_made == before.pipelines_made);
  CHECK(after.buffers_made == before.buffers_made);
}

TEST_CASE("slices record every dispatch once, and the last one says so") {
  recorded r(make_cnn().plan);
  REQUIRE(r.status);
  for (const std::uint64_t work : {std::uint64_t{1}, std::uint64_t{20000}, ~std::uint64_t{0}}) {
    const auto before = r.device.counts.dispatches;
    int slices = 0;
    for (bool done = false; !done; ++slices) REQUIRE(r.net.record_for(r.list, nsk::work{work}, done));
    CHECK(r.device.counts.dispatches - before == static_cast<std::uint64_t>(r.plan.dispatch_count()));
    CHECK(r.net.next_dispatch() == 0);
    if (work == 1) CHECK(slices == r.plan.dispatch_count());
    if (work > 20000) CHECK(slices == 1);
  }
  bool done = true;
  REQUIRE(r.net.record_for(r.list, nsk::work{1}, done));
  CHECK_FALSE(done);
  CHECK(r.net.next_dispatch() == 1);
  REQUIRE(r.net.reset(r.list));
  CHECK(r.net.next_dispatch() == 0);
  CHECK(r.net.record(r.list, 1, r.plan.dispatch_count()).code() == code::bad_range);
}

TEST_CASE("a step of two dispatches is paid once") {
  plan_spec p;
  noise random(2);
  const std::uint32_t x = p.add_input("x", {1, 512}, 1), y = p.add_output("y", {1, 64}, 0, 1);
  p.add_step(format::Operator::FullyConnected, {x, p.add_panels("w", random.many(512 * 64), random.many(64))}, y).macs =
      512 * 64;
  recorded r(p);
  REQUIRE(r.status);
  REQUIRE(r.plan.dispatch_count() == 2);
  bool done = false;
  REQUIRE(r.net.record_for(r.list, nsk::work{512 * 64 + 1}, done));
  CHECK(done);
}

TEST_CASE("weights and arenas that a device cannot bind are refused when a session is made") {
  recorded r(make_cnn().plan);
  REQUIRE(r.status);
  const std::uint64_t weights = r.model.weights().size(), arena = r.plan.required_arena_bytes();
  const std::uint64_t larger = weights > arena ? weights : arena;
  r.device.max_binding_bytes = larger;
  r.open();
  CHECK(r.status);
  const auto made = r.device.counts.pipelines_made;
  r.device.max_binding_bytes = larger - 1;
  r.open();
  CHECK(r.status.code() == code::too_large);
  CHECK(r.device.counts.pipelines_made == made);
  CHECK(r.net.record(r.list).code() == code::too_large);
}

TEST_CASE("arenas that a shader cannot count to are refused when planning") {
  plan_spec p = make_cnn().plan;
  p.arena_bytes = (std::uint64_t{4} << 32) + 64;
  CHECK(recorded(p).status.code() == code::too_large);
  p.arena_bytes = std::uint64_t{4} << 32;
  CHECK(recorded(p).status.code() == code::too_large);  // only for the null device's 128 MiB
  recorded fits(p);
  CHECK(fits.plan.is_ready());
}

TEST_CASE("rows that a variant does not compute are refused, and copies have the rows of the plan") {
  gpu::plan_settings how;
  for (const std::int32_t rows : {-1, policy_rows + 1}) {
    how.rows = rows;
    const recorded r(make_policy(), how);
    CHECK(r.status.code() == code::rows_out_of_range);
    CHECK(r.status.where() == rows);
  }
  how.rows = 1;
  CHECK(recorded(make_cnn().plan, how).status.code() == code::rows_out_of_range);
  how.hybrid = true;
  for (const std::int32_t rows : {1, 4, 0}) {
    how.rows = rows;
    recorded r(make_policy(), how);
    REQUIRE(r.status);
    const std::uint64_t before = r.device.counts.copied_bytes,
                        count = rows == 0 ? policy_rows : static_cast<std::uint64_t>(rows);
    REQUIRE(r.net.copy_input(r.list, 0, {3, 1024}, 0));
    REQUIRE(r.net.copy_output(r.list, 0, {3, 1024}, 0));
    CHECK(r.device.counts.copied_bytes - before == count * (5 + 20) * 4);
  }
}

TEST_CASE("states are saved and loaded by one copy each") {
  recorded r(make_recurrent(false, true));
  REQUIRE(r.status);
  CHECK(r.net.state_bytes() == 24);
  const auto before = r.device.counts;
  REQUIRE(r.net.save(r.list, {3, 64}, 4));
  REQUIRE(r.net.load(r.list, {3, 64}, 4));
  CHECK(r.device.counts.copies - before.copies == 2);
  CHECK(r.device.counts.copied_bytes - before.copied_bytes == 48);
  CHECK(r.device.counts.barriers - before.barriers == 2);
  CHECK(r.net.save(r.list, {3, 64}, 2).code() == code::misaligned_offset);
}

TEST_CASE("a ring hands out the newest complete frame and never overwrites it") {
  recorded r(make_cnn().plan);
  REQUIRE(r.status);
  CHECK(gpu::read_back_ring<null_device>::required_bytes(r.plan, 1) == 40);
  CHECK(gpu::read_back_ring<null_device>::required_bytes(r.plan, 3, 0) == 0);
  gpu::read_back_ring<null_device> ring(r.plan, {5, 200}, 4, gpu::all_outputs, 8);
  CHECK(ring.newest() == nullptr);
  REQUIRE(ring.record(r.list, r.net, 1));
  REQUIRE(ring.record(r.list, r.net, 2));
  CHECK(ring.record(r.list, r.net, 2).code() == code::bad_range);
  CHECK(ring.newest() == nullptr);
  ring.complete(1);
  const auto* slot = ring.newest();
  REQUIRE(slot != nullptr);
  CHECK(slot->frame == 1);
  CHECK(slot->offset == 8);
  // Frame 1 is read, 2 waits: two slots are free.
  REQUIRE(ring.record(r.list, r.net, 3));
  REQUIRE(ring.record(r.list, r.net, 4));
  const auto copies = r.device.counts.copies;
  CHECK(ring.record(r.list, r.net, 5).code() == code::no_free_slot);
  CHECK(r.device.counts.copies == copies);
  ring.complete(3);
  // Frame 3 is the newest, 1 is still held, 4 waits: only the slot of frame 2 is free.
  REQUIRE(ring.record(r.list, r.net, 6));
  CHECK(ring.record(r.list, r.net, 7).code() == code::no_free_slot);
  CHECK(slot->frame == 1);
  slot = ring.newest();
  REQUIRE(slot != nullptr);
  CHECK(slot->frame == 3);
  REQUIRE(ring.record(r.list, r.net, 7));
  ring.complete(2);  // tells nothing new
  CHECK(ring.newest()->frame == 3);
  ring.complete(100);
  CHECK(ring.newest()->frame == 7);
  ring.clear();
  CHECK(ring.newest() == nullptr);
  REQUIRE(ring.record(r.list, r.net, 1));
}

TEST_CASE("with two slots more than frames in flight a ring never runs out") {
  recorded r(make_cnn().plan);
  REQUIRE(r.status);
  constexpr std::uint64_t in_flight = 3;
  gpu::read_back_ring<null_device> ring(r.plan, {5, 200}, in_flight + 2);
  for (std::uint64_t frame = 1; frame < 100; ++frame) {
    if (frame > in_flight) ring.complete(frame - in_flight);
    if (frame % 7 != 0) static_cast<void>(ring.newest());
    CHECK(ring.record(r.list, r.net, frame));
  }
}

TEST_CASE("a ring of one slot, or of too many, is refused; a slot holds the outputs of its set") {
  gpu::plan_settings how;
  how.hybrid = true;
  recorded r(make_policy(), how);
  REQUIRE(r.status);
  gpu::read_back_ring<null_device> one(r.plan, {5, 4096}, 1), many(r.plan, {5, 4096}, 17);
  CHECK(one.record(r.list, r.net, 1).code() == code::bad_gpu_buffer);
  CHECK(many.record(r.list, r.net, 1).code() == code::bad_gpu_buffer);
  const gpu::output_set some = 1u << 1 | 1u << 2;  // action and mean, of six rows
  gpu::read_back_ring<null_device> ring(r.plan, {5, 4096}, 2, some);
  CHECK(gpu::read_back_ring<null_device>::required_bytes(r.plan, 1, some) == 6 * 8 + 6 * 4);
  CHECK(ring.offset_of(1) == 0);
  CHECK(ring.offset_of(2) == 48);
  const auto before = r.device.counts.copied_bytes;
  REQUIRE(ring.record(r.list, r.net, 1));
  CHECK(r.device.counts.copied_bytes - before == 72);
}

TEST_CASE("the self-test refuses files without check vectors, small buffers and hybrid plans") {
  const auto test_of = [](recorded& r, std::size_t up, std::size_t down) {
    aligned_bytes upload(up), read_back(down);
    return gpu::selftest(r.net, {{3, up}, upload.span(), {4, down}, read_back.span()},
                         [&](auto&& record) -> gpu::status { return record(r.list); })
        .code();
  };
  recorded none(make_cnn().plan);
  CHECK(test_of(none, 1 << 20, 1 << 20) == code::no_check_vectors);
  plan_spec p = make_cnn().plan;
  p.checks.push_back({{std::vector<std::uint8_t>(8 * 8 * 3 * 4)}, {std::vector<std::uint8_t>(40, 1)}, 0});
  recorded r(p);
  REQUIRE(r.status);
  const std::size_t up = gpu::selftest_buffers<null_device>::required_upload_bytes(r.plan),
                    down = gpu::selftest_buffers<null_device>::required_read_back_bytes(r.plan);
  CHECK(down == 40);
  CHECK(test_of(r, up - 1, down) == code::bad_gpu_buffer);
  CHECK(test_of(r, up, down - 1) == code::bad_gpu_buffer);
  CHECK(test_of(r, up, down) == code::check_failed);  // the null device computes nothing
  gpu::plan_settings how;
  how.hybrid = true;
  how.cpu_operators = ~std::uint64_t{0};
  recorded parts(p, how);
  REQUIRE(parts.status);
  CHECK(test_of(parts, 1 << 20, 1 << 20) == code::hybrid_plan);
}
