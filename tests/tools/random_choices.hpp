// SPDX-License-Identifier: MIT
#pragma once
/// Choices of tests that sample networks from a seed.
#include <cstdint>
#include <random>
#include <vector>

namespace nsk::test {

using ints = std::vector<std::int64_t>;

class random_choices {
 public:
  explicit random_choices(unsigned seed) : m_random(seed) {}

  /// A number in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(m_random() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  std::int64_t pick(const ints& from) {
    return from[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(from.size()) - 1))];
  }

 private:
  std::mt19937 m_random;
};

}
