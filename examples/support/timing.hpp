// SPDX-License-Identifier: MIT
#pragma once
/// Two ways of doing the same work, measured alternately, so that a busy machine slows both.
#include <algorithm>
#include <chrono>
#include <vector>

namespace example {

/// Returns the milliseconds that f() takes.
template <class F>
double milliseconds(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

struct comparison {
  double one, other;
  double ratio() const { return one / other; }
};

/// Returns the medians of both, in milliseconds.
template <class One, class Other>
comparison compare(One&& one, Other&& other, int rounds = 15) {
  std::vector<double> a, b;
  for (int i = 0; i < rounds; ++i) {
    a.push_back(milliseconds(one));
    b.push_back(milliseconds(other));
  }
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return {a[a.size() / 2], b[b.size() / 2]};
}

}  // namespace example
