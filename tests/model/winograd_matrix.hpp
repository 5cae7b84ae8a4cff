// SPDX-License-Identifier: MIT
#pragma once
/// Weights of a convolution, transformed for Winograd.
#include <cstddef>
#include <vector>

#include <netsuke/format/packing.hpp>

namespace test {

/// Rows of G, from the definition: a polynomial of degree 2 evaluated at 0, 1, -1 (2, -2) and infinity, scaled so that
/// A and B have whole numbers.
inline std::vector<std::vector<double>> evaluation_points(nsk::conv_algorithm a) {
  if (a == nsk::conv_algorithm::winograd2) return {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
  const auto at = [](double x, double scale) { return std::vector<double>{scale, scale * x, scale * x * x}; };
  return {at(0, 0.25), at(1, -1.0 / 6), at(-1, -1.0 / 6), at(2, 1.0 / 24), at(-2, 1.0 / 24), {0, 0, 1}};
}

/// [kernel row][kernel column][input][output] becomes [point][input][output]; `inner` is inputs times outputs.
inline std::vector<float> winograd_matrix(nsk::conv_algorithm a, const std::vector<float>& matrix, std::size_t inner) {
  const auto g = evaluation_points(a);
  std::vector<float> points;
  for (const std::vector<double>& row : g)
    for (const std::vector<double>& column : g)
      for (std::size_t i = 0; i < inner; ++i) {
        double sum = 0;
        for (std::size_t tap = 0; tap < 9; ++tap)
          sum += row[tap / 3] * column[tap % 3] * static_cast<double>(matrix[tap * inner + i]);
        points.push_back(static_cast<float>(sum));
      }
  return points;
}

}
