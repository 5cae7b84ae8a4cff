// SPDX-License-Identifier: MIT
#include "pack/quads.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <netsuke/format/packing.hpp>

namespace nsk::tool {
namespace {

/// Calls f(channel of all groups, quad, place in the quad, weight) for each weight.
template <class F>
void for_each_weight(const quad_layer& l, F f) {
  const std::int64_t taps = std::int64_t{l.kernel_h} * l.kernel_w, run = l.whole_rows ? l.kernel_w * l.depth : l.depth,
                     run_quads = quads_of(run);
  const std::int8_t* weight = l.weights;
  for (std::int64_t o = 0; o < l.outputs; ++o)
    for (std::int64_t i = 0; i < l.depth; ++i)
      for (std::int64_t tap = 0; tap < taps; ++tap, ++weight) {
        const std::int64_t in_line = tap % l.kernel_w, at = l.whole_rows ? in_line * l.depth + i : i,
                           before = l.whole_rows ? tap / l.kernel_w : tap;
        f(o, before * run_quads + at / 4, at % 4, *weight);
      }
}

std::int64_t quads_of_channel(const quad_layer& l) {
  const std::int64_t lines = l.kernel_h, pixels = l.kernel_w;
  return l.whole_rows ? lines * quads_of(pixels * l.depth) : lines * pixels * quads_of(l.depth);
}

/// Whether the sum of the products of two weights with bytes is an int16.
bool is_safe(int a, int b) { return (a < 0) != (b < 0) || std::abs(a) + std::abs(b) <= 128; }

/// Packed panels of one matrix.
class quad_panels {
 public:
  quad_panels(std::uint8_t* to, std::int64_t channels, std::int64_t quads)
      : m_to(to), m_channels(channels), m_quads(quads) {}

  void put_constants(std::int64_t channel, std::int32_t bias, float scale) {
    const column at = column_of(channel);
    std::memcpy(at.panel + 4 * at.place, &bias, sizeof bias);
    std::memcpy(at.panel + 4 * (at.width + at.place), &scale, sizeof scale);
  }
  void put(std::int64_t channel, std::int64_t quad, std::int64_t place, int weight) {
    const column at = column_of(channel);
    at.panel[8 * at.width + (quad * at.width + at.place) * 4 + place] = static_cast<std::uint8_t>(weight);
  }

 private:
  struct column {
    std::uint8_t* panel;
    std::int64_t width, place;
  };
  column column_of(std::int64_t channel) const {
    const std::int64_t panel = std::min(channel / panel_width, panel_count(m_channels) - 1);
    return {m_to + 4 * panel_width * panel * (m_quads + 2), width_of_panel(m_channels, panel),
            channel - panel * panel_width};
  }

  std::uint8_t* m_to;
  std::int64_t m_channels, m_quads;
};

/// Weights of one column of a depthwise window on their places, pairs safe where that is possible. Returns whether it
/// was.
bool place_column(const std::vector<int>& weights, std::vector<int>& placed) {
  const int rows = static_cast<int>(weights.size()), places = depthwise_places(rows);
  std::vector<int> left = weights;
  placed.assign(static_cast<std::size_t>(places), 0);
  bool safe = true;
  for (int i = 0; i < places; ++i) {
    const int row = row_of_place(i, rows);
    const bool last = i + 1 == places || row_of_place(i + 1, rows) != row;
    int& rest = left[static_cast<std::size_t>(row)];
    const int partner = i % 2 == 1 ? placed[static_cast<std::size_t>(i - 1)] : 0;
    int taken = rest;
    while (!last && !is_safe(partner, taken)) taken += taken < 0 ? 1 : -1;
    rest -= taken;
    placed[static_cast<std::size_t>(i)] = taken;
    safe = safe && is_safe(partner, taken);
  }
  return safe;
}

}

std::vector<std::uint8_t> pack_quads(const quad_layer& l) {
  const std::int64_t channels = l.outputs / l.groups, quads = quads_of_channel(l),
                     group_bytes = quad_panel_bytes(channels, quads);
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(group_bytes * l.groups), 0);
  const auto group_of = [&](std::int64_t o) {
    return quad_panels(packed.data() + o / channels * group_bytes, channels, quads);
  };
  for (std::int64_t o = 0; o < l.outputs; ++o) group_of(o).put_constants(o % channels, l.bias[o], l.scale[o]);
  for_each_weight(l, [&](std::int64_t o, std::int64_t quad, std::int64_t place, std::int8_t weight) {
    group_of(o).put(o % channels, quad, place, weight);
  });
  return packed;
}

std::vector<std::uint8_t> pack_depthwise_quads(const quad_layer& l, bool& safe) {
  const int rows = l.kernel_h, columns = l.kernel_w;
  const std::int64_t quads = depthwise_quads(rows, columns);
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(quad_panel_bytes(l.outputs, quads)), 0);
  quad_panels panels(packed.data(), l.outputs, quads);
  std::vector<int> column(static_cast<std::size_t>(rows)), placed;
  safe = true;
  for (std::int64_t o = 0; o < l.outputs; ++o) {
    panels.put_constants(o, l.bias[o], l.scale[o]);
    for (int x = 0; x < columns; ++x) {
      for (int y = 0; y < rows; ++y) column[static_cast<std::size_t>(y)] = l.weights[(o * rows + y) * columns + x];
      safe = place_column(column, placed) && safe;
      for (std::size_t i = 0; i < placed.size(); ++i)
        panels.put(o, static_cast<std::int64_t>(i / 4) * columns + x, static_cast<std::int64_t>(i % 4), placed[i]);
    }
  }
  return packed;
}

bool are_safe(const quad_layer& l) {
  const std::int64_t pairs = 2 * quads_of_channel(l);
  std::vector<int> above(static_cast<std::size_t>(l.outputs * pairs), 0), below = above;
  for_each_weight(l, [&](std::int64_t o, std::int64_t quad, std::int64_t place, std::int8_t weight) {
    const auto pair = static_cast<std::size_t>(o * pairs + quad * 2 + place / 2);
    (weight > 0 ? above : below)[pair] += std::abs(int{weight});
  });
  const auto good = [](const std::vector<int>& sums) {
    return std::all_of(sums.begin(), sums.end(), [](int sum) { return sum <= 128; });
  };
  return good(above) && good(below);
}
}
