// SPDX-License-Identifier: MIT
#include "pack/panels.hpp"
#include "pack/winograd.hpp"

namespace nsk::tool {

std::vector<float> pack_winograd(conv_algorithm algorithm, std::int64_t outputs, std::int64_t inputs,
                                 const std::vector<double>& weights, const std::vector<double>& bias) {
  const auto points = static_cast<std::size_t>(winograd_points(algorithm));
  const auto o = static_cast<std::size_t>(outputs), in = static_cast<std::size_t>(inputs);
  std::vector<float> transformed(points * in * o);  // [point][input][output]
  std::vector<double> u(points);
  for (std::size_t n = 0; n < o; ++n)
    for (std::size_t c = 0; c < in; ++c) {
      winograd_transform_weights(algorithm, &weights[(n * in + c) * 9], u.data());
      for (std::size_t x = 0; x < points; ++x) transformed[(x * in + c) * o + n] = static_cast<float>(u[x]);
    }
  std::vector<float> packed;
  packed.reserve(static_cast<std::size_t>(winograd_floats(algorithm, outputs, inputs)));
  pack_panels(
      packed, outputs, static_cast<std::int64_t>(points) * inputs,
      [&](std::int64_t k, std::int64_t n) { return transformed[static_cast<std::size_t>(k * outputs + n)]; },
      [&](std::int64_t n) { return bias[static_cast<std::size_t>(n)]; });
  return packed;
}

}
