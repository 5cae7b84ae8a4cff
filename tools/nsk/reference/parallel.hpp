// SPDX-License-Identifier: MIT
#pragma once
/// Shares independent parts of one evaluation among the processor's threads.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace nsk::tool::reference {

/// Calls f(i) once for each i in [0, count), on several threads where `work` multiply-adds are worth starting them, and
/// returns when all have returned. Results must not depend on the order. What a call throws, one of them at random, is
/// thrown again here.
template <class F>
void parallel_for(std::int64_t count, double work, F f) {
  constexpr double work_per_thread = 4e6;  // about a millisecond, twenty times what a thread takes to start
  const auto limit = static_cast<std::int64_t>(std::min(work / work_per_thread, 64.0));
  const std::int64_t threads = std::min({count, limit, static_cast<std::int64_t>(std::thread::hardware_concurrency())});
  if (threads < 2) {
    for (std::int64_t i = 0; i < count; ++i) f(i);
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  const auto take = [&] {
    try {
      for (std::int64_t i = next++; i < count && !failed; i = next++) f(i);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (std::int64_t t = 1; t < threads; ++t) others.emplace_back(take);
  take();
  for (std::thread& t : others) t.join();
  if (failure) std::rethrow_exception(failure);
}

}
