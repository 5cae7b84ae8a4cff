// SPDX-License-Identifier: MIT
#include "quantize/apply/rewrite.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace nsk::tool {
namespace {

/// Sums that int32 holds with a bias inside: what is stored beside the bias is at most 255 times 127 each.
constexpr double max_bias = 1 << 29, max_sum = 2147483647.0;

/// Writes pairs of QuantizeLinear and DequantizeLinear into a graph.
class rewriter {
 public:
  rewriter(graph& g, const byte_flow& flow, const std::map<std::string, tensor_statistics>& seen,
           const std::map<std::string, byte_scale>& scales, const quantize_choices& how)
      : m_graph(g), m_flow(flow), m_seen(seen), m_scale_of(scales), m_how(how) {}

  void run(const std::vector<float_layer>& layers) {
    for (const value_id v : m_flow.stored) m_scales[v] = m_scale_of.at(name_of(m_flow.scale_of(v)));
    std::vector<node> nodes;
    for (const auto& [v, s] : m_scales)
      if (is_input(v)) store_input(nodes, v, s);
    std::map<std::size_t, const float_layer*> by_node;
    for (const float_layer& l : layers) by_node[l.node] = &l;
    const std::vector<node> old = std::move(m_graph.nodes);
    for (std::size_t i = 0; i < old.size(); ++i) {
      node n = old[i];
      for (value_id& v : n.inputs)
        if (const auto stored = m_stored_inputs.find(v); stored != m_stored_inputs.end()) v = stored->second;
      if (const auto l = by_node.find(i); l != by_node.end() && fits(*l->second)) store_layer(nodes, n, *l->second);
      std::vector<node> after;
      for (value_id& v : n.outputs)
        if (const auto s = m_scales.find(v); s != m_scales.end()) v = store_result(after, v, s->second, old[i].name);
      nodes.push_back(std::move(n));
      for (node& a : after) nodes.push_back(std::move(a));
    }
    m_graph.nodes = std::move(nodes);
  }
  const std::vector<std::string>& floats() const { return m_floats; }

 private:
  const std::string& name_of(value_id v) const { return m_graph.values[static_cast<std::size_t>(v)].name; }
  bool is_input(value_id v) const {
    return std::find(m_graph.inputs.begin(), m_graph.inputs.end(), v) != m_graph.inputs.end();
  }

  value_id add_value(const std::string& name, const value* like) {
    value v;
    v.name = name;
    if (like != nullptr) {
      v.shape = like->shape;
      v.known_rank = like->known_rank;
      v.typed = like->typed;
      v.type = like->type;
    }
    return m_graph.add(std::move(v));
  }

  /// The pair that stores `real` by a scale, and gives it back as `back`.
  void add_pair(std::vector<node>& to, value_id real, value_id back, const byte_scale& s, const std::string& layer) {
    const std::string name = name_of(back);
    array zero(element::u8, {});
    zero.set_integer(0, s.zero);
    const value_id scale = m_graph.add_constant(name + "#scale", make_floats({}, {s.scale})),
                   zero_point = m_graph.add_constant(name + "#zero", std::move(zero)),
                   bytes = add_value(name + "#bytes", nullptr);
    m_bytes[back] = {bytes, zero_point};
    to.push_back(node_of("QuantizeLinear", layer, {real, scale, zero_point}, bytes));
    to.push_back(node_of("DequantizeLinear", name + "#real", {bytes, scale, zero_point}, back));
  }
  void store_input(std::vector<node>& to, value_id v, const byte_scale& s) {
    const value copy = m_graph.values[static_cast<std::size_t>(v)];
    const value_id back = add_value(copy.name + "#stored", &copy);
    m_stored_inputs[v] = back;
    add_pair(to, v, back, s, copy.name + "#quantize");
  }
  /// What the node makes in place of `v`, which is stored and given back.
  value_id store_result(std::vector<node>& after, value_id v, const byte_scale& s, const std::string& node_name) {
    const value copy = m_graph.values[static_cast<std::size_t>(v)];
    const value_id real = add_value(copy.name + "#exact", &copy);
    add_pair(after, real, v, s, node_name + "#int8");
    return real;
  }

  /// Stores the weights of a layer so that int32 holds its biases. Returns whether it holds its sums too.
  bool fits(const float_layer& l) {
    const auto input_scale = static_cast<double>(m_scales.at(l.input).scale);
    std::vector<float> min_scale(static_cast<std::size_t>(l.weights.channels), 0.0f);
    for (std::size_t c = 0; c < l.bias.size(); ++c)
      min_scale[c] = static_cast<float>(std::abs(l.bias[c]) / (input_scale * max_bias));
    if (!m_how.weights.per_channel)
      min_scale.assign(min_scale.size(), *std::max_element(min_scale.begin(), min_scale.end()));
    const stored_weights& w = m_weights[l.node] = store_weights(l.weights, m_how.weights, min_scale);
    const std::size_t count = l.weights.per_channel();
    for (std::size_t c = 0; c < w.scale.size(); ++c) {
      double sum = 2 * max_bias;
      for (std::size_t i = 0; i < count; ++i) sum += 2 * 255.0 * std::abs(int{w.values[c * count + i]});
      if (!std::isfinite(w.scale[c]) || sum >= max_sum) {
        m_floats.push_back(l.name);
        return false;
      }
    }
    return true;
  }

  /// What rounding the weights of a channel takes from the mean of its result.
  double correction(const float_layer& l, const stored_weights& w, std::size_t channel) const {
    const tensor_statistics& in = m_seen.at(name_of(l.input));
    if (in.axis != l.input_axis) return 0;  // the channels of another layer, whose means say nothing here
    const std::size_t taps = static_cast<std::size_t>(l.weights.kernel_h * l.weights.kernel_w),
                      depth = static_cast<std::size_t>(l.weights.depth), count = l.weights.per_channel(),
                      channels = static_cast<std::size_t>(l.weights.channels), groups = in.channel_sums.size() / depth;
    const std::size_t first = channel / std::max<std::size_t>(1, channels / std::max<std::size_t>(1, groups)) * depth;
    double lost = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double stored = w.values[channel * count + i] * static_cast<double>(w.scale[channel]);
      lost += (l.weights.values[channel * count + i] - stored) * in.mean(first + i / taps);
    }
    return lost;
  }

  /// Where the weights of a channel are: one behind the other, in a column of a matrix, or the taps of each input
  /// channel together, as ConvTranspose has them.
  enum class order { rows, columns, taps };
  /// The weights of a layer as integers.
  array integers_of(const float_layer& l, const shape_t& shape, order o) const {
    const stored_weights& w = m_weights.at(l.node);
    array integers(element::i8, shape);
    const std::int64_t channels = l.weights.channels, count = static_cast<std::int64_t>(l.weights.per_channel()),
                       taps = std::int64_t{l.weights.kernel_h} * l.weights.kernel_w;
    const auto place = [&](std::int64_t c, std::int64_t k) {
      if (o == order::taps) return (k / taps * channels + c) * taps + k % taps;
      return o == order::columns ? k * channels + c : c * count + k;
    };
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t k = 0; k < count; ++k)
        integers.set_integer(place(c, k), w.values[static_cast<std::size_t>(c * count + k)]);
    return integers;
  }
  /// The bias of a channel, with what rounding the weights takes from its mean, a part of them meeting each element.
  double bias_of(const float_layer& l, std::size_t channel, double phases = 1) const {
    return (l.bias.empty() ? 0 : l.bias[channel]) +
           (m_how.corrects_bias ? correction(l, m_weights.at(l.node), channel) / phases : 0);
  }
  /// Scales of the sums of each channel.
  std::vector<float> units_of(const float_layer& l) const {
    std::vector<float> units;
    for (const float scale : m_weights.at(l.node).scale) units.push_back(m_scales.at(l.input).scale * scale);
    return units;
  }

  void store_layer(std::vector<node>& to, node& n, const float_layer& l) {
    if (m_flow.real.count(l.node) != 0)
      add_sums(to, n, l);
    else
      store_weights_of(to, n, l);
  }

  /// Makes weights and bias of a layer stored integers.
  void store_weights_of(std::vector<node>& to, node& n, const float_layer& l) {
    const stored_weights& w = m_weights.at(l.node);
    const bool conv = n.op == "Conv" || n.op == "ConvTranspose";
    const order o = n.op == "ConvTranspose"               ? order::taps
                    : conv || n.integer("transB", 0) != 0 ? order::rows
                                                          : order::columns;
    const shape_t shape = m_graph.values[static_cast<std::size_t>(n.inputs[1])].shape;
    n.inputs[1] = add_stored(to, weights_name(n.name), integers_of(l, shape, o), w.scale, o == order::rows ? 0 : 1);
    if ((l.bias.empty() && !m_how.corrects_bias) || (!conv && n.op != "Gemm")) return;
    const std::vector<float> units = units_of(l);
    array bias(element::i32, {l.weights.channels});
    for (std::size_t c = 0; c < units.size(); ++c)
      bias.set_integer(static_cast<std::int64_t>(c),
                       static_cast<std::int64_t>(std::nearbyint(std::clamp(
                           bias_of(l, c, phases_of(n)) / static_cast<double>(units[c]), -max_bias, max_bias))));
    n.inputs.resize(3, no_value);
    n.inputs[2] = add_stored(to, n.name + "#bias", std::move(bias), units, 0);
  }

  /// Makes a layer sums of integers, and float32 of these: float32(sum) * scale + bias. `n` becomes the last node.
  void add_sums(std::vector<node>& to, node& n, const float_layer& l) {
    const bool conv = n.op == "Conv";
    const auto [bytes, zero] = m_bytes.at(n.inputs[0]);
    const std::int64_t channels = l.weights.channels;
    shape_t along = {channels};
    if (conv) along.resize(m_graph.values[static_cast<std::size_t>(l.result)].shape.size() - 1, 1);
    const shape_t shape = conv ? m_graph.values[static_cast<std::size_t>(n.inputs[1])].shape
                               : shape_t{std::int64_t{l.weights.depth}, channels};
    std::vector<float> biases;
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c)
      biases.push_back(static_cast<float>(bias_of(l, c)));
    node sums = n;
    if (!conv) sums.attributes.clear();
    sums.op = conv ? "ConvInteger" : "MatMulInteger";
    sums.name += "#sums";
    sums.version = 10;
    sums.inputs = {
        bytes, m_graph.add_constant(weights_name(n.name), integers_of(l, shape, conv ? order::rows : order::columns)),
        zero};
    sums.outputs = {add_value(sums.name, nullptr)};
    node real = node_of("Cast", n.name + "#real", {sums.outputs[0]}, add_value(n.name + "#real", nullptr));
    real.attributes["to"] = std::int64_t{1};  // float32
    const value_id scale = m_graph.add_constant(weights_name(n.name) + "#scale", make_floats(along, units_of(l))),
                   scaled = add_value(n.name + "#scaled", nullptr);
    node scales = node_of("Mul", n.name + "#scaled", {real.outputs[0], scale}, scaled);
    n = node_of("Add", n.name, {scaled, m_graph.add_constant(n.name + "#bias", make_floats(along, biases))},
                n.outputs[0]);
    for (node* made : {&sums, &real, &scales}) to.push_back(std::move(*made));
  }
  value_id add_stored(std::vector<node>& to, const std::string& name, array integers, const std::vector<float>& scale,
                      std::int64_t axis) {
    const value_id stored = m_graph.add_constant(name, std::move(integers)),
                   units = m_graph.add_constant(name + "#scale",
                                                make_floats({static_cast<std::int64_t>(scale.size())}, scale)),
                   real = add_value(name + "#real", nullptr);
    node n = node_of("DequantizeLinear", name + "#real", {stored, units}, real);
    n.attributes["axis"] = axis;
    to.push_back(std::move(n));
    return real;
  }

  graph& m_graph;
  const byte_flow& m_flow;
  const std::map<std::string, tensor_statistics>& m_seen;
  const std::map<std::string, byte_scale>& m_scale_of;  ///< by the names of tensors
  const quantize_choices& m_how;
  std::map<value_id, byte_scale> m_scales;
  std::map<value_id, value_id> m_stored_inputs;
  std::map<value_id, std::pair<value_id, value_id>> m_bytes;  ///< what stores a tensor, and its zero point
  std::map<std::size_t, stored_weights> m_weights;
  std::vector<std::string> m_floats;
};

}

std::vector<std::string> store_layers(graph& g, const std::vector<float_layer>& layers, const byte_flow& flow,
                                      const std::map<std::string, tensor_statistics>& seen,
                                      const std::map<std::string, byte_scale>& scales, const quantize_choices& how) {
  rewriter r(g, flow, seen, scales, how);
  r.run(layers);
  return r.floats();
}

}
