// SPDX-License-Identifier: MIT
// Hybrid plans without a device: parts, ranges, and what is recorded.
#include <doctest/doctest.h>
#include <netsuke/gpu.hpp>
#include <netsuke/gpu/hybrid.hpp>
#include <netsuke/netsuke.hpp>

#include "../../model/sample_plans.hpp"
#include "../cpu_session.hpp"
#include "devices/null.hpp"

using namespace test;
namespace gpu = nsk::gpu;

namespace {

constexpr std::uint64_t bit(nsk::op o) { return std::uint64_t{1} << static_cast<int>(o); }

struct planned {
  planned(const plan_spec& p, const gpu::plan_settings& how) : file(p.write()) {
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    space = aligned_bytes(gpu::plan::required_bytes(model.variant(), how));
    status = gpu::plan::make(model.variant(), how, space.span(), plan);
  }
  aligned_bytes file, space;
  nsk::model model;
  gpu::plan plan;
  gpu::status status;
};

gpu::plan_settings hybrid(std::uint64_t cpu_operators) {
  gpu::plan_settings how;
  how.hybrid = true;
  how.cpu_operators = cpu_operators;
  return how;
}

}

TEST_CASE("a plan with steps on the CPU is refused unless the settings allow it") {
  gpu::plan_settings how;
  how.max_winograd_bytes = 4;
  const planned refused(make_mixed(), how);  // its first step is a convolution by Winograd
  CHECK(refused.status.code() == gpu::status_code::no_shader);
  CHECK(refused.status.where() == 0);
  how.hybrid = true;
  const planned allowed(make_mixed(), how);
  REQUIRE(allowed.status);
  CHECK(allowed.plan.cpu_step_count() == 1);
  REQUIRE(allowed.plan.cpu_part_count() == 1);
  const gpu::cpu_part_view part = allowed.plan.cpu_part(0);
  CHECK(part.first_step == 0);
  CHECK(part.step_count == 1);
  CHECK(part.read_back_bytes() == 6 * 6 * 8 * 4);
  CHECK(part.upload_bytes() == 6 * 6 * 16 * 4);
  CHECK(allowed.plan.part_begin(0) == 0);
  CHECK(allowed.plan.part_end(0) == 0);
  CHECK(allowed.plan.part_begin(1) == 1);
  CHECK(allowed.plan.part_end(1) == allowed.plan.dispatch_count());
}

TEST_CASE("only what crosses the border is copied, and gaps go both ways") {
  // The convolution writes 24 of 40 channels: the other 16 have to come back with it.
  const planned p(make_cnn().plan, hybrid(bit(nsk::op::conv_2d)));
  REQUIRE(p.status);
  REQUIRE(p.plan.cpu_part_count() == 2);
  const std::size_t wide = (8 * 8 * 40 - 16) * 4;  // without the last pixel's other channels
  CHECK(p.plan.cpu_part(0).read_back_bytes() == 8 * 8 * 3 * 4 + (7 * 10 + 8) * 16 * 4);
  CHECK(p.plan.cpu_part(0).upload_bytes() == (7 * 10 + 8) * 16 * 4);  // rows with their borders
  CHECK(p.plan.cpu_part(1).read_back_bytes() == 8 * 8 * 16 * 4 + wide);
  CHECK(p.plan.cpu_part(1).upload_bytes() == wide);
  CHECK(p.plan.required_read_back_bytes() == 8 * 8 * 16 * 4 + wide);
}

TEST_CASE("what a part makes and uses itself does not cross the border") {
  const planned p(make_cnn().plan, hybrid(~std::uint64_t{0}));
  REQUIRE(p.status);
  REQUIRE(p.plan.cpu_part_count() == 1);
  CHECK(p.plan.cpu_part(0).read_back_bytes() == 8 * 8 * 3 * 4);
  CHECK(p.plan.cpu_part(0).upload_bytes() == 10 * 4);
  CHECK(p.plan.cpu_part(0).read_back.size() == 1);
}

TEST_CASE("parts are recorded with their copies and nothing else; a whole inference is refused") {
  planned p(make_cnn().plan, hybrid(bit(nsk::op::conv_2d)));
  REQUIRE(p.status);
  null_device device;
  null_device::buffer weights, arena;
  gpu::staging_buffers<null_device> staging;
  REQUIRE(device.create_buffer(p.model.weights().size(), false, weights));
  REQUIRE(device.create_buffer(p.plan.required_arena_bytes(), false, arena));
  REQUIRE(device.create_buffer(p.plan.required_upload_bytes(), true, staging.upload));
  REQUIRE(device.create_buffer(p.plan.required_read_back_bytes(), true, staging.read_back));
  aligned_bytes memory(gpu::session<null_device>::required_bytes(p.plan));
  gpu::session<null_device> net(device, p.plan, {weights, arena}, p.model.weights().size(), memory.span());
  REQUIRE(net);
  null_device::list list;
  CHECK(net.record(list).code() == gpu::status_code::hybrid_plan);
  CHECK(net.record_part(list, -1, staging).code() == gpu::status_code::bad_range);
  CHECK(net.record_part(list, 3, staging).code() == gpu::status_code::bad_range);
  CHECK(device.counts.dispatches == 0);
  const std::size_t copied[] = {p.plan.cpu_part(0).read_back_bytes(),
                                p.plan.cpu_part(0).upload_bytes() + p.plan.cpu_part(1).read_back_bytes(),
                                p.plan.cpu_part(1).upload_bytes()};
  for (int i = 0; i < 3; ++i) {
    const auto before = device.counts;
    REQUIRE(net.record_part(list, i, staging));
    CHECK(device.counts.copied_bytes - before.copied_bytes == copied[i]);
    CHECK(device.counts.dispatches - before.dispatches ==
          static_cast<std::uint64_t>(p.plan.part_end(i) - p.plan.part_begin(i)));
  }
  for (int i = 0; i < 3; ++i)  // a range may be recorded that the CPU has no step in
    CHECK(net.record(list, p.plan.part_begin(i), p.plan.part_end(i) - p.plan.part_begin(i)));
  CHECK(net.record(list, 0, p.plan.part_end(0) + 1).code() == gpu::status_code::hybrid_plan);
  staging.upload_offset = 2;
  CHECK(net.record_part(list, 0, staging).code() == gpu::status_code::misaligned_offset);
}

TEST_CASE("run_cpu refuses another part, memory or buffers that are too small") {
  planned p(make_cnn().plan, hybrid(bit(nsk::op::conv_2d)));
  REQUIRE(p.status);
  aligned_bytes memory(p.model.required_bytes(1)), read_back(p.plan.required_read_back_bytes()),
      upload(p.plan.required_upload_bytes());
  test::cpu_session cpu(p.model, memory.span());
  const auto run = [&](int i, std::size_t arena, std::size_t down, std::size_t up) {
    return gpu::run_cpu(p.plan, i, cpu, {memory.data(), arena}, {read_back.data(), down}, {upload.data(), up}).code();
  };
  using code = gpu::status_code;
  CHECK(run(2, memory.size(), read_back.size(), upload.size()) == code::bad_range);
  CHECK(run(1, memory.size() - 1, read_back.size(), upload.size()) == code::bad_gpu_buffer);
  CHECK(run(1, memory.size(), read_back.size() - 1, upload.size()) == code::bad_gpu_buffer);
  CHECK(run(1, memory.size(), read_back.size(), upload.size() - 1) == code::bad_gpu_buffer);
  CHECK(run(1, memory.size(), read_back.size(), upload.size()) == code::ok);
  test::cpu_session none;
  CHECK(gpu::run_cpu(p.plan, 0, none, memory.span(), read_back.span(), upload.span()).code() == code::not_ready);
}

TEST_CASE("a plan's memory is exactly what plan_bytes says, with and without parts") {
  for (const std::uint64_t operators : {std::uint64_t{0}, bit(nsk::op::conv_2d), ~std::uint64_t{0}}) {
    planned p(make_cnn().plan, hybrid(operators));
    aligned_bytes less(p.space.size() - 1);
    gpu::plan plan;
    CHECK(gpu::plan::make(p.model.variant(), hybrid(operators), less.span(), plan).code() ==
          gpu::status_code::too_little_memory);
    CHECK(p.status);
  }
}
