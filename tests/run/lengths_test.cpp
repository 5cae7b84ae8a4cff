// SPDX-License-Identifier: MIT
// Lengths of a session: what a run computes, and what is refused.
#include <doctest/doctest.h>
#include "../model/lengths_plan.hpp"
#include "support.hpp"
#include <netsuke/all_ops.hpp>

namespace {
using nsk::status_code;
using test::opened;
using test::policy_rows;
using session = nsk::session<nsk::all_settings>;

/// Bits of the probabilities of the first rows, run after `choose`.
template <class Choose>
std::vector<std::uint32_t> bits_after(const test::plan_spec& plan, int rows, Choose choose) {
  opened o(plan, 2);
  session net(o.model, o.memory.span());
  REQUIRE(net.status());
  REQUIRE(choose(net));
  const std::vector<float> x = test::noise(5).many(policy_rows * 5);
  const auto in = net.input<float>(0);
  std::memcpy(in.data(), x.data(), static_cast<std::size_t>(rows) * 5 * sizeof(float));
  net.run();
  std::vector<std::uint32_t> bits = test::bits_of(net.output<float>("probabilities"));
  bits.resize(static_cast<std::size_t>(rows) * 20);
  return bits;
}

TEST_CASE("lengths: every value gives the bits of a batch of as many rows, and ports are as long") {
  for (int rows = 1; rows <= policy_rows; ++rows) {
    const auto wanted = bits_after(test::make_policy(), rows, [&](session& net) { return net.set_batch(rows); });
    CHECK(bits_after(test::make_policy(), rows, [&](session& net) { return net.set_length("batch", rows); }) == wanted);
    CHECK(bits_after(test::make_lengths(), rows, [&](session& net) { return net.set_length("rows", rows); }) == wanted);
  }
  opened o(test::make_lengths());
  session net(o.model, o.memory.span());
  REQUIRE(net.status());
  CHECK(net.lengths() == nullptr);
  REQUIRE(net.set_length("rows", 2));
  CHECK(net.lengths()[0] == 2);
  CHECK(net.input<float>(0).size() == 10);
  CHECK(net.output<std::int64_t>("action").size() == 2);
  net.reset_lengths();
  CHECK(net.input<float>(0).size() == policy_rows * 5);
}

TEST_CASE("lengths: other names and values are refused, and the length stays") {
  opened o(test::make_lengths());
  session net(o.model, o.memory.span());
  REQUIRE(net.set_length("rows", 3));
  CHECK(net.set_length("row", 2).code() == status_code::no_such_length);
  CHECK(net.set_length("batch", 2).code() == status_code::no_such_length);
  CHECK(net.set_length("rows", 0).code() == status_code::length_out_of_range);
  CHECK(net.set_length("rows", policy_rows + 1).code() == status_code::length_out_of_range);
  CHECK(net.lengths()[0] == 3);
}

/// make_lengths() with a length that may be 0, and one that is twice that.
test::plan_spec make_empty() {
  test::plan_spec p = test::make_lengths();
  p.lengths[0].minimum = 0;
  p.lengths.push_back({"", 0, 2 * policy_rows, 1, 0, 1, 0, 1, 1});
  return p;
}

TEST_CASE("lengths: with none a run is complete in every way to run, and later ones are as before") {
  opened o(make_empty(), 2);
  session net(o.model, o.memory.span());
  REQUIRE_MESSAGE(net.status(), net.status().name());
  REQUIRE(net.set_length("rows", 0));
  CHECK(net.lengths()[1] == 0);
  CHECK(net.input<float>(0).size() == 0);
  CHECK(net.output<float>("mean").size() == 0);
  for (int s = 0; s < net.step_count(); ++s) CHECK(net.tile_count(s) == 0);
  test::ordered_jobs jobs;
  const auto clock = [] { return nsk::microseconds{0}; };
  const auto completes = [](auto&& slice) {
    int slices = 1;
    while (!slice() && slices < 100) ++slices;
    return slices < 100;
  };
  net.run();
  net.run(jobs);
  CHECK(completes([&] { return net.run_for(nsk::microseconds{1}, clock); }));
  CHECK(completes([&] { return net.run_for(nsk::microseconds{1}, clock, jobs); }));
  CHECK(completes([&] { return net.run_for(nsk::work{0}); }));
  CHECK(completes([&] { return net.run_for(nsk::work{1}, jobs); }));
  CHECK(jobs.calls == 0);
  const auto of_three = [](const test::plan_spec& plan, bool after_none) {
    return bits_after(plan, 3, [&](session& s) {
      if (after_none && s.set_length("rows", 0)) s.run();
      s.seed(0);
      return s.set_length("rows", 3);
    });
  };
  CHECK(of_three(make_empty(), true) == of_three(test::make_lengths(), false));
}

TEST_CASE("lengths: a step that reads an empty tensor does nothing, and a sum over nothing is 0") {
  test::plan_spec p = test::make_lengths();
  const std::uint32_t end = static_cast<std::uint32_t>(p.steps.size());
  p.lengths.push_back({"columns", 0, 7});
  const std::uint32_t x = p.add_input("line", {1, 7}, end + 1);
  const std::uint32_t y = p.add_output("largest", {1, 1}, end, end + 1);
  for (test::buffer_spec& b : p.buffers)
    if (b.last_step == end && b.storage == test::format::Storage::output) b.last_step = end + 1;
  p.tensors[x].terms = {test::format::Term(1, 1, 1, test::no_length, test::no_length),
                        test::format::Term(1, 6, 1, test::no_length, test::no_length)};
  for (const bool sums : {false, true}) {
    test::plan_spec q = p;
    if (sums)
      q.add_step(test::format::Operator::Reduce, {x}, y, "largest").reduce = test::format::ReduceKind::sum;
    else
      q.add_step(test::format::Operator::Pool2D, {x}, y, "largest");
    if (!sums) {
      for (const std::uint32_t t : {x, y}) {
        test::tensor_spec& port = q.tensors[t];
        port.shape = {1, 1, port.shape[1], 1};
        port.strides = {port.shape[2], port.shape[2], 1, 1};
        port.terms.clear();
      }
      q.tensors[x].terms = {test::format::Term(1, 2, 1, test::no_length, test::no_length)};
      q.steps.back().window = test::format::Window(1, 7, 1, 1, 1, 1, 0, 0);
      q.steps.back().has_window = true;
    }
    opened o(q);
    session net(o.model, o.memory.span());
    REQUIRE_MESSAGE(net.status(), net.status().name() << " at " << net.status().where());
    REQUIRE(net.set_length("columns", 0));
    CHECK(net.tile_count(static_cast<int>(end)) == (sums ? 1 : 0));
    net.run();
    if (sums) CHECK(net.output<float>("largest")[0] == 0);
  }
}

TEST_CASE("lengths: those that follow from others, and steps") {
  test::plan_spec p = test::make_lengths();
  p.lengths[0] = {"rows", 2, policy_rows, 2};
  p.lengths.push_back({"", 1, 3, 1, 0, 1, 1, 2});
  opened o(p);
  session net(o.model, o.memory.span());
  REQUIRE_MESSAGE(net.status(), net.status().name());
  CHECK(net.variant().length_count() == 2);
  CHECK(net.variant().find_length("") == -1);
  CHECK(net.set_length("rows", 3).code() == status_code::length_out_of_range);
  REQUIRE(net.set_length("rows", 4));
  CHECK(net.lengths()[1] == 2);
}
/// Gives the numbers of make_counted().
void give(session& net, float number) {
  net.input<float>("number")[0] = number;
  const auto x = net.input<float>("x");
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 3;
}

/// What make_counted() leaves for so many elements.
void check_counted(session& net, std::size_t count) {
  const auto y = net.output<float>("y");
  REQUIRE(y.size() == 2 * count);
  float sums[2] = {};
  for (std::size_t i = 0; i < y.size(); ++i) {
    const float x = static_cast<float>(i) - 3;
    CHECK(y[i] == x * x);
    sums[i % 2] += x * x;
  }
  CHECK(net.output<float>("sum")[0] == sums[0]);
  CHECK(net.output<float>("sum")[1] == sums[1]);
}

TEST_CASE("lengths: what a step counts is the length of those behind it, in every way to run") {
  opened o(test::make_counted(), 2);
  session net(o.model, o.memory.span());
  REQUIRE_MESSAGE(net.status(), net.status().name());
  CHECK(net.set_length("count", 3).code() == status_code::no_such_length);
  test::ordered_jobs jobs;
  const auto clock = [] { return nsk::microseconds{0}; };
  for (const int count : {4, 0, 6, 1}) {
    const auto every = [&](auto&& run) {
      give(net, static_cast<float>(count));
      run();
      check_counted(net, static_cast<std::size_t>(count));
      CHECK(net.flags() == 0);
    };
    every([&] { net.run(); });
    every([&] { net.run(jobs, 2); });
    every([&] {
      while (!net.run_for(nsk::microseconds{0}, clock)) continue;
    });
    every([&] {
      while (!net.run_for(nsk::microseconds{0}, clock, jobs, 2)) continue;
    });
    every([&] {
      while (!net.run_for(nsk::work{1})) continue;
    });
    every([&] {
      net.restart();
      for (int s = 0; s < net.step_count(); ++s)
        for (int t = 0; t < net.tile_count(s); ++t) net.run_tile(s, t, t % 2);
      net.finish();
    });
  }
}

TEST_CASE("lengths: a number beyond the limits becomes the nearest one, and raises a flag") {
  opened o(test::make_counted());
  session net(o.model, o.memory.span());
  for (const auto& [number, count] : {std::pair(9.0f, 6), std::pair(-2.0f, 0), std::pair(1e30f, 6)}) {
    give(net, number);
    net.run();
    check_counted(net, static_cast<std::size_t>(count));
    CHECK(net.flags() == nsk::length_clamped);
  }
}

}
