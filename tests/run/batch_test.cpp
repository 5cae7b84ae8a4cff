// SPDX-License-Identifier: MIT
// Batches and seeds: each row has the bits that it has alone, in every way of running.
#include <doctest/doctest.h>
#include "../model/policy_plan.hpp"
#include "../model/recurrent_plan.hpp"
#include "support.hpp"
#include <limits>
#include <netsuke/all_ops.hpp>

namespace {
using test::opened;
using test::policy_rows;
using session = nsk::session<nsk::all_settings>;

/// What one row of each output holds.
struct row_bits {
  std::vector<std::uint32_t> probabilities;
  std::int64_t action = 0;
  std::uint32_t mean = 0, picked = 0;
  bool operator==(const row_bits& o) const {
    return probabilities == o.probabilities && action == o.action && mean == o.mean && picked == o.picked;
  }
};

row_bits row_of(const session& net, int row) {
  const auto r = static_cast<std::size_t>(row);
  const std::vector<std::uint32_t> all = test::bits_of(net.output<float>("probabilities"));
  return {{all.begin() + row * 20, all.begin() + row * 20 + 20},
          net.output<std::int64_t>("action")[r],
          test::bits_of(net.output<float>("mean"))[r],
          test::bits_of(net.output<float>("picked"))[r]};
}

std::vector<float> observations() { return test::noise(5).many(policy_rows * 5); }

/// Row `row` computed as the only one.
row_bits alone(int row, std::uint64_t key, int runs_before = 0) {
  opened o(test::make_policy());
  session net(o.model, o.memory.span());
  REQUIRE(net.status());
  REQUIRE(net.set_batch(1));
  const std::vector<float> x = observations();
  std::memcpy(net.input<float>(0).data(), x.data() + row * 5, 5 * sizeof(float));
  net.seed(key, static_cast<std::uint32_t>(row));
  for (int i = 0; i <= runs_before; ++i) net.run();
  return row_of(net, 0);
}

/// A session whose first `rows` rows are observations and the others not numbers.
void fill(session& net, int rows) {
  const nsk::span<float> x = net.input<float>(0);
  for (float& v : x) v = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> all = observations();
  std::memcpy(x.data(), all.data(), static_cast<std::size_t>(rows) * 5 * sizeof(float));
}

TEST_CASE("batch: every row of every batch has the bits that it has alone, however it is run") {
  opened o(test::make_policy(), 3);
  session net(o.model, o.memory.span());
  REQUIRE(net.status());
  for (int rows = 1; rows <= policy_rows; ++rows) {
    fill(net, rows);
    REQUIRE(net.set_batch(rows));
    for (int way = 0; way < 4; ++way) {
      net.seed(42);
      if (way == 0) net.run();
      if (way == 1) net.run(test::ordered_jobs{-1}, 3);
      if (way == 2)
        while (!net.run_for(nsk::work{1})) continue;
      if (way == 3) {
        for (int s = 0; s < net.step_count(); ++s)
          for (int t = net.tile_count(s); t-- > 0;) net.run_tile(s, t, 0);
        net.finish();
      }
      for (int row = 0; row < rows; ++row) CHECK(row_of(net, row) == alone(row, 42));
    }
  }
}

TEST_CASE("batch: fewer rows are fewer tiles, and what is behind is left alone") {
  opened o(test::make_policy());
  session net(o.model, o.memory.span());
  CHECK(net.variant().batch() == policy_rows);
  const int all = net.tile_count(test::noise_step);
  CHECK(all == policy_rows);
  fill(net, policy_rows);
  net.run();
  const row_bits last = row_of(net, policy_rows - 1);
  REQUIRE(net.set_batch(2));
  CHECK(net.tile_count(test::noise_step) == 2);
  net.run();
  CHECK(row_of(net, policy_rows - 1) == last);
}

TEST_CASE("batch: rows of a recurrence have the same bits in a smaller batch") {
  const auto outputs = [](int rows) {
    opened o(test::make_lstm_batch());
    REQUIRE_MESSAGE(o.status, o.status.name() << " at " << o.status.where());
    session net(o.model, o.memory.span());
    for (int i = 0; i < 3; ++i) {
      const std::vector<float> values = test::noise(static_cast<std::uint32_t>(i)).many(net.input<float>(i).size());
      std::memcpy(net.input<float>(i).data(), values.data(), values.size() * sizeof(float));
    }
    REQUIRE(net.set_batch(rows));
    CHECK(net.tile_count(0) == 2 * rows);
    net.run();
    std::vector<std::uint32_t> all = test::bits_of(net.output<float>(0));
    all.resize(static_cast<std::size_t>(rows) * 60);
    return all;
  };
  const std::vector<std::uint32_t> all = outputs(3);
  for (int rows = 1; rows < 3; ++rows)
    CHECK(outputs(rows) == std::vector<std::uint32_t>(all.begin(), all.begin() + rows * 60));
}

TEST_CASE("batch: sizes that there are not") {
  opened o(test::make_policy()), fixed(test::make_cnn().plan);
  session net(o.model, o.memory.span()), other(fixed.model, fixed.memory.span());
  CHECK(net.set_batch(0).code() == nsk::status_code::rows_out_of_range);
  CHECK(net.set_batch(-1).code() == nsk::status_code::rows_out_of_range);
  CHECK(net.set_batch(policy_rows + 1).code() == nsk::status_code::rows_out_of_range);
  CHECK(net.set_batch(policy_rows));
  CHECK(other.variant().batch() == 0);
  CHECK(other.set_batch(1).code() == nsk::status_code::rows_out_of_range);
}

TEST_CASE("seed: each complete inference samples its own numbers, an abandoned one samples them again") {
  opened o(test::make_policy());
  session net(o.model, o.memory.span());
  fill(net, policy_rows);
  net.seed(7);
  net.run();
  const row_bits first = row_of(net, 0);
  CHECK(first == alone(0, 7));
  CHECK_FALSE(net.run_for(nsk::work{1}));
  net.restart();
  net.run();
  const row_bits second = row_of(net, 0);
  CHECK(second == alone(0, 7, 1));
  CHECK_FALSE(second == first);
  net.seed(7);
  net.run();
  CHECK(row_of(net, 0) == first);
  net.seed(8);
  net.run();
  CHECK_FALSE(row_of(net, 0) == first);
}
}
