// SPDX-License-Identifier: MIT
// Random numbers on a device: the CPU's, inference after inference.
#include "../device_support.hpp"

using namespace test;
using format::Operator;
using format::RandomKind;

namespace {

/// [rows, 3, 5] of random numbers, in a buffer that other elements are in too.
plan_spec plan_of(RandomKind kind, std::int32_t rows) {
  plan_spec p;
  const std::uint32_t y = p.add_output("y", {rows, 3, 5}, 0, 2), all = p.add_dense("all", {rows, 3, 9}, 0, 2);
  const std::uint32_t part = p.add_tensor("part", {rows, 3, 5}, p.tensors[all].buffer);
  p.tensors[part].strides = {27, 9, 1};
  step_spec& s = p.add_step(Operator::Random, {}, part);
  s.random = kind;
  s.stream = 7;
  p.add_step(Operator::Copy, {part}, y);
  return p;
}

/// Runs several inferences on both; returns how far the numbers are apart.
distance run(both<tested_device>& net, int runs) {
  distance apart;
  std::vector<float> y(net.cpu().output_info(0).bytes() / 4);
  for (int i = 0; i < runs; ++i) {
    net.cpu().run();
    REQUIRE(net.gpu().run());
    REQUIRE(net.gpu().read_output(0, y.data()));
    const float* const wanted = reinterpret_cast<const float*>(net.cpu().output_bytes(0).data());
    for (std::size_t k = 0; k < y.size(); ++k) apart.add(static_cast<double>(wanted[k]), static_cast<double>(y[k]));
  }
  return apart;
}

}

TEST_CASE("uniform numbers on a device are the CPU's bit for bit, whatever was recorded before") {
  tested_device* const on = device();
  if (!on) return;
  both<tested_device> net(*on);
  REQUIRE(net.open(plan_of(RandomKind::uniform, 40)) == "");
  CHECK(run(net, 3).difference == 0);
  for (const std::uint64_t key : {std::uint64_t{1}, std::uint64_t{0xfedcba9876543210}}) {
    net.cpu().seed(key, 4294967290u);
    net.gpu().session().seed(key, 4294967290u);
    CHECK(run(net, 3).difference == 0);
  }
  net.cpu().seed(5);
  CHECK(run(net, 1).difference > 0);
}

TEST_CASE("an inference recorded in slices counts once") {
  tested_device* const on = device();
  if (!on) return;
  both<tested_device> net(*on);
  REQUIRE(net.open(plan_of(RandomKind::uniform, 2)) == "");
  auto& session = net.gpu().session();
  REQUIRE(session.record(on->begin(), 0, 1));
  REQUIRE(on->submit());
  REQUIRE(session.record(on->begin(), 1, 1));
  REQUIRE(on->submit());
  net.cpu().run();
  CHECK(run(net, 1).difference == 0);
}

TEST_CASE("normal and gumbel numbers on a device are the CPU's within 1e-5") {
  tested_device* const on = device();
  if (!on) return;
  for (const auto kind : {RandomKind::normal, RandomKind::gumbel}) {
    both<tested_device> net(*on);
    REQUIRE(net.open(plan_of(kind, 3000)) == "");
    net.cpu().seed(99);
    net.gpu().session().seed(99);
    CHECK(run(net, 4).difference <= 1e-5);
  }
}
