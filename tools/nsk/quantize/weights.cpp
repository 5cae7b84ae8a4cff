// SPDX-License-Identifier: MIT
#include "quantize/weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include "pack/quads.hpp"

namespace nsk::tool {
namespace {

constexpr double max_stored = 127, smallest_scale = 0x1p-60;

/// Moves stored weights of one input channel, the taps of a window, to their other neighbours while that makes the
/// sum of the squares of what is `left` of them, and the square of the sum of it, less: neighbouring pixels are alike,
/// so that what one tap gives too much and another too little cancels.
void level(std::int8_t* stored, double* left, std::size_t taps) {
  double sum = 0;
  for (std::size_t i = 0; i < taps; ++i) sum += left[i];
  for (;;) {
    const int step = sum < 0 ? -1 : 1;
    std::size_t best = 0;
    for (std::size_t i = 1; i < taps; ++i)
      if (step * left[i] > step * left[best]) best = i;
    if (step * (sum + left[best]) <= 1 || std::abs(stored[best] + step) > static_cast<int>(max_stored)) return;
    stored[best] = static_cast<std::int8_t>(stored[best] + step);
    left[best] -= step;
    sum -= step;
  }
}

/// One channel's weights by a scale.
std::vector<std::int8_t> stored_by(const double* values, const layer_weights& w, float scale) {
  const std::size_t count = w.per_channel(), taps = count / static_cast<std::size_t>(w.depth);
  std::vector<std::int8_t> stored(count);
  std::vector<double> left(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double exact = values[i] / static_cast<double>(scale),
                 nearest = std::clamp(std::nearbyint(exact), -max_stored, max_stored);
    stored[i] = static_cast<std::int8_t>(nearest);
    left[i] = exact - nearest;
  }
  for (std::size_t i = 0; taps > 1 && i < count; i += taps) level(stored.data() + i, left.data() + i, taps);
  return stored;
}

/// Whether the products of each pair of weights with two bytes add up to an int16, as dot4_narrow needs, however a
/// kernel puts a channel in quads: by the pixels of a window or by its rows.
bool is_safe(const layer_weights& w, const std::vector<std::int8_t>& stored) {
  const std::int32_t bias = 0;
  const float scale = 1;
  quad_layer l;
  l.kernel_h = w.kernel_h;
  l.kernel_w = w.kernel_w;
  l.depth = w.depth;
  l.weights = stored.data();
  l.bias = &bias;
  l.scale = &scale;
  if (w.depthwise) {
    bool safe = false;
    static_cast<void>(pack_depthwise_quads(l, safe));
    return safe;
  }
  if (!are_safe(l)) return false;
  l.whole_rows = true;
  return are_safe(l);
}

/// The least scale from `scale` on by which the channel is safe; at twice the scale of full range it is.
float safe_scale(const layer_weights& w, const double* values, float scale) {
  const auto safe = [&](float s) { return is_safe(w, stored_by(values, w, s)); };
  if (safe(scale)) return scale;
  float unsafe = scale, good = 2 * scale;
  for (int i = 0; i < 16; ++i) {
    const float middle = unsafe + (good - unsafe) / 2;
    (safe(middle) ? good : unsafe) = middle;
  }
  return good;
}

double magnitude_of(const double* values, std::size_t count) {
  double magnitude = 0;
  for (std::size_t i = 0; i < count; ++i) magnitude = std::max(magnitude, std::abs(values[i]));
  return magnitude;
}

}

stored_weights store_weights(const layer_weights& w, const weight_choices& how, const std::vector<float>& min_scale) {
  const std::size_t count = w.per_channel(), channels = static_cast<std::size_t>(w.channels);
  const double whole = magnitude_of(w.values.data(), w.values.size());
  stored_weights result;
  for (std::size_t c = 0; c < channels; ++c) {
    const double* values = w.values.data() + c * count;
    const double magnitude = how.per_channel ? magnitude_of(values, count) : whole;
    float scale = magnitude == 0 ? 0 : static_cast<float>(std::max(magnitude / max_stored, smallest_scale));
    if (scale > 0) scale = std::max(scale, min_scale[c]);
    if (scale > 0 && how.pair_safe) scale = safe_scale(w, values, scale);
    result.scale.push_back(scale);
  }
  const float largest =
      std::max(*std::max_element(result.scale.begin(), result.scale.end()), static_cast<float>(smallest_scale));
  for (std::size_t c = 0; c < channels; ++c) {
    float& scale = result.scale[c];
    if (scale == 0 || !how.per_channel) scale = std::max(largest, min_scale[c]);
    const std::vector<std::int8_t> stored = stored_by(w.values.data() + c * count, w, scale);
    result.values.insert(result.values.end(), stored.begin(), stored.end());
  }
  return result;
}

}
