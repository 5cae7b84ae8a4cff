// SPDX-License-Identifier: MIT
#include "quantize/narrow_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <netsuke/model/open.hpp>
#include <netsuke/ops/impl/narrow_weights.hpp>
#include "errors.hpp"
#include "status_text.hpp"
#include "graph/float16.hpp"

namespace nsk::tool {
namespace {

constexpr double largest_half = 65504;
constexpr std::size_t last_axis = max_axes;

/// A constant input of a node, and the axis of its output channels.
struct weight_input {
  std::size_t input, axis;
};

std::vector<weight_input> weight_inputs_of(const node& n, weight_format format) {
  if (!n.domain.empty()) return {};
  if (n.op == "RNN" || n.op == "GRU" || n.op == "LSTM") return {{1, 1}, {2, 1}};
  if (n.op == "MatMul") return {{1, last_axis}};
  if (n.op == "Gemm" && n.number("alpha", 1) == 1) return {{1, n.integer("transB", 0) != 0 ? std::size_t{0} : 1}};
  if (format == weight_format::w8) return {};
  if (n.op == "Conv") return {{1, 0}};
  if (n.op == "ConvTranspose") return {{1, 1}};
  return {};
}

/// The same for those that are constants of float32, with axes that they have.
std::vector<weight_input> weight_inputs(const graph& g, const node& n, weight_format format) {
  std::vector<weight_input> result;
  for (weight_input w : weight_inputs_of(n, format)) {
    if (w.input >= n.inputs.size() || n.inputs[w.input] == no_value) continue;
    const auto& constant = g.values[static_cast<std::size_t>(n.inputs[w.input])].constant;
    if (!constant || constant->type != element::f32 || constant->shape.size() < 2) continue;
    w.axis = std::min(w.axis, constant->shape.size() - 1);
    result.push_back(w);
  }
  return result;
}

/// Rounds `a` to halves; the reason why not where they do not hold it.
std::string round_to_halves(array& a, std::size_t axis) {
  std::int64_t inner = 1;
  for (std::size_t d = axis + 1; d < a.shape.size(); ++d) inner *= a.shape[d];
  const std::int64_t channels = a.shape[axis];
  std::vector<double> lost(static_cast<std::size_t>(channels)), all(lost.size());
  for (std::int64_t i = 0; i < a.count(); ++i) {
    float& x = a.as<float>()[i];
    const double exact = static_cast<double>(x);
    if (!(std::fabs(exact) <= largest_half)) return "a weight is beyond 65504";
    x = float_from_half(half_from_double(exact));
    const auto channel = static_cast<std::size_t>(i / inner % channels);
    const double error = exact - static_cast<double>(x);
    lost[channel] += error * error;
    all[channel] += exact * exact;
  }
  for (std::size_t c = 0; c < lost.size(); ++c)
    if (lost[c] * 0x1p20 > all[c]) return "weights below 2^-14 would lose their digits";
  return "";
}

/// The weights of one output channel: `count` of them, `step` apart.
struct channel_weights {
  float* first;
  std::int64_t count, step;

  float& operator[](std::int64_t i) const { return first[i * step]; }
};

/// `scale` with 16 significant bits, so that its products with 7 bits are exact.
float short_scale(double scale) {
  int exponent = 0;
  const double fraction = std::frexp(scale, &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(fraction, 16)), exponent - 16));
}

float stored_as(float x, float scale) { return std::clamp(std::nearbyint(x / scale), -127.0f, 127.0f) * scale; }

/// Rounds the weights of a channel to multiples of the scale that loses least, of those that keep its largest weight or
/// cut it by up to a quarter.
void round_channel(const channel_weights& w, float largest) {
  float best = 0;
  double min_lost = std::numeric_limits<double>::infinity();
  for (int cut = 0; cut <= 8; ++cut) {
    const float scale = short_scale(static_cast<double>(largest) * (1 - cut / 32.0) / 127);
    double lost = 0;
    for (std::int64_t i = 0; i < w.count; ++i) {
      const auto error = static_cast<double>(w[i] - stored_as(w[i], scale));
      lost += error * error;
    }
    if (lost < min_lost) min_lost = lost, best = scale;
  }
  for (std::int64_t i = 0; i < w.count; ++i) w[i] = stored_as(w[i], best);
}

/// Rounds `a` to int8 with a scale for each channel; the reason why not where that cannot be.
std::string round_to_bytes(array& a, std::size_t axis) {
  constexpr float min_largest = 0x1p-100f, max_largest = 0x1p100f;
  const bool is_last = axis + 1 == a.shape.size();
  const std::int64_t columns = is_last ? a.shape[axis] : 1, depth = is_last ? a.shape[axis - 1] : a.shape[axis + 1];
  float* const data = a.as<float>();
  for (std::int64_t i = 0; i < a.count() / depth; ++i) {
    const channel_weights w = {data + i / columns * columns * depth + i % columns, depth, columns};
    float largest = 0;
    bool finite = true;
    for (std::int64_t k = 0; k < depth; ++k) {
      finite = finite && std::isfinite(w[k]);
      largest = std::max(largest, std::abs(w[k]));
    }
    if (!finite || largest > max_largest) return "a weight is beyond 2^100";
    if (largest == 0) continue;
    if (largest < min_largest) return "the weights of a channel are below 2^-100";
    round_channel(w, largest);
  }
  return "";
}

std::string round_to(weight_format format, array& a, std::size_t axis) {
  return format == weight_format::w8 ? round_to_bytes(a, axis) : round_to_halves(a, axis);
}

/// The source nodes in the name of a step: "conv+relu", and what follows a '#' is the converter's.
std::vector<std::string> nodes_of(const std::string& step) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= step.size();) {
    const std::size_t end = std::min(step.find('+', at), step.size());
    const std::string part = step.substr(at, end - at);
    names.push_back(part.substr(0, part.find('#')));
    at = end + 1;
  }
  return names;
}

/// Whether a step has weights that could be of the format.
bool has_panels(const step_view& s, weight_format format) {
  const bool takes = format == weight_format::w8 ? impl::takes_byte_weights(s.op()) : impl::takes_half_weights(s.op());
  return takes && s.input(1).arrangement() != packing::plain;
}
bool is_narrow(const step_view& s) { return s.input(1).type() != dtype::float32; }

constexpr const char* faster_reason = "faster so; --target size goes by bytes";

/// Bytes that weights of float16 and int8 save.
std::int64_t saved_bytes(const model& m) {
  std::int64_t bytes = 0;
  for (int k = 0; k < m.variant(0).step_count(); ++k) {
    const step_view s = m.variant(0).step(k);
    if (impl::has_half_weights(s)) bytes += static_cast<std::int64_t>(s.input(1).bytes());
    if (impl::has_byte_weights(s)) bytes += 3 * static_cast<std::int64_t>(s.input(1).bytes());
  }
  return bytes;
}
/// Bytes that the weights of a file would have as float32.
std::int64_t float_bytes(const model& m) { return static_cast<std::int64_t>(m.weights().size()) + saved_bytes(m); }

/// How many rows meet the weights of a step at once.
std::int64_t rows_at_once(const step_view& s) {
  const tensor_info y = s.output();
  return s.op() == op::recurrent ? y.shape()[0] : y.elements() / y.shape()[y.rank() - 1];
}
/// Layers that the format makes slower in a variant for CPUs, where float32 weights up to `kept_weights` bytes stay in
/// the caches.
kept_layers slower_layers(const model& m, weight_format format, std::int64_t kept_weights) {
  // float16 is widened once for all rows of a tile, int8 for each register tile
  const std::int64_t few_rows = format == weight_format::fp16 ? 32 : 16;
  kept_layers result;
  const bool stays = float_bytes(m) <= kept_weights;
  for (int i = 0; kept_weights != 0 && i < m.variant_count(); ++i) {
    const variant_view v = m.variant(i);
    for (int k = 0; v.profile() != std::string(gpu_profile) && k < v.step_count(); ++k) {
      const step_view s = v.step(k);
      if (!has_panels(s, format) || !is_narrow(s)) continue;
      const bool few = rows_at_once(s) <= few_rows;
      if (few ? !stays : format == weight_format::fp16) continue;
      for (const std::string& name : nodes_of(s.name())) result.emplace(name, faster_reason);
    }
  }
  return result;
}

/// Refuses a file whose weights stay float32 for speed, but for less than a twentieth of them.
void require_gain(const model& m, const kept_layers& kept, weight_format format) {
  const std::int64_t saved = saved_bytes(m), all = float_bytes(m);
  const auto is_faster = [](const auto& layer) { return layer.second == faster_reason; };
  if (20 * saved >= all || std::none_of(kept.begin(), kept.end(), is_faster)) return;
  refuse("the network would be no faster with " + std::string(format == weight_format::w8 ? "int8" : "float16") +
         " weights, and its file " + std::to_string(100 * saved / all) + " % smaller: its " +
         std::to_string(all / 1000) +
         " kB of float32 are read from caches, or used many times. Give --target size for a smaller file");
}

/// How many layers of the first variant have the format, and which do not for other reasons than Winograd's algorithms.
std::string note_of(const model& m, const kept_layers& kept, weight_format format) {
  constexpr std::size_t max_named = 8;
  int narrow = 0, all = 0, winograd = 0;
  std::vector<std::string> others;  // a recurrent layer is two steps
  for (int k = 0; k < m.variant(0).step_count(); ++k) {
    const step_view s = m.variant(0).step(k);
    if (!has_panels(s, format)) continue;
    ++all;
    if (is_narrow(s)) {
      ++narrow;
    } else if (s.input(1).arrangement() != packing::panels) {
      ++winograd;
    } else {
      const std::vector<std::string> names = nodes_of(s.name());
      const auto reason = kept.find(names.front());
      const std::string other = "'" + names.front() + "'" + (reason != kept.end() ? " (" + reason->second + ")" : "");
      if (std::find(others.begin(), others.end(), other) == others.end()) others.push_back(other);
    }
  }
  const bool bytes = format == weight_format::w8;
  std::string note = std::string("weights are ") + (bytes ? "int8" : "float16") + " in " + std::to_string(narrow) +
                     " of " + std::to_string(all) + (bytes ? " dense and recurrent layers" : " layers");
  if (winograd != 0) note += "; float32 in " + std::to_string(winograd) + " that Winograd's algorithms compute";
  for (std::size_t i = 0; i < std::min(others.size(), max_named); ++i)
    note += (i == 0 ? "; float32 in " : ", ") + others[i];
  if (others.size() > max_named) note += " and " + std::to_string(others.size() - max_named) + " others";
  return note;
}

bool has_narrow_weights(const model& m) {
  for (int i = 0; i < m.variant_count(); ++i)
    for (int k = 0; k < m.variant(i).step_count(); ++k)
      if (impl::has_half_weights(m.variant(i).step(k)) || impl::has_byte_weights(m.variant(i).step(k))) return true;
  return false;
}

}

rounded_weights round_weights(graph& g, const kept_layers& kept, weight_format format) {
  rounded_weights result;
  std::map<std::pair<value_id, std::size_t>, value_id> narrow;  // by constant and axis
  for (node& n : g.nodes) {
    if (kept.count(n.name) != 0) continue;
    std::vector<std::pair<std::size_t, value_id>> inputs;
    std::string reason;
    for (const weight_input& w : weight_inputs(g, n, format)) {
      auto found = narrow.find({n.inputs[w.input], w.axis});
      if (found == narrow.end()) {
        value rounded = g.values[static_cast<std::size_t>(n.inputs[w.input])];
        const auto values = std::make_shared<array>(*rounded.constant);
        reason = round_to(format, *values, w.axis);
        if (!reason.empty()) break;
        rounded.name += format == weight_format::w8 ? "#int8" : "#float16";
        rounded.constant = values;
        rounded.stored = nullptr;
        found = narrow.emplace(std::pair(n.inputs[w.input], w.axis), g.add(std::move(rounded))).first;
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

kept_layers float_layers(const model& m, weight_format format) {
  kept_layers result;
  for (int i = 0; i < m.variant_count(); ++i) {
    if (m.variant(i).profile() == std::string(gpu_profile)) continue;
    for (int k = 0; k < m.variant(i).step_count(); ++k) {
      const step_view s = m.variant(i).step(k);
      if (!has_panels(s, format) || is_narrow(s)) continue;
      const bool winograd = s.input(1).arrangement() != packing::panels;
      for (const std::string& name : nodes_of(s.name()))
        result.emplace(name, winograd ? "Winograd" : "scaled by other constants of the model");
    }
  }
  return result;
}

compiled_file compile_with_narrow_weights(std::vector<variant_source>& variants, const compile_options& options,
                                          std::string& note) {
  for (kept_layers kept = options.float_weights;;) {
    std::vector<variant_source> rounded = variants;
    std::set<std::string> nodes;
    for (variant_source& v : rounded) {
      const rounded_weights done = round_weights(v.g, kept, options.weights);
      nodes.insert(done.nodes.begin(), done.nodes.end());
      kept.insert(done.declined.begin(), done.declined.end());
      if (!v.exported) continue;
      const auto exported = std::make_shared<graph>(*v.exported);
      static_cast<void>(round_weights(*exported, kept, options.weights));
      v.exported = exported;
    }
    compiled_file file = compile_file(rounded, options);
    model m;
    if (const status s = open({file.bytes.data(), file.bytes.size()}, m); !s) refuse(status_text(s) + ".");
    bool settled = true;
    const kept_layers slower = slower_layers(m, options.weights, options.kept_weights);
    for (const kept_layers& more : {float_layers(m, options.weights), slower})
      for (const auto& [name, reason] : more) {
        kept.emplace(name, reason);
        settled = settled && nodes.count(name) == 0;
      }
    if (!settled) continue;
    require_gain(m, kept, options.weights);
    if (options.weights == weight_format::w8 && !has_narrow_weights(m))
      refuse(
          "no layer's weights can be int8: --weights w8 is for dense and recurrent layers. --weights fp16 halves those "
          "of "
          "convolutions too, nsk quantize --calibrate makes them int8");
    note = note_of(m, kept, options.weights);
    variants = std::move(rounded);
    return file;
  }
}

}
