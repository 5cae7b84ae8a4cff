// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <thread>
#include <vector>

template <class F>
void ParallelFor(std::int32_t count, F&& function) {
  std::vector<std::thread> threads;
  for (std::int32_t i = 1; i < count; ++i) threads.emplace_back(function, i);
  function(0);
  for (std::thread& t : threads) t.join();
}
