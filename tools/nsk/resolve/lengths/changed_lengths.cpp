// SPDX-License-Identifier: MIT
#include "resolve/lengths/changed_lengths.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace nsk::tool {
namespace {

constexpr std::int64_t far = 4;  // elements more or less, and times more or fewer

}

void add_once(std::vector<std::int64_t>& to, std::int64_t v) {
  if (std::find(to.begin(), to.end(), v) == to.end()) to.push_back(v);
}

void add_all(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
  for (const std::int64_t v : from) add_once(to, v);
}

void add_scaled(std::vector<std::int64_t>& to, std::int64_t number, std::int64_t was, std::int64_t now) {
  if (was > 0 && number <= std::numeric_limits<std::int64_t>::max() / std::max<std::int64_t>(now, 1) &&
      number * now % was == 0)
    add_once(to, number * now / was);
}

void add_shares(std::vector<std::int64_t>& to, std::int64_t number, std::int64_t was, std::int64_t now) {
  for (std::int64_t parts = 2; parts <= far; ++parts)
    if (was / parts == number) add_once(to, now / parts);
}

void changed_lengths::add(const shape_t& was, const shape_t& now) {
  if (was.size() != now.size()) return;
  for (std::size_t first = 0; first < was.size(); ++first) {
    std::int64_t a = 1, b = 1;
    for (std::size_t d = first; d < was.size(); ++d) {
      a *= was[d];
      b *= now[d];
      m_hides_one = m_hides_one || (a == b && was[d] != now[d]);
      if (a != b && a > 1) (d == first ? m_axes : m_merged).emplace(a, b);
    }
  }
}

void changed_lengths::find(const pairs& in, std::int64_t number, std::vector<std::int64_t>& found) {
  if (number < 2) return;
  for (auto i = in.lower_bound({number, 0}); i != in.end() && i->first == number; ++i) add_once(found, i->second);
}

std::vector<std::int64_t> changed_lengths::of(std::int64_t number) const {
  std::vector<std::int64_t> found;
  find(m_axes, number, found);
  find(m_merged, number, found);
  return found;
}

std::vector<std::int64_t> changed_lengths::of_axis(std::int64_t number) const {
  std::vector<std::int64_t> found;
  find(m_axes, number, found);
  return found;
}

std::vector<std::int64_t> changed_lengths::near(std::int64_t number) const {
  std::vector<std::int64_t> found = of(number);
  const auto add = [&](std::int64_t v) {
    if (v > 0) add_once(found, v);
  };
  for (const auto& [was, now] : m_axes) {
    if (number < 2) break;
    if (std::abs(number - was) <= far) add(number - was + now);
    if (number % was == 0 && number / was <= far) add(number / was * now);
    std::vector<std::int64_t> shares;
    add_shares(shares, number, was, now);
    for (const std::int64_t v : shares) add(v);
  }
  return found;
}

bool changed_lengths::has_short() const { return !m_axes.empty() && m_axes.begin()->first < 2 * far; }

}
