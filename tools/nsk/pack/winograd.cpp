// SPDX-License-Identifier: MIT
#include "pack/winograd.hpp"
#include <algorithm>
#include "pack/panels.hpp"
#include "pack/transform_taps.hpp"

namespace nsk::tool {

std::vector<float> pack_kernels(std::int64_t outputs, std::int64_t inputs, const std::vector<double>& weights,
                                const std::vector<double>& bias) {
  std::vector<float> packed;
  pack_panels(
      packed, outputs, 9 * inputs,
      [&](std::int64_t k, std::int64_t n) { return weights[static_cast<std::size_t>(n * 9 * inputs + k)]; },
      [&](std::int64_t n) { return bias[static_cast<std::size_t>(n)]; });
  return packed;
}

std::vector<float> transform_kernels(conv_algorithm algorithm, std::int64_t outputs, std::int64_t inputs,
                                     const std::vector<float>& kernels) {
  std::vector<float> packed(static_cast<std::size_t>(winograd_floats(algorithm, outputs, inputs)));
  const float* from = kernels.data();
  float* to = packed.data();
  for (std::int64_t p = 0; p < panel_count(outputs); ++p) {
    const std::int64_t width = width_of_panel(outputs, p);
    std::copy_n(from, width, to);
    from += width;
    to += width;
    for (std::int64_t k = 0; k < inputs; ++k)
      transform_taps(winograd_outputs(algorithm) + 2, from + 9 * k * width, width, to + k * width, inputs * width);
    from += 9 * inputs * width;
    to += winograd_points(algorithm) * inputs * width;
  }
  return packed;
}

}
