// SPDX-License-Identifier: MIT
// Weights of layers as int8: how far they are from the exact ones, alone and as sums of a window.
#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <random>
#include "quantize/weights.hpp"

namespace {
using namespace nsk::tool;

layer_weights random_weights(int channels, int depth, int side, bool depthwise) {
  layer_weights w;
  w.channels = channels;
  w.depth = depth;
  w.kernel_h = w.kernel_w = side;
  w.depthwise = depthwise;
  std::mt19937 random(11);
  std::normal_distribution<double> normal(0, 0.1);
  w.values.resize(static_cast<std::size_t>(channels) * w.per_channel());
  for (double& x : w.values) x = normal(random);
  return w;
}

stored_weights stored(const layer_weights& w, bool pair_safe) {
  return store_weights(w, {true, pair_safe}, std::vector<float>(static_cast<std::size_t>(w.channels), 0.0f));
}

/// What is left of each weight, in units of its channel's scale.
std::vector<double> rest_of(const layer_weights& w, const stored_weights& s) {
  std::vector<double> rest(w.values.size());
  for (std::size_t i = 0; i < rest.size(); ++i)
    rest[i] = w.values[i] / static_cast<double>(s.scale[i / w.per_channel()]) - s.values[i];
  return rest;
}

/// Signal to noise of weights in dB.
double decibels(const layer_weights& w, const stored_weights& s) {
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < w.values.size(); ++i) {
    const double error = w.values[i] - s.values[i] * static_cast<double>(s.scale[i / w.per_channel()]);
    signal += w.values[i] * w.values[i];
    noise += error * error;
  }
  return 10 * std::log10(signal / noise);
}

TEST_CASE("store_weights: the taps of a window keep their sum, and each weight is one of its neighbours") {
  for (const int side : {2, 3, 5})
    for (const bool depthwise : {false, true}) {
      const layer_weights w = random_weights(24, depthwise ? 1 : 10, side, depthwise);
      const std::vector<double> rest = rest_of(w, stored(w, true));
      const auto taps = static_cast<std::size_t>(side * side);
      for (std::size_t i = 0; i < rest.size(); i += taps) {
        double sum = 0, largest = 0;
        for (std::size_t k = i; k < i + taps; ++k) {
          sum += rest[k];
          largest = std::max(largest, std::abs(rest[k]));
        }
        CHECK(std::abs(sum) <= 1);  // the nearest ones leave up to half of each tap
        CHECK(largest < 1);
      }
    }
}

TEST_CASE("store_weights: a matrix takes the nearest multiples") {
  const layer_weights w = random_weights(16, 40, 1, false);
  for (const double x : rest_of(w, stored(w, true))) CHECK(std::abs(x) <= 0.5001);
}

TEST_CASE("store_weights: pairs are safe, near 8 bits and far above 7") {
  for (const int side : {1, 3}) {
    const layer_weights w = random_weights(32, 32, side, false);
    const stored_weights safe = stored(w, true), whole = stored(w, false);
    const auto taps = static_cast<std::size_t>(side * side);
    for (std::size_t i = 0; i + taps < safe.values.size(); i += 2 * taps)
      for (std::size_t k = i; k < i + taps; ++k) {
        const int a = safe.values[k], b = safe.values[k + taps];
        CHECK(((a < 0) != (b < 0) || std::abs(a) + std::abs(b) <= 128));
      }
    constexpr double bit = 6.02;
    CHECK(decibels(w, safe) > decibels(w, whole) - 3);
    CHECK(decibels(w, safe) > decibels(w, whole) - bit + 3);
  }
}

}
