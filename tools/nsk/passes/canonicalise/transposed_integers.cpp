// SPDX-License-Identifier: MIT
/// Transposed convolutions of stored integers: the layers of their phases are steps on bytes, or exact sums in floats.
#include <algorithm>
#include <cmath>
#include <utility>
#include "passes/canonicalise/byte_steps.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/transposition.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::canonical {
namespace {

/// Everything but input, result and layers. `w` may be of some of the input channels.
transposed_images images_of(const context& c, const integer_weights& w) {
  constexpr std::size_t weights = 3;
  const std::vector<axis_of_transpose> axes = axes_of_transposition(c, weights);
  transposed_images i;
  if (axes.size() == 2) i.axis[0] = axes[0];
  i.axis[1] = axes.back();
  const auto taps = static_cast<std::int64_t>(w.taps), inputs = static_cast<std::int64_t>(w.depth / w.taps),
             outputs = c.in_shape(weights)[1], groups = c.op().integer("group", 1);
  i.weights = {{}, inputs, outputs, groups, i.axis[0].kernel, i.axis[1].kernel};
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t channel = 0; channel < inputs; ++channel)
      for (std::int64_t o = 0; o < outputs; ++o) {
        const auto from = w.values.begin() + ((g * outputs + o) * inputs + channel) * taps;
        i.weights.values.insert(i.weights.values.end(), from, from + taps);
      }
  i.bias = w.bias;
  i.bias.resize(w.channels, 0.0);
  return i;
}

/// Whether kernels take each layer that has some of the taps, whichever they are.
bool takes_every_phase(const context& c, const integer_weights& w, const stored_product& p) {
  constexpr double max_sum = 2147483647.0, max_units = 1073741824.0, steps = 256;  // 2^31 - 1, 2^30
  const std::size_t group_channels = w.depth / w.taps;
  const bool depthwise = group_channels == 1 && w.channels == static_cast<std::size_t>(p.groups);
  std::int64_t phases = 1;
  for (const std::int64_t s : c.op().integers("strides")) phases = std::min(phases, max_written_phases + 1) * s;
  const bool splits_channels = phases > max_written_phases;
  if (p.groups > 1 && (!depthwise || splits_channels) && static_cast<std::int64_t>(group_channels) < min_group_channels)
    return false;
  const std::optional<int> offset = offset_of_weights(w, depthwise);
  if (!offset) return false;
  // inputs are at most 255, less their zero point too; a phase without weights that need it has no offset
  const double bound = 2 * w.bound(255) + (*offset == 0 ? 0 : 255 * steps * static_cast<double>(w.depth));
  const float scale = *std::max_element(p.scale.begin(), p.scale.end());
  return bound <= max_sum && bound * static_cast<double>(scale) < max_units;
}

/// The byte of a pixel that no tap reaches, channel by channel.
std::vector<double> bytes_of_bias(const integer_weights& w, const stored_product& p) {
  std::vector<double> bytes;
  for (std::size_t o = 0; o < w.channels; ++o) {
    const float sum = w.bias.empty() ? 0.0f : static_cast<float>(w.bias[o]);
    const std::int64_t byte = reference::stored(sum * p.scale[p.scale.size() == 1 ? 0 : o],
                                                static_cast<std::int64_t>(p.zero), *range_of_stored(element::u8));
    bytes.push_back(static_cast<double>(byte));
  }
  return bytes;
}

}

bool emit_stored_transposition(context& c, const integer_weights& w, const stored_product& product) {
  if (!is_of_bytes(c, product) || !takes_every_phase(c, w, product)) return false;
  const stored_product p = unsigned_product(c, product);
  transposed_images i = images_of(c, w);
  i.input = p.input;
  i.result = p.result;
  i.layers.type = element::u8;
  i.layers.convolve = [&](conv_parameters layer, int input, int result) {
    stored_product phase = p;
    phase.input = input;
    phase.result = result;
    phase.w = layer.w;
    integer_weights some;
    some.channels = static_cast<std::size_t>(layer.outputs);
    some.depth = layer.weights.size() / some.channels;
    some.taps = static_cast<std::size_t>(layer.w.kernel_h * layer.w.kernel_w);
    some.by_channel = true;
    some.values = std::move(layer.weights);
    some.bias = std::move(layer.bias);
    if (p.scale.size() > 1) {
      phase.scale.clear();
      for (std::size_t o = 0; o < some.channels; ++o) phase.scale.push_back(p.scale[o * w.channels / some.channels]);
    }
    if (!emit_stored_product(c, some, phase)) c.refuse("a phase has no step on bytes");
  };
  i.layers.fill = [&](int result) {
    const std::vector<double> bytes = bytes_of_bias(w, p);
    shape_t column(c.shape(result).size(), 1);
    const std::int64_t channels = column[1] = c.shape(result)[1];
    std::vector<std::int64_t> all;
    for (std::int64_t o = 0; o < channels; ++o)
      all.push_back(static_cast<std::int64_t>(
          bytes[static_cast<std::size_t>(o * static_cast<std::int64_t>(bytes.size()) / channels)]));
    const std::string name = "bias" + std::to_string(c.made().values.size());
    c.emit(expand_parameters{}, {constant_integers(c, name, column, element::u8, all)}, result);
  };
  write_transposition(c, std::move(i));
  finish_unsigned(c, p.result);
  return true;
}

void emit_exact_transposition(context& c, const integer_weights& w, int input, int result) {
  transposed_images i = images_of(c, w);
  i.input = input;
  i.result = result;
  i.name = "at" + std::to_string(result);
  i.layers.exact = true;
  write_transposition(c, std::move(i));
}

}
