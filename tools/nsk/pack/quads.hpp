// SPDX-License-Identifier: MIT
#pragma once
/// Packs int8 weights into the panels of quads that the kernels read (netsuke/format/packing.hpp;
/// docs/reference/file.md draws them).
#include <cstdint>
#include <vector>

namespace nsk::tool {

/// The weights [outputs][depth][kernel_h][kernel_w] of a convolution: output channels of all groups, and `depth` input
/// channels of one. One bias and scale per output.
struct quad_layer {
  int outputs = 1, groups = 1, kernel_h = 1, kernel_w = 1;
  std::int64_t depth = 1;
  bool whole_rows = false;  ///< quads follow the rows of a window, else its pixels
  const std::int8_t* weights = nullptr;
  const std::int32_t* bias = nullptr;
  const float* scale = nullptr;

  /// The layer of parameters that have `outputs`, `groups`, `w` and `weights`.
  template <class Parameters>
  static quad_layer of(const Parameters& c, std::int64_t depth, bool whole_rows) {
    quad_layer l;
    l.outputs = c.outputs;
    l.groups = c.groups;
    l.kernel_h = c.w.kernel_h;
    l.kernel_w = c.w.kernel_w;
    l.depth = depth;
    l.whole_rows = whole_rows;
    l.weights = c.weights.data();
    return l;
  }
};

/// Panels of all groups, one behind the other.
std::vector<std::uint8_t> pack_quads(const quad_layer& l);
/// Packs quads channel by channel: the rows of a column of the window are one (netsuke/format/packing.hpp). `safe` is
/// set where the weights are; those of rows that have two places are cut in two so that they are.
std::vector<std::uint8_t> pack_depthwise_quads(const quad_layer& l, bool& safe);
/// Whether the magnitudes of two neighbours of one sign in a quad never add up to more than 128, so that the sums of
/// their products with bytes are int16.
bool are_safe(const quad_layer& l);

}
