// SPDX-License-Identifier: MIT
#pragma once
/// Parts of a transposed convolution.
#include <cstdint>
#include <string>
#include <vector>
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

/// One spatial axis.
struct axis_of_transpose {
  std::int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;
};

/// The taps of one phase by rising input position: tap i reads input q + first + i * step.
struct phase_taps {
  std::vector<std::int64_t> tap;
  std::int64_t first = 0, step = 1;
};

struct transposed_weights {
  std::vector<double> values;                                  ///< [C][O / groups][kernel_h][kernel_w]
  std::int64_t channels, outputs, groups, kernel_h, kernel_w;  ///< channels and outputs are per group

  double at(std::int64_t group, std::int64_t channel, std::int64_t output, std::int64_t y, std::int64_t x) const {
    return values[static_cast<std::size_t>(
        (((group * channels + channel) * outputs + output) * kernel_h + y) * kernel_w + x)];
  }
};

/// Images whose transposed convolution is to be written.
struct transposed_images {
  int input = no_value;  ///< [N, C, H, W], or [N, C, W]
  axis_of_transpose axis[2] = {};
  transposed_weights weights;
  std::vector<double> bias;
  int result = no_value;
  std::string name;  ///< of its values, with the node's
};

/// Returns the taps of a phase of an axis.
phase_taps taps_of(const axis_of_transpose& a, std::int64_t phase);
/// Writes the transposed convolution of images.
void write_transposition(context& c, transposed_images i);
/// Writes the node, which has three spatial axes, to `result`; a computed bias is left out.
void transpose_volume(context& c, const std::vector<axis_of_transpose>& axes, int result);

}
