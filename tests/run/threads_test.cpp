// SPDX-License-Identifier: MIT
// Threads: sessions of one model share nothing but the file. Meant for a thread sanitizer as well.
#include <doctest/doctest.h>
#include <algorithm>
#include <atomic>
#include <thread>
#include "support.hpp"

namespace {
using test::opened;

/// Hash of all outputs for the input of `seed`.
std::uint64_t run_and_hash(nsk::session<>& net, std::uint32_t seed) {
  for (int i = 0; i < net.input_count(); ++i) {
    const std::vector<float> x = test::noise(seed).many(net.input<float>(i).size());
    std::copy(x.begin(), x.end(), net.input<float>(i).begin());
  }
  net.run();
  std::uint64_t hash = 0;
  for (int i = 0; i < net.output_count(); ++i) hash = hash * 31 + nsk::content_hash(net.output_bytes(i));
  return hash;
}

TEST_CASE("threads: independent sessions of one model, each in its own memory") {
  constexpr int thread_count = 4, runs = 12;
  for (const test::plan_spec& plan : {test::make_cnn().plan, test::make_mixed(), test::make_recurrent(false, true)}) {
    opened o(plan);
    REQUIRE(o.status);
    std::vector<std::uint64_t> expected;
    {
      nsk::session<> net(o.model, o.memory.span());
      for (std::uint32_t r = 0; r < runs; ++r) expected.push_back(run_and_hash(net, r));
    }
    std::atomic<int> ready{0}, equal{0};
    const auto live = [&] {
      test::aligned_bytes memory(o.model.required_bytes());
      nsk::session<> net(o.model, memory.span());
      ++ready;
      while (ready < thread_count) std::this_thread::yield();
      for (std::uint32_t r = 0; r < runs; ++r) equal += run_and_hash(net, r) == expected[r];
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < thread_count; ++i) threads.emplace_back(live);
    for (std::thread& t : threads) t.join();
    CHECK(equal == thread_count * runs);
  }
}

}
