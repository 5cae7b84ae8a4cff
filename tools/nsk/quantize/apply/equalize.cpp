// SPDX-License-Identifier: MIT
#include "quantize/apply/equalize.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "quantize/layers.hpp"

namespace nsk::tool {
namespace {

/// Two layers one behind the other: positions in the list of layers.
struct neighbours {
  std::size_t first, second;
};

/// Follows the only reader of what a layer makes, through operators that pass on a positive factor of each channel.
class chain_finder {
 public:
  chain_finder(const graph& g, const std::vector<float_layer>& layers) : m_graph(g), m_layers(layers), m_readers(g) {
    for (std::size_t i = 0; i < layers.size(); ++i) m_layer_at[layers[i].node] = i;
  }

  std::vector<neighbours> find() const {
    std::vector<neighbours> result;
    for (std::size_t i = 0; i < m_layers.size(); ++i) {
      const auto second = behind(m_layers[i]);
      if (second && has_channels(m_layers[*second], m_layers[i].weights.channels)) result.push_back({i, *second});
    }
    return result;
  }

 private:
  std::optional<std::size_t> behind(const float_layer& l) const {
    const bool is_matrix = m_graph.at(l.result).shape.size() == 2;
    if (m_graph.nodes[l.node].op != "Conv" && !is_matrix) return std::nullopt;  // channels are not the last axis
    for (value_id v = l.result;;) {
      const auto reader = m_readers.only(v);
      if (!reader) return std::nullopt;
      const node& n = m_graph.nodes[*reader];
      if (const auto layer = m_layer_at.find(*reader); layer != m_layer_at.end())
        return m_layers[layer->second].input == v ? std::optional(layer->second) : std::nullopt;
      if (!passes_factors(n, v, l.weights.channels)) return std::nullopt;
      v = n.outputs[0];
    }
  }
  bool passes_factors(const node& n, value_id from, std::int64_t channels) const {
    static const std::set<std::string> same = {"Identity", "Relu",        "LeakyRelu",         "PRelu",
                                               "MaxPool",  "AveragePool", "GlobalAveragePool", "GlobalMaxPool"};
    static const std::set<std::string> reshapes = {"Flatten", "Reshape", "Squeeze"};
    if (!n.domain.empty() || n.outputs.size() != 1 || n.inputs[0] != from) return false;
    if (reshapes.count(n.op) != 0) {  // one number each, still along the axis of channels
      const shape_t& s = m_graph.at(n.outputs[0]).shape;
      return count_of(s) == channels && s.size() >= 2 && s[1] == channels;
    }
    return same.count(n.op) != 0;
  }
  /// Whether the layer reads as many channels, each by weights of its own.
  bool has_channels(const float_layer& l, std::int64_t channels) const {
    const node& n = m_graph.nodes[l.node];
    if (n.op != "Conv" && m_graph.at(l.input).shape.size() != 2) return false;
    return l.weights.depth * (n.op == "Conv" ? n.integer("group", 1) : 1) == channels;
  }

  const graph& m_graph;
  const std::vector<float_layer>& m_layers;
  const value_readers m_readers;
  std::map<std::size_t, std::size_t> m_layer_at;
};

/// Calls f(weight) for the weights that make an output channel.
template <class F>
void for_each_made(layer_weights& w, std::size_t channel, F f) {
  for (std::size_t i = 0; i < w.per_channel(); ++i) f(w.values[channel * w.per_channel() + i]);
}
/// Calls f(weight) for the weights that read an input channel.
template <class F>
void for_each_read(layer_weights& w, std::size_t channel, std::size_t all, F f) {
  const auto depth = static_cast<std::size_t>(w.depth), taps = static_cast<std::size_t>(w.kernel_h * w.kernel_w),
             per_group = static_cast<std::size_t>(w.channels) / (all / depth), group = channel / depth;
  for (std::size_t c = group * per_group; c < (group + 1) * per_group; ++c)
    for (std::size_t t = 0; t < taps; ++t) f(w.values[(c * depth + channel % depth) * taps + t]);
}

/// By which powers of two the channels between two layers are divided; `made`: how far each reaches.
std::vector<int> exponents_of(const std::vector<double>& made, const std::vector<double>& read) {
  constexpr double max_exponent = 12;
  std::vector<int> result;
  for (std::size_t c = 0; c < made.size(); ++c) {
    const double ratio = made[c] > 0 && read[c] > 0 ? std::log2(made[c] / read[c]) / 2 : 0;
    result.push_back(static_cast<int>(std::nearbyint(std::clamp(ratio, -max_exponent, max_exponent))));
  }
  return result;
}

/// Whether float32 holds a number as it is.
bool is_float(double x) { return static_cast<double>(static_cast<float>(x)) == x; }

/// Makes the channels between two layers alike. Returns whether anything changed.
bool equalize(float_layer& first, float_layer& second, const std::vector<double>* magnitudes) {
  const auto channels = static_cast<std::size_t>(first.weights.channels);
  std::vector<double> made(channels), read(channels);
  const auto reach = [](double& furthest) { return [&](double w) { furthest = std::max(furthest, std::abs(w)); }; };
  for (std::size_t c = 0; c < channels; ++c) {
    if (magnitudes != nullptr)
      made[c] = (*magnitudes)[c];
    else
      for_each_made(first.weights, c, reach(made[c]));
    for_each_read(second.weights, c, channels, reach(read[c]));
  }
  const std::vector<int> exponents = exponents_of(made, read);
  bool changed = false;
  for (std::size_t c = 0; c < channels; ++c) {
    const double factor = std::ldexp(1.0, exponents[c]);
    bool exact = first.bias.empty() || is_float(first.bias[c] / factor);
    for_each_made(first.weights, c, [&](double w) { exact = exact && is_float(w / factor); });
    for_each_read(second.weights, c, channels, [&](double w) { exact = exact && is_float(w * factor); });
    if (!exact) continue;
    changed = changed || factor != 1;
    for_each_made(first.weights, c, [&](double& w) { w /= factor; });
    if (!first.bias.empty()) first.bias[c] /= factor;
    for_each_read(second.weights, c, channels, [&](double& w) { w *= factor; });
  }
  return changed;
}

/// Gives a node constants of its own.
void write_back(graph& g, const float_layer& l) {
  node& n = g.nodes[l.node];
  const auto put = [&](std::size_t input, const std::vector<double>& numbers, auto place_of) {
    value v = g.at(n.inputs[input]);
    array a(element::f32, v.shape);
    for (std::size_t i = 0; i < numbers.size(); ++i) a.set(static_cast<std::int64_t>(place_of(i)), numbers[i]);
    v.name = l.name + (input == 1 ? "#equalized" : "#equalized_bias");
    v.constant = std::make_shared<const array>(std::move(a));
    v.stored = nullptr;
    n.inputs[input] = g.add(std::move(v));
  };
  const auto channels = static_cast<std::size_t>(l.weights.channels), depth = static_cast<std::size_t>(l.weights.depth);
  const bool columns = n.op != "Conv" && n.integer("transB", 0) == 0;
  put(1, l.weights.values, [&](std::size_t i) { return columns ? i % depth * channels + i / depth : i; });
  if (!l.bias.empty()) put(2, l.bias, [](std::size_t i) { return i; });
}

}

std::size_t equalize(graph& g, const channel_magnitudes& measured) {
  constexpr int max_sweeps = 40;
  std::vector<float_layer> layers = layers_of(g);
  const std::vector<neighbours> pairs = chain_finder(g, layers).find();
  std::vector<std::vector<double>> magnitudes;
  if (measured && !pairs.empty()) {
    std::vector<std::string> names;
    for (const neighbours& p : pairs) names.push_back(g.at(layers[p.second].input).name);
    magnitudes = measured(names);
  }
  std::set<std::size_t> changed_pairs;
  std::set<std::size_t> changed_layers;
  bool changes = true;
  for (int sweep = 0; changes && sweep < (measured ? 1 : max_sweeps); ++sweep) {
    changes = false;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (!equalize(layers[pairs[i].first], layers[pairs[i].second], measured ? &magnitudes[i] : nullptr)) continue;
      changes = true;
      changed_pairs.insert(i);
      changed_layers.insert({pairs[i].first, pairs[i].second});
    }
  }
  for (const std::size_t l : changed_layers) write_back(g, layers[l]);
  return changed_pairs.size();
}

}
