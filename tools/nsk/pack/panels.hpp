// SPDX-License-Identifier: MIT
#pragma once
/// Packs weights into the panels that the kernels read (netsuke/format/packing.hpp; docs/reference/file.md draws them).
#include <algorithm>
#include <vector>
#include <netsuke/format/packing.hpp>

namespace nsk::tool {

/// weight(k, n) and bias(n) in double precision, rounded once to float32; a weight of -0, as pruning leaves it, becomes
/// +0. Appends panel_floats(outputs, depth) floats to `packed`.
template <class Weight, class Bias>
void pack_panels(std::vector<float>& packed, std::int64_t outputs, std::int64_t depth, Weight&& weight, Bias&& bias) {
  const std::size_t begin = packed.size();
  packed.resize(begin + static_cast<std::size_t>(panel_floats(outputs, depth)), 0.0f);
  float* row = packed.data() + begin;
  for (std::int64_t p = 0; p < panel_count(outputs); ++p) {
    const std::int64_t width = width_of_panel(outputs, p), first = p * panel_width,
                       used = std::min(width, outputs - first);
    for (std::int64_t c = 0; c < used; ++c) row[c] = static_cast<float>(bias(first + c));
    row += width;
    for (std::int64_t k = 0; k < depth; ++k, row += width)
      for (std::int64_t c = 0; c < used; ++c) row[c] = static_cast<float>(weight(k, first + c)) + 0.0f;
  }
}

}
