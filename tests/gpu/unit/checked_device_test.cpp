// SPDX-License-Identifier: MIT
// checked_device objects to every broken rule, and to nothing else.
#include <netsuke/image.hpp>

#include "../../model/recurrent_plan.hpp"
#include "../null_support.hpp"

using namespace test;
namespace gpu = nsk::gpu;

namespace {

using checked = gpu::checked_device<null_device>;

/// A device with a pipeline and bound buffers of 256 and 1024 bytes, of which no session told.
struct recording {
  null_device null;
  checked device{null};
  null_device::list list;
  null_device::buffer weights, arena;
  null_device::texture read{1}, written{2};
  checked::pipeline pipeline = 0, from_texture = 0, to_texture = 0;
  std::uint32_t constants[64] = {};
  recording() {
    REQUIRE(null.create_buffer(256, false, weights));
    REQUIRE(null.create_buffer(1024, false, arena));
    REQUIRE(device.create_pipeline({gpu::kernel::copy, {}}, pipeline));
    REQUIRE(device.create_pipeline({gpu::kernel::texture_to_tensor, {}}, from_texture));
    REQUIRE(device.create_pipeline({gpu::kernel::tensor_to_texture, {}}, to_texture));
    bind();
  }
  void bind() { device.bind(list, {weights, arena, read, written}); }
  void dispatch(int count = 4, std::uint32_t x = 1, std::uint32_t y = 1, std::uint32_t z = 1) {
    device.dispatch(list, pipeline, constants, count, {x, y, z});
  }
  /// Records a texture of width x 1 texels, RGB, to or from a word of the arena.
  void dispatch_texture(checked::pipeline p, std::uint32_t word, std::uint32_t width) {
    gpu::texture_constants t;
    t.y = word, t.size = 1 | width << 16, t.flags = static_cast<std::uint32_t>(nsk::channel_order::rgb);
    std::memcpy(constants, static_cast<const void*>(&t), sizeof t);
    device.dispatch(list, p, constants, sizeof t / 4, {1, 1, 1});
  }
  void check_text(const char* part) const {
    CAPTURE(device.violation_text());
    CHECK_FALSE(device.violation());
    CHECK(device.violation().code() == gpu::status_code::device_broken_rule);
    CHECK(std::string(device.violation_text()).find(part) != std::string::npos);
  }
};

}

TEST_CASE("checked_device hands everything on and is content with it") {
  recording r;
  r.dispatch();
  r.device.barrier(r.list);
  r.dispatch(32, 65535, 65535, 65535);
  r.device.barrier(r.list);
  r.device.copy(r.list, r.arena, 0, r.arena, 512, 512);
  r.device.copy(r.list, r.weights, 0, r.arena, 4, 252);
  CHECK_FALSE(r.device.violation());  // the second copy writes what the first one reads
  r.device.clear_violation();
  r.device.barrier(r.list);
  r.dispatch_texture(r.from_texture, 0, 4);
  r.dispatch_texture(r.from_texture, 12, 4);
  r.dispatch_texture(r.to_texture, 24, 4);
  CHECK(r.device.violation());
  CHECK(std::string(r.device.violation_text()).empty());
  CHECK(r.null.counts.dispatches == 5);
  CHECK(r.null.counts.barriers == 3);
  CHECK(r.null.counts.copies == 2);
  CHECK(r.null.counts.binds == 1);
}

TEST_CASE("checked_device objects to each broken rule of a dispatch") {
  recording r;
  const std::uint64_t handed_on = r.null.counts.dispatches;
  SUBCASE("constants") { r.dispatch(33), r.check_text("32 constants"); }
  SUBCASE("negative constants") { r.dispatch(-1), r.check_text("32 constants"); }
  SUBCASE("no groups") { r.dispatch(4, 1, 0, 1), r.check_text("groups"); }
  SUBCASE("too many groups") { r.dispatch(4, 1, 1, 65536), r.check_text("groups"); }
  SUBCASE("null pipeline") { r.pipeline = 0, r.dispatch(), r.check_text("pipeline that was not made"); }
  SUBCASE("destroyed pipeline") {
    r.device.loading();
    r.device.destroy_pipeline(r.pipeline);
    r.dispatch();
    r.check_text("pipeline that was not made");
  }
  SUBCASE("no bind") {
    checked other(r.null);
    checked::pipeline p = 0;
    REQUIRE(other.create_pipeline({gpu::kernel::copy, {}}, p));
    other.dispatch(r.list, p, r.constants, 4, {1, 1, 1});
    CHECK(std::string(other.violation_text()).find("before the first bind") != std::string::npos);
  }
  SUBCASE("port outside the arena") { r.dispatch_texture(r.from_texture, 0, 86), r.check_text("leaves the arena"); }
  SUBCASE("port far outside the arena") {
    r.dispatch_texture(r.to_texture, 0xffffffff, 0xffffffff), r.check_text("leaves the arena");
  }
  SUBCASE("texture of another format") {
    r.written.is_rgba8 = 0, r.bind();
    r.dispatch_texture(r.to_texture, 0, 4), r.check_text("RGBA");
  }
  SUBCASE("read texture of another format") {
    r.read.is_rgba8 = 0, r.bind();
    r.dispatch_texture(r.from_texture, 0, 4), r.check_text("RGBA");
  }
  SUBCASE("no texture") {
    r.read = {}, r.bind();
    r.read.is_rgba8 = 1;
    r.dispatch_texture(r.from_texture, 0, 4), r.check_text("no texture");
  }
  CHECK(r.null.counts.dispatches == handed_on);
}

TEST_CASE("checked_device objects to null buffers") {
  recording r;
  SUBCASE("weights") { r.weights = {}, r.bind(), r.check_text("null buffer"); }
  SUBCASE("arena") { r.arena = {}, r.bind(), r.check_text("null buffer"); }
  SUBCASE("copy from") { r.device.copy(r.list, {}, 0, r.arena, 0, 4), r.check_text("null buffer"); }
  SUBCASE("copy to") { r.device.copy(r.list, r.arena, 0, {}, 0, 4), r.check_text("null buffer"); }
}

TEST_CASE("checked_device objects to copies that are no whole words inside their buffers") {
  recording r;
  const auto copy = [&](std::size_t from, std::size_t to, std::size_t bytes) {
    r.device.copy(r.list, r.arena, from, r.weights, to, bytes);
  };
  SUBCASE("misaligned source") { copy(2, 0, 4), r.check_text("multiples of 4"); }
  SUBCASE("misaligned target") { copy(0, 1, 4), r.check_text("multiples of 4"); }
  SUBCASE("misaligned size") { copy(0, 0, 6), r.check_text("multiples of 4"); }
  SUBCASE("empty") { copy(0, 0, 0), r.check_text("empty"); }
  SUBCASE("source") { copy(1020, 0, 8), r.check_text("leaves its buffers"); }
  SUBCASE("target") { copy(0, 252, 8), r.check_text("leaves its buffers"); }
  SUBCASE("wraps") { copy(~std::size_t{3}, 0, 8), r.check_text("leaves its buffers"); }
  SUBCASE("overlap") { r.device.copy(r.list, r.arena, 0, r.arena, 4, 8), r.check_text("overlaps"); }
  CHECK(r.null.counts.copies == 0);
}

TEST_CASE("checked_device objects to hazards between copies, dispatches and textures") {
  recording r;
  SUBCASE("two dispatches that it does not know") { r.dispatch(), r.dispatch(), r.check_text("barrier is missing"); }
  SUBCASE("copy into what is read") {
    r.device.copy(r.list, r.arena, 0, r.weights, 0, 16);
    r.device.copy(r.list, r.weights, 12, r.arena, 512, 16);
    r.check_text("barrier is missing");
  }
  SUBCASE("copy into weights, then a dispatch") {
    r.device.copy(r.list, r.arena, 0, r.weights, 0, 16), r.dispatch(), r.check_text("barrier is missing");
  }
  SUBCASE("two ports that share a word") {
    r.dispatch_texture(r.from_texture, 0, 4), r.dispatch_texture(r.to_texture, 11, 4);
    r.check_text("barrier is missing");
  }
  SUBCASE("a texture written and read") {
    r.read = r.written, r.bind();
    r.dispatch_texture(r.to_texture, 0, 4), r.dispatch_texture(r.from_texture, 100, 4);
    r.check_text("barrier is missing");
  }
  SUBCASE("more than it can remember") {
    for (std::uint32_t i = 0; i < 129; ++i) r.device.copy(r.list, r.weights, 0, r.arena, i * 4, 4);
    r.check_text("too many");
  }
  CHECK(r.null.counts.dispatches + r.null.counts.copies >= 2);  // a hazard is handed on
}

TEST_CASE("checked_device objects to pipelines that are made or destroyed while lists run") {
  recording r;
  checked::pipeline p = 0;
  SUBCASE("made") {
    CHECK(r.device.create_pipeline({gpu::kernel::copy, {}}, p).code() == gpu::status_code::device_broken_rule);
    r.check_text("made after");
  }
  SUBCASE("destroyed") { r.device.destroy_pipeline(r.pipeline), r.check_text("destroyed after"); }
  SUBCASE("twice") {
    r.device.loading();
    r.device.destroy_pipeline(r.pipeline), r.device.destroy_pipeline(r.pipeline), r.check_text("twice");
  }
  SUBCASE("while loading") {
    r.device.loading();
    CHECK(r.device.create_pipeline({gpu::kernel::copy, {}}, p));
    r.device.destroy_pipeline(p);
    CHECK(r.device.violation());
  }
  SUBCASE("too many") {
    r.device.loading();
    while (r.device.create_pipeline({gpu::kernel::copy, {}}, p)) {
    }
    r.check_text("512");
    CHECK(r.null.counts.pipelines_made == 512);
  }
}

TEST_CASE("checked_device keeps the first violation, with the number of the dispatch in its plan") {
  const aligned_bytes file = make_cnn().plan.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  null_device null;
  checked_null device(null);
  headless<checked_null> net(device);
  REQUIRE(net.open(model));
  REQUIRE(net.run());
  CHECK(device.violation());
  device.barriers = 0;
  device.skipped_barrier = 2;
  REQUIRE(net.run());
  CHECK(device.violation().where() == cnn_sample::point_step);
  device.copy(null.begin(), net.arena(), 1, net.arena(), 0, 4);
  CHECK(device.violation().where() == cnn_sample::point_step);
  device.clear_violation();
  device.copy(null.begin(), net.arena(), 1, net.arena(), 0, 4);
  CHECK(device.violation().where() == -1);
  device.loading();
}

TEST_CASE("checked_device objects to an arena that is smaller than its plan") {
  const aligned_bytes file = make_cnn().plan.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  null_device null;
  checked device(null);
  aligned_bytes space(gpu::plan::required_bytes(model.variant())), memory(4096);
  gpu::plan plan;
  REQUIRE(gpu::plan::make(model.variant(), {}, space.span(), plan));
  null_device::buffer weights, arena;
  std::size_t weight_bytes = model.weights().size(), arena_bytes = plan.required_arena_bytes();
  bool fits = false;
  SUBCASE("both fit") { fits = true; }
  SUBCASE("arena") { arena_bytes -= 4; }
  SUBCASE("weights") { weight_bytes -= 4; }
  REQUIRE(null.create_buffer(weight_bytes, false, weights));
  REQUIRE(null.create_buffer(arena_bytes, false, arena));
  gpu::session<checked> session(device, plan, {weights, arena}, model.weights().size(), memory.span());
  REQUIRE(session.record(null.begin()));
  CHECK(static_cast<bool>(device.violation()) == fits);
  CHECK((null.counts.dispatches != 0) == fits);
  device.loading();
}

TEST_CASE("checked_device objects to every barrier that is left out") {
  const auto needed = [](const plan_spec& p) {
    const aligned_bytes file = p.write();
    nsk::model model;
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    return count_needed_barriers(model);
  };
  CHECK(needed(make_cnn().plan) == cnn_sample::steps - 2);
  CHECK(needed(make_mixed()) == 9);  // two of them inside its convolution by Winograd
  CHECK(needed(make_recurrent(false, true)) == 2);
  CHECK(needed(make_recurrent(true, false)) == 2);
}

TEST_CASE("a session that ends is forgotten, and what it recorded counts as everything") {
  const aligned_bytes file = make_cnn().plan.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  null_device null;
  checked_null device(null);
  for (int i = 0; i < 40; ++i) {
    device.loading();
    headless<checked_null> net(device);
    REQUIRE(net.open(model));
    REQUIRE(net.run());
    CHECK(device.violation());
    device.loading();
  }
  CHECK(null.counts.pipelines_made == null.counts.pipelines_destroyed);
  CHECK(null.counts.buffers_made == null.counts.buffers_destroyed);
}

TEST_CASE("checked_device knows random steps by their place in the plan, and directions that need no barrier") {
  plan_spec p = make_lstm();
  const std::uint32_t noise = p.add_output("noise", {1, 6}, 1, 2);
  p.add_step(format::Operator::Random, {}, noise);
  for (buffer_spec& b : p.buffers) b.last_step = b.storage == format::Storage::constant ? 0 : 2;
  const aligned_bytes file = p.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  null_device null;
  checked_null device(null);
  headless<checked_null> net(device);
  REQUIRE(net.open(model));
  REQUIRE(net.plan().dispatch_count() == 3);
  CHECK(net.plan().barrier_count() == 0);
  REQUIRE(net.run());
  CAPTURE(device.violation_text());
  CHECK(device.violation());
  device.loading();
}
