// SPDX-License-Identifier: MIT
// Rollback: frames that are played again from a snapshot have the bits that they had, or would have had.
#include <doctest/doctest.h>
#include "../model/memory_plan.hpp"
#include "support.hpp"
#include <array>
#include <netsuke/all_ops.hpp>

namespace {
using test::opened;
using session = nsk::session<nsk::all_settings>;
using bits = std::vector<std::uint32_t>;
using snapshot = std::vector<std::byte>;

constexpr int frames = 40, rolled_back = 8, inputs = test::memory_rows * test::memory_inputs;

/// What players did in a frame; `corrected` where it arrived late and differs from what was expected.
std::vector<float> seen(int frame, bool corrected) {
  return test::noise(static_cast<std::uint32_t>(100 + frame + (corrected ? 1000 : 0))).many(inputs);
}

snapshot saved(const session& net) {
  snapshot s(net.state_bytes());
  REQUIRE(net.save({s.data(), s.size()}));
  return s;
}

/// One frame, in one of several ways; the numbers that it samples are the frame's own.
bits play(session& net, int frame, bool corrected, int way) {
  const std::vector<float> x = seen(frame, corrected);
  std::memcpy(net.input<float>(0).data(), x.data(), x.size() * sizeof(float));
  net.seed(static_cast<std::uint64_t>(frame));
  if (way == 0) net.run();
  if (way == 1) net.run(test::ordered_jobs{-1}, 3);
  if (way == 2)
    while (!net.run_for(nsk::work{1})) continue;
  return test::bits_of(net.output<float>("action"));
}

TEST_CASE("rollback: eight frames played again have the same bits, in every way of running") {
  opened o(test::make_memory(), 3);
  REQUIRE_MESSAGE(o.status, o.status.name() << " at " << o.status.where());
  session net(o.model, o.memory.span());
  REQUIRE(net.status());
  REQUIRE(net.state_bytes() == 2 * test::memory_rows * test::memory_cells * sizeof(float));
  std::array<snapshot, rolled_back> ring;  // the states before each of the last frames
  std::vector<bits> played;
  for (int f = 0; f < frames; ++f) {
    ring[static_cast<std::size_t>(f % rolled_back)] = saved(net);
    played.push_back(play(net, f, false, 0));
  }
  const snapshot last = saved(net);
  const int from = frames - rolled_back;
  for (int way = 0; way < 3; ++way) {
    const snapshot& before = ring[static_cast<std::size_t>(from % rolled_back)];
    REQUIRE(net.load({before.data(), before.size()}));
    CHECK(saved(net) == before);
    for (int f = from; f < frames; ++f) CHECK(play(net, f, false, way) == played[static_cast<std::size_t>(f)]);
    CHECK(saved(net) == last);
  }
  CHECK_FALSE(play(net, from, false, 0) == played[static_cast<std::size_t>(from)]);  // from other states
}

TEST_CASE("rollback: a correction gives the bits of a game that knew it from the start") {
  const int late = frames - rolled_back + 2;
  opened o(test::make_memory()), other(test::make_memory());
  session net(o.model, o.memory.span()), knew(other.model, other.memory.span());
  snapshot before;
  std::vector<bits> guessed, right;
  for (int f = 0; f < frames; ++f) {
    if (f == frames - rolled_back) before = saved(net);
    guessed.push_back(play(net, f, false, 0));
    right.push_back(play(knew, f, f == late, 0));
  }
  REQUIRE(net.load({before.data(), before.size()}));
  for (int f = frames - rolled_back; f < frames; ++f) {
    const bits again = play(net, f, f == late, f % 3 == 0 ? 0 : 2);
    CHECK(again == right[static_cast<std::size_t>(f)]);
    CHECK((again == guessed[static_cast<std::size_t>(f)]) == (f < late));
  }
  CHECK(saved(net) == saved(knew));
}
}
