// SPDX-License-Identifier: MIT
// The run log against sorted copies of what it was given.
#include <doctest/doctest.h>
#include "../run/memory_policy.hpp"
#include <algorithm>
#include <deque>
#include <netsuke/log.hpp>
#include <nlohmann/json.hpp>
#include <random>

namespace {
using nlohmann::json;

/// Memory of exactly the size that a window needs, at a multiple of 8.
std::vector<std::int64_t> memory_for(int window) {
  return std::vector<std::int64_t>(nsk::run_log::required_bytes(window) / sizeof(std::int64_t), -1);
}

/// The shortest time that at least `percent` percent of them do not exceed, by counting.
std::int64_t percentile_of(std::vector<std::int64_t> times, int percent) {
  std::sort(times.begin(), times.end());
  for (const std::int64_t t : times) {
    const auto below = std::upper_bound(times.begin(), times.end(), t) - times.begin();
    if (100 * below >= percent * static_cast<std::int64_t>(times.size())) return t;
  }
  return 0;
}

TEST_CASE("run log: percentiles and the worst slice are those of the window, sorted") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int window = seed < 3 ? static_cast<int>(seed) + 1 : static_cast<int>(random() % 300 + 1);
    const std::uint32_t spread = seed % 2 ? 10 : 1'000'000;  // many equal times, or few
    std::vector<std::int64_t> memory = memory_for(window);
    nsk::run_log log(nsk::as_writable_bytes(memory));
    std::deque<std::pair<std::int64_t, std::int64_t>> kept;  // total, longest slice
    for (int n = 0; n < 700; ++n) {
      std::int64_t total = 0, longest = 0;
      for (std::uint32_t slices = random() % 4 + 1; slices > 0; --slices) {
        const std::int64_t time = random() % spread;
        total += time;
        longest = std::max(longest, time);
        log.slice(time, slices == 1);
      }
      kept.emplace_back(total, longest);
      if (kept.size() > static_cast<std::size_t>(window)) kept.pop_front();
      if (n % 7 != 0) continue;
      std::vector<std::int64_t> totals;
      std::int64_t worst = 0;
      for (const auto& [t, l] : kept) {
        totals.push_back(t);
        worst = std::max(worst, l);
      }
      for (const int percent : {1, 50, 95, 99, 100}) REQUIRE(log.percentile(percent) == percentile_of(totals, percent));
      REQUIRE(log.worst_slice() == worst);
      REQUIRE(log.window() == static_cast<int>(kept.size()));
      REQUIRE(log.runs() == static_cast<std::uint64_t>(n) + 1);
    }
  }
}

TEST_CASE("run log: a line is JSON with the model's bytes, or nothing where it has no space") {
  test::opened o(test::make_memory_policy(), 2);
  std::vector<std::int64_t> memory = memory_for(100);
  nsk::run_log log(nsk::as_writable_bytes(memory));
  log.describe(o.model, 2);
  for (int i = 1; i <= 200; ++i) log.run(i * 1000 + 1);
  log.slice(7'000'000, false);  // not complete: does not count yet
  char text[nsk::run_log::max_line_bytes];
  const nsk::span<const char> line = log.line(text);
  REQUIRE_FALSE(line.empty());
  CHECK(line.data()[line.size() - 1] == '\n');
  CHECK(std::count(line.begin(), line.end(), '\n') == 1);
  const json j = json::parse(line.begin(), line.end());
  CHECK(j["model"] == o.model.name());
  CHECK(j["runs"] == 200);
  CHECK(j["window"] == 100);
  CHECK(j["p50_us"].get<double>() == doctest::Approx(150.001));
  CHECK(j["p95_us"].get<double>() == doctest::Approx(195.001));
  CHECK(j["p99_us"].get<double>() == doctest::Approx(199.001));
  CHECK(j["max_us"].get<double>() == doctest::Approx(200.001));
  CHECK(j["worst_slice_us"].get<double>() == doctest::Approx(200.001));
  CHECK(j["arena_bytes"] == o.model.required_bytes(2));
  CHECK(j["weight_bytes"] == o.model.weights().size());
  CHECK(j["state_bytes"] == 0);
  for (std::size_t size = 0; size < line.size(); ++size) {
    char small[nsk::run_log::max_line_bytes];
    small[size] = '#';
    REQUIRE(log.line({small, size}).empty());
    REQUIRE(small[size] == '#');
  }
  log.clear();
  CHECK(log.percentile(99) == 0);
  log.run(5);
  CHECK(log.percentile(1) == 5);
}

TEST_CASE("run log: memory for no run, and times that a clock set back") {
  std::int64_t memory[2] = {};
  nsk::run_log none(nsk::span<std::byte>(reinterpret_cast<std::byte*>(memory), sizeof memory));
  none.run(5);
  CHECK(none.runs() == 1);
  CHECK(none.window() == 0);
  CHECK(none.percentile(50) == 0);
  std::vector<std::int64_t> block = memory_for(4);
  nsk::run_log log(nsk::as_writable_bytes(block));
  log.run(-5);
  CHECK(log.percentile(100) == 0);
}

}
