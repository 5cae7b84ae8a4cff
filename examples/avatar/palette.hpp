// SPDX-License-Identifier: MIT
#pragma once
/// A palette of at most 256 colours for some images, found by median cut.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>
#include "support/image.hpp"

namespace example {

/// 256 colours and, for each of 32^3 coarse colours, the number of the nearest.
class palette {
 public:
  explicit palette(const std::vector<image>& frames) {
    std::vector<std::uint32_t> counts(1U << 15);
    for (const image& f : frames)
      for (std::size_t i = 0; i < f.rgb.size(); i += 3) ++counts[coarse(&f.rgb[i])];
    for (std::uint32_t k = 0; k < counts.size(); ++k)
      if (counts[k] > 0) m_used.push_back({k, counts[k]});
    cut(0, m_used.size(), 8);
    m_nearest.resize(1U << 15);
    for (std::uint32_t k = 0; k < m_nearest.size(); ++k) m_nearest[k] = nearest(k);
  }
  const std::vector<std::array<int, 3>>& colors() const { return m_colors; }
  std::uint8_t operator()(const std::uint8_t* rgb) const { return m_nearest[coarse(rgb)]; }

 private:
  struct entry {
    std::uint32_t color, count;
  };
  static std::uint32_t coarse(const std::uint8_t* rgb) {
    return (rgb[0] >> 3U) << 10U | (rgb[1] >> 3U) << 5U | rgb[2] >> 3U;
  }
  static int channel(std::uint32_t color, int c) {
    return static_cast<int>(color >> static_cast<unsigned>(10 - 5 * c) & 31U) * 8 + 4;
  }

  /// Halves the box of entries [begin, end) across its longest side, `times` times; then it is one colour.
  void cut(std::size_t begin, std::size_t end, int times) {
    if (begin == end) return;
    const auto from = m_used.begin() + static_cast<std::ptrdiff_t>(begin),
               to = m_used.begin() + static_cast<std::ptrdiff_t>(end);
    if (times == 0 || end - begin == 1) {
      double sum[4] = {};
      for (auto e = from; e != to; ++e) {
        for (int c = 0; c < 3; ++c) sum[c] += static_cast<double>(channel(e->color, c)) * e->count;
        sum[3] += e->count;
      }
      m_colors.push_back(
          {static_cast<int>(sum[0] / sum[3]), static_cast<int>(sum[1] / sum[3]), static_cast<int>(sum[2] / sum[3])});
      return;
    }
    int widest = 0, width = -1;
    for (int c = 0; c < 3; ++c) {
      const auto less = [c](const entry& a, const entry& b) { return channel(a.color, c) < channel(b.color, c); };
      const auto [low, high] = std::minmax_element(from, to, less);
      if (channel(high->color, c) - channel(low->color, c) > width) {
        width = channel(high->color, c) - channel(low->color, c);
        widest = c;
      }
    }
    std::sort(from, to,
              [widest](const entry& a, const entry& b) { return channel(a.color, widest) < channel(b.color, widest); });
    std::uint64_t total = 0, half = 0;
    for (auto e = from; e != to; ++e) total += e->count;
    std::size_t middle = begin;
    while (middle + 1 < end && (half += m_used[middle].count) < total / 2) ++middle;
    middle = std::clamp(middle, begin + 1, end - 1);
    cut(begin, middle, times - 1);
    cut(middle, end, times - 1);
  }
  std::uint8_t nearest(std::uint32_t color) const {
    int best = 1 << 30;
    std::size_t found = 0;
    for (std::size_t i = 0; i < m_colors.size(); ++i) {
      int distance = 0;
      for (int c = 0; c < 3; ++c) {
        const int d = channel(color, c) - m_colors[i][static_cast<std::size_t>(c)];
        distance += d * d;
      }
      if (distance < best) {
        best = distance;
        found = i;
      }
    }
    return static_cast<std::uint8_t>(found);
  }
  std::vector<entry> m_used;
  std::vector<std::array<int, 3>> m_colors;
  std::vector<std::uint8_t> m_nearest;
};

}  // namespace example
