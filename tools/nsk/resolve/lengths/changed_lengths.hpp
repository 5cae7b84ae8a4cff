// SPDX-License-Identifier: MIT
#pragma once
/// Lengths of axes that are others than in the source, because --input says so.
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "graph/array.hpp"

namespace nsk::tool {

/// Pairs of a length in the source and the length that takes its place: of single axes, and of neighbouring axes
/// together, as a Reshape merges them.
class changed_lengths {
 public:
  /// Adds the axes of a value; shapes of two ranks say nothing.
  void add(const shape_t& was, const shape_t& now);
  void add(const changed_lengths& other) {
    m_axes.insert(other.m_axes.begin(), other.m_axes.end());
    m_merged.insert(other.m_merged.begin(), other.m_merged.end());
    m_hides_one = m_hides_one || other.m_hides_one;
  }
  std::size_t count() const { return m_axes.size() + m_merged.size(); }

  /// What `number` is now where it was one of these lengths in the source. Numbers below 2 are no lengths.
  std::vector<std::int64_t> of(std::int64_t number) const;
  /// What `number` is now where it was the length of a single axis in the source.
  std::vector<std::int64_t> of_axis(std::int64_t number) const;
  /// of(), and what `number` is now where it was at most four more or less than a single axis, or two to four times as
  /// many, or a half, third or quarter.
  std::vector<std::int64_t> near(std::int64_t number) const;
  /// Whether neighbouring axes changed and have as many elements as before: what is merged of them does not show it.
  bool hides_one() const { return m_hides_one; }
  /// Whether an axis was so short that a part of it may be one element.
  bool has_short() const;

 private:
  using pairs = std::set<std::pair<std::int64_t, std::int64_t>>;
  static void find(const pairs& in, std::int64_t number, std::vector<std::int64_t>& found);

  pairs m_axes, m_merged;
  bool m_hides_one = false;
};

/// Adds `v` to a list unless it is there.
void add_once(std::vector<std::int64_t>& to, std::int64_t v);

void add_all(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from);

/// Adds `number` * now / was where that is whole.
void add_scaled(std::vector<std::int64_t>& to, std::int64_t number, std::int64_t was, std::int64_t now);

/// Adds the half, third or quarter of `now` where `number` is that of `was`, rounded down.
void add_shares(std::vector<std::int64_t>& to, std::int64_t number, std::int64_t was, std::int64_t now);

}
