// SPDX-License-Identifier: MIT
#pragma once
/// Weights of a layer as int8.
#include <cstdint>
#include <vector>
#include "graph/graph.hpp"

namespace nsk::tool {

/// The weights of a layer: `channels` outputs, whose weights are `depth` inputs times the taps of a window.
struct layer_weights {
  std::vector<double> values;  ///< [channels][depth][kernel_h][kernel_w]
  int channels = 0, depth = 0, kernel_h = 1, kernel_w = 1;
  bool depthwise = false;

  std::size_t per_channel() const {
    return static_cast<std::size_t>(depth) * static_cast<std::size_t>(kernel_h * kernel_w);
  }
};

struct weight_choices {
  bool per_channel = true;
  bool pair_safe = true;  ///< scales are the least by which vpmaddubsw cannot saturate (docs/reference/quantisation.md)
};

/// Stored weights, in the order of `values`, and a scale per channel; all equal unless per channel.
struct stored_weights {
  std::vector<std::int8_t> values;
  std::vector<float> scale;
};

/// Rounds weights to multiples of a scale, at least min_scale of the channel: to the nearest, and of a window's taps
/// some to the other neighbour, so that the taps of an input channel keep their sum. A channel of zeros has the largest
/// scale of the others.
stored_weights store_weights(const layer_weights& w, const weight_choices& how, const std::vector<float>& min_scale);

}
