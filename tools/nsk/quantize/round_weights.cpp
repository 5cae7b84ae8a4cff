// SPDX-License-Identifier: MIT
#include "quantize/round_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/float16.hpp"
#include "quantize/layers.hpp"
#include "shrink/numbers.hpp"

namespace nsk::tool {
namespace {

/// A constant input, and the axis of its output channels; those before it belong to other matrices, or are added up.
struct weight_axis {
  std::size_t input;
  int axis;
  bool adds_before;
};

std::vector<weight_axis> weight_axes(const node& n) {
  if (!n.domain.empty()) return {};
  if (n.op == "RNN" || n.op == "GRU" || n.op == "LSTM") return {{1, 1, false}, {2, 1, false}};
  if (n.op == "MatMul") return {{1, -1, false}};
  if (n.op == "Gemm" && n.number("alpha", 1) == 1)
    return {n.integer("transB", 0) != 0 ? weight_axis{1, 0, false} : weight_axis{1, -1, false}};
  if (n.op == "Conv") return {{1, 0, false}};
  if (n.op == "ConvTranspose") return {{1, 1, true}};
  return {};
}

/// The weights of a node that are constants of float32.
std::vector<weight_input> weight_inputs(const graph& g, const node& n) {
  std::vector<weight_input> result;
  for (const weight_axis& w : weight_axes(n)) {
    if (w.input >= n.inputs.size() || n.inputs[w.input] == no_value) continue;
    const auto& constant = g.values[static_cast<std::size_t>(n.inputs[w.input])].constant;
    if (!constant || constant->type != element::f32 || constant->shape.size() < 2) continue;
    const shape_t& shape = constant->shape;
    const std::size_t last = shape.size() - 1, axis = w.axis < 0 ? last : static_cast<std::size_t>(w.axis),
                      first = w.adds_before ? 0
                              : w.axis < 0  ? last - 1
                                            : axis;
    result.push_back({w.input, count_between(shape, 0, first), count_between(shape, first, axis), shape[axis],
                      count_between(shape, axis + 1, shape.size())});
  }
  return result;
}

weight_format format_of(weight_format wanted, const node& n, const weight_input& w) {
  const bool convolves = n.op == "Conv" || n.op == "ConvTranspose";
  return wanted == weight_format::w8 && convolves && w.depth() <= max_half_depth ? weight_format::fp16 : wanted;
}

/// The weights of one output channel.
struct channel_weights {
  float* first;
  const weight_input& layout;

  std::int64_t count() const { return layout.depth(); }
  float& operator[](std::int64_t i) const {
    return first[i / layout.after * layout.channels * layout.after + i % layout.after];
  }
};

/// `scale` with 16 significant bits, so that its products with 7 bits are exact.
float short_scale(double scale) {
  int exponent = 0;
  const double fraction = std::frexp(scale, &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(fraction, 16)), exponent - 16));
}

/// The nearest multiple that has a byte; never -0, which bytes do not have.
float stored_as(float x, float scale) { return std::clamp(std::nearbyint(x / scale), -127.0f, 127.0f) * scale + 0.0f; }

/// Rounds the weights of a channel to multiples of the scale that loses least, of those that keep its largest weight or
/// cut it by up to a quarter.
void round_channel(const channel_weights& w, float largest) {
  float best = 0;
  double min_lost = std::numeric_limits<double>::infinity();
  for (int cut = 0; cut <= 8; ++cut) {
    const float scale = short_scale(static_cast<double>(largest) * (1 - cut / 32.0) / 127);
    double lost = 0;
    for (std::int64_t i = 0; i < w.count(); ++i) {
      const auto error = static_cast<double>(w[i] - stored_as(w[i], scale));
      lost += error * error;
    }
    if (lost < min_lost) min_lost = lost, best = scale;
  }
  for (std::int64_t i = 0; i < w.count(); ++i) w[i] = stored_as(w[i], best);
}

/// Rounds the weights of a channel to halves; to halves times a power of two where they would be infinite, or lose more
/// than a thousandth.
void halve_channel(const channel_weights& w, float largest) {
  constexpr float largest_half = 65504;
  double lost = 0, all = 0;
  const auto rounded = [&](std::int64_t i, float scale) {
    return float_from_half(half_from_double(static_cast<double>(w[i] / scale))) * scale;
  };
  for (std::int64_t i = 0; i < w.count() && largest <= largest_half; ++i) {
    const auto exact = static_cast<double>(w[i]), error = exact - static_cast<double>(rounded(i, 1));
    lost += error * error;
    all += exact * exact;
  }
  const bool fits = largest <= largest_half && lost * 0x1p20 <= all;
  const float scale = fits ? 1 : scale_of_halves(largest);
  for (std::int64_t i = 0; i < w.count(); ++i) w[i] = rounded(i, scale);
}

/// Rounds `a` to the format; the reason why not where that cannot be.
std::string round_to(weight_format format, array& a, const weight_input& layout) {
  constexpr float max_largest = 0x1p100f;
  for (std::int64_t i = 0; i < layout.separate * layout.channels; ++i) {
    const std::int64_t matrix = i / layout.channels * layout.depth() * layout.channels,
                       channel = i % layout.channels * layout.after;
    const channel_weights w = {a.as<float>() + matrix + channel, layout};
    float largest = 0;
    bool finite = true;
    for (std::int64_t k = 0; k < w.count(); ++k) {
      finite = finite && std::isfinite(w[k]);
      largest = std::max(largest, std::abs(w[k]));
    }
    if (!finite || largest > max_largest) return "a weight is beyond 2^100";
    if (largest == 0) continue;
    if (largest < min_scaled) return "the weights of a channel are below 2^-100";
    format == weight_format::w8 ? round_channel(w, largest) : halve_channel(w, largest);
  }
  return "";
}

}

std::string rounded_constants::round(weight_format format, std::shared_ptr<const array>& constant,
                                     const weight_input& layout) {
  const auto id = std::tuple(constant, layout.layout(), format);
  auto known = m_known.find(id);
  if (known == m_known.end()) {
    const auto values = std::make_shared<array>(*constant);
    if (std::string reason = round_to(format, *values, layout); !reason.empty()) return reason;
    known = m_known.emplace(id, values).first;
  }
  constant = known->second;
  return "";
}

bool has_weights(const graph& g, const node& n) { return !weight_inputs(g, n).empty(); }

rounded_weights round_weights(graph& g, const kept_layers& kept, weight_format format, rounded_constants& known) {
  fold_normalization(g);
  rounded_weights result;
  std::map<std::pair<value_id, decltype(weight_input().layout())>, value_id> narrow;  // by constant and its layout
  for (node& n : g.nodes) {
    if (kept.count(n.name) != 0) continue;
    std::vector<std::pair<std::size_t, value_id>> inputs;
    std::string reason;
    for (const weight_input& w : weight_inputs(g, n)) {
      auto found = narrow.find({n.inputs[w.input], w.layout()});
      if (found == narrow.end()) {
        value rounded = g.values[static_cast<std::size_t>(n.inputs[w.input])];
        const weight_format chosen = format_of(format, n, w);
        reason = known.round(chosen, rounded.constant, w);
        if (!reason.empty()) break;
        rounded.name += chosen == weight_format::w8 ? "#int8" : "#float16";
        rounded.stored = nullptr;
        found = narrow.emplace(std::pair(n.inputs[w.input], w.layout()), g.add(std::move(rounded))).first;
      }
      inputs.emplace_back(w.input, found->second);
    }
    if (!reason.empty()) {
      result.declined.emplace(n.name, reason);
      continue;
    }
    for (const auto& [input, id] : inputs) n.inputs[input] = id;
    if (!inputs.empty()) result.nodes.insert(n.name);
  }
  return result;
}

rounded_weights round_weights(graph& g, const kept_layers& kept, weight_format format) {
  rounded_constants known;
  return round_weights(g, kept, format, known);
}

}
