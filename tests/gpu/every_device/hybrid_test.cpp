// SPDX-License-Identifier: MIT
// Hybrid plans on a device: whichever operators the CPU has to run, the results are those of the CPU.
#include "../../model/policy_plan.hpp"
#include "../device_support.hpp"
#include "devices/headless_hybrid.hpp"

using namespace test;

namespace {

constexpr std::uint64_t bit(nsk::op o) { return std::uint64_t{1} << static_cast<int>(o); }

/// The operators of a variant, as bits.
std::uint64_t operators_of(const nsk::variant_view& v) {
  std::uint64_t bits = 0;
  for (int i = 0; i < v.step_count(); ++i) bits |= bit(v.step(i).op());
  return bits;
}

/// Runs a model on the CPU and as a hybrid plan, whose arena holds garbage at the start; returns the number of parts.
int check_hybrid(tested_device& on, const nsk::model& model, std::uint64_t cpu_operators, int runs = 3) {
  aligned_bytes memory(model.required_bytes(1));
  cpu_session cpu(model, memory.span());
  REQUIRE(cpu);
  headless_hybrid<tested_device, cpu_session> net(on);
  nsk::gpu::plan_settings how;
  how.cpu_operators = cpu_operators;
  REQUIRE(net.open(model, 0, how));
  const std::vector<std::byte> garbage(net.plan().required_arena_bytes(), std::byte{0x45});
  REQUIRE(on.write(net.arena(), 0, garbage.data(), garbage.size()));
  REQUIRE(net.session().reset(on.begin()));
  REQUIRE(on.submit());
  const bool by_parts = net.plan().cpu_part_count() > 0;
  cpu.seed(9);
  if (by_parts) net.cpu().seed(9);
  noise random(8);
  for (int run = 0; run < runs; ++run) {
    for (int i = 0; i < cpu.input_count(); ++i) {
      for (float& x : cpu.input<float>(i)) x = random();
      REQUIRE(net.write_input(i, cpu.input_bytes(i).data()));
    }
    cpu.run();
    REQUIRE(net.run());
    std::vector<std::byte> got(net.plan().required_arena_bytes());
    REQUIRE(on.read(net.arena(), 0, got.data(), got.size()));
    for (int i = 0; i < cpu.output_count(); ++i) {
      CAPTURE(cpu_operators);
      CAPTURE(run);
      CAPTURE(i);
      CHECK(distance_of(cpu.output_info(i).tensor(), memory.data(), got.data()).relative() <= 1e-5);
    }
  }
  return net.plan().cpu_part_count();
}

void check_every_split(const plan_spec& p, std::uint64_t always = 0) {
  tested_device* const on = device();
  if (!on) return;
  const aligned_bytes file = p.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  const std::uint64_t all = operators_of(model.variant());
  for (std::uint64_t left = all; left != 0; left &= left - 1)
    CHECK(check_hybrid(*on, model, (left & (~left + 1)) | always) > 0);
  CHECK(check_hybrid(*on, model, all) == 1);
}

}

TEST_CASE("a convolutional network with borders and slices runs with any operator on the CPU") {
  check_every_split(make_cnn().plan);
}
TEST_CASE("Winograd, groups, pooling, resizing and products run with any operator on the CPU") {
  check_every_split(make_mixed());
}
TEST_CASE("operators on integers, booleans and indices run with any operator on the CPU") {
  check_every_split(make_indices());
}
TEST_CASE("states are carried across parts on the CPU") {
  for (const bool in_place : {false, true}) check_every_split(make_recurrent(in_place, true));
}
TEST_CASE("random numbers of a hybrid plan are those of its CPU session, run after run") {
  check_every_split(make_policy(), bit(nsk::op::random));
}
