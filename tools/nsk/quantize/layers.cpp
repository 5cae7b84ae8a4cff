// SPDX-License-Identifier: MIT
#include "quantize/layers.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "resolve/infer.hpp"

namespace nsk::tool {
namespace {

/// Constant floats of input `i`, null where it is none.
const array* floats(const graph& g, const node& n, std::size_t i) {
  if (!n.reads(i)) return nullptr;
  const array* a = g.at(n.inputs[i]).constant.get();
  return a != nullptr && a->type == element::f32 ? a : nullptr;
}

value_id add_constant(graph& g, const std::string& name, shape_t shape, const std::vector<double>& values) {
  array a(element::f32, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) a.set(static_cast<std::int64_t>(i), values[i]);
  return g.add_constant(name, std::move(a));
}

/// A layer with the lengths of a convolution's weights, which begin with channels and depth, or with depth and channels
/// where it is `transposed`, and with its bias. Nothing where one of them is no constant, or has other numbers of axes.
std::optional<float_layer> convolving_layer(const graph& g, const node& n, bool transposed) {
  const array *w = floats(g, n, 1), *bias = floats(g, n, 2);
  if (w == nullptr || w->shape.size() < 3 || w->shape.size() > 4 || (n.reads(2) && bias == nullptr))
    return std::nullopt;
  float_layer l{};
  l.weights.channels = static_cast<int>(w->shape[transposed ? 1 : 0]);
  l.weights.depth = static_cast<int>(w->shape[transposed ? 0 : 1]);
  l.weights.kernel_h = w->shape.size() == 4 ? static_cast<int>(w->shape[2]) : 1;
  l.weights.kernel_w = static_cast<int>(w->shape.back());
  if (bias != nullptr) l.bias = bias->numbers();
  return l;
}

/// Weights [channels][depth][kernel_h][kernel_w] of a convolution.
std::optional<float_layer> convolution(const graph& g, const node& n) {
  std::optional<float_layer> l = convolving_layer(g, n, false);
  if (!l) return l;
  const std::int64_t groups = n.integer("group", 1), channels = g.at(n.inputs[0]).shape[1];
  l->weights.depthwise = groups > 1 && groups == channels && l->weights.channels == groups;
  constexpr int min_group_channels = 4;  // below that most of a quad is empty
  if (groups > 1 && !l->weights.depthwise && l->weights.depth < min_group_channels) return std::nullopt;
  l->weights.values = floats(g, n, 1)->numbers();
  return l;
}

/// Weights of a transposed convolution in that order; its own are [depth][channels][kernel_h][kernel_w].
std::optional<float_layer> transposition(const graph& g, const node& n) {
  std::optional<float_layer> l = convolving_layer(g, n, true);
  if (!l || n.integer("group", 1) != 1) return std::nullopt;
  const array& w = *floats(g, n, 1);
  const std::int64_t taps = std::int64_t{l->weights.kernel_h} * l->weights.kernel_w, channels = w.shape[1];
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t d = 0; d < w.shape[0]; ++d)
      for (std::int64_t t = 0; t < taps; ++t) l->weights.values.push_back(w.number((d * channels + c) * taps + t));
  return l;
}

/// Weights of x times a matrix, whose columns are channels unless it is transposed.
std::optional<float_layer> product(const graph& g, const node& n) {
  const bool gemm = n.op == "Gemm", transposed = gemm && n.integer("transB", 0) != 0;
  const array* w = floats(g, n, 1);
  if (w == nullptr || w->shape.size() != 2 || g.at(n.inputs[0]).shape.size() < 2) return std::nullopt;
  if (gemm && (n.number("alpha", 1) != 1 || n.number("beta", 1) != 1 || n.integer("transA", 0) != 0))
    return std::nullopt;
  float_layer l{};
  l.weights.channels = static_cast<int>(w->shape[transposed ? 0 : 1]);
  l.weights.depth = static_cast<int>(w->shape[transposed ? 1 : 0]);
  for (std::int64_t c = 0; c < l.weights.channels; ++c)
    for (std::int64_t k = 0; k < l.weights.depth; ++k)
      l.weights.values.push_back(w->number(transposed ? c * l.weights.depth + k : k * l.weights.channels + c));
  if (gemm && n.reads(2)) {
    const array* b = floats(g, n, 2);
    if (b == nullptr || b->shape.size() != 1 || b->count() != l.weights.channels) return std::nullopt;
    l.bias = b->numbers();
  }
  return l;
}

bool is_limit(const graph& g, const node& n) {
  if (n.op == "Relu") return true;
  if (n.op != "Clip") return false;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (n.reads(i) && g.at(n.inputs[i]).constant == nullptr) return false;
  return true;
}

/// The constant of an Add that adds one number to each of `channels` channels of `x`, by channel; empty where it is
/// none. `behind`: dimensions behind the channels.
std::vector<double> added_by_channel(const graph& g, const node& add, value_id x, std::int64_t channels,
                                     std::size_t behind) {
  if (add.op != "Add" || !add.domain.empty() || add.has("broadcast")) return {};  // of opset 6: other rules
  const array* c = floats(g, add, add.inputs[0] == x ? 1 : 0);
  const shape_t& shape = g.at(x).shape;
  if (c == nullptr || c->shape.size() > shape.size()) return {};
  if (c->count() == 1) return std::vector<double>(static_cast<std::size_t>(channels), c->number(0));
  if (c->count() != channels || c->shape.size() <= behind || c->shape[c->shape.size() - 1 - behind] != channels)
    return {};
  return c->numbers();
}

void remove_nodes_without_operator(graph& g) {
  g.nodes.erase(std::remove_if(g.nodes.begin(), g.nodes.end(), [](const node& n) { return n.op.empty(); }),
                g.nodes.end());
  remove_unused(g);
}

}

value_readers::value_readers(const graph& g) : m_nodes(g.values.size()), m_count(g.values.size()) {
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    for (const value_id v : g.nodes[i].inputs)
      if (v != no_value) m_nodes[static_cast<std::size_t>(v)] = i, ++m_count[static_cast<std::size_t>(v)];
  constexpr int many = 2;  // what is an output has other readers
  for (const value_id v : g.outputs) m_count[static_cast<std::size_t>(v)] += many;
}

std::optional<std::size_t> value_readers::only(value_id v) const {
  if (v == no_value || m_count[static_cast<std::size_t>(v)] != 1) return std::nullopt;
  return m_nodes[static_cast<std::size_t>(v)];
}

void fold_biases(graph& g) {
  const value_readers by(g);
  for (node& n : g.nodes) {
    const bool conv = n.op == "Conv" || n.op == "ConvTranspose", product = n.op == "MatMul" || n.op == "Gemm";
    if ((!conv && !product) || !n.domain.empty()) continue;
    const array *weights = floats(g, n, 1), *bias = floats(g, n, 2);
    const std::size_t rank = g.at(n.outputs[0]).shape.size();
    const auto reader = by.only(n.outputs[0]);
    if (!reader || !weights || (n.reads(2) && !bias) || (product && rank != 2) || rank < 2) continue;
    const std::int64_t channels = g.at(n.outputs[0]).shape[1];
    if (bias != nullptr && (bias->shape.size() != 1 || bias->count() != channels || n.number("beta", 1) != 1)) continue;
    node& add = g.nodes[*reader];
    std::vector<double> sums = added_by_channel(g, add, n.outputs[0], channels, rank - 2);
    if (sums.empty()) continue;
    for (std::size_t c = 0; bias != nullptr && c < sums.size(); ++c)
      sums[c] += bias->number(static_cast<std::int64_t>(c));
    if (product) n.op = "Gemm";
    n.inputs.resize(3, no_value);
    n.inputs[2] = add_constant(g, n.name + "#bias", {channels}, sums);
    std::swap(n.outputs[0], add.outputs[0]);  // nothing reads what the addition makes now
    add.op.clear();
  }
  remove_nodes_without_operator(g);
}

void fold_normalization(graph& g) {
  const value_readers by(g);
  for (node& conv : g.nodes) {
    const bool transposed = conv.op == "ConvTranspose" && conv.integer("group", 1) == 1;
    if ((conv.op != "Conv" && !transposed) || !conv.domain.empty() || floats(g, conv, 1) == nullptr) continue;
    const auto reader = by.only(conv.outputs[0]);
    if (!reader) continue;
    node& norm = g.nodes[*reader];
    if (norm.op != "BatchNormalization" || norm.integer("training_mode", 0) != 0 || norm.inputs[0] != conv.outputs[0])
      continue;
    const array *scale = floats(g, norm, 1), *offset = floats(g, norm, 2), *mean = floats(g, norm, 3),
                *variance = floats(g, norm, 4), *bias = floats(g, conv, 2);
    if (!scale || !offset || !mean || !variance || (conv.reads(2) && !bias)) continue;
    const array& w = *floats(g, conv, 1);
    std::vector<double> weights = w.numbers(), biases;
    const std::int64_t channels = w.shape[transposed ? 1 : 0], per_channel = w.count() / channels,
                       inner = transposed ? count_of({w.shape.begin() + 2, w.shape.end()}) : per_channel;
    const auto channel_of = [&](std::size_t i) { return static_cast<std::int64_t>(i) / inner % channels; };
    std::vector<double> factors;
    const auto epsilon = static_cast<double>(norm.number("epsilon", 1e-5f));
    for (std::int64_t c = 0; c < channels; ++c) {
      const double factor = scale->number(c) / std::sqrt(variance->number(c) + epsilon);
      factors.push_back(factor);
      biases.push_back(((bias ? bias->number(c) : 0) - mean->number(c)) * factor + offset->number(c));
    }
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= factors[static_cast<std::size_t>(channel_of(i))];
    conv.inputs.resize(3, no_value);
    const shape_t shape = w.shape;
    conv.inputs[1] = add_constant(g, conv.name + "#folded", shape, weights);
    conv.inputs[2] = add_constant(g, conv.name + "#folded_bias", {channels}, biases);
    std::swap(conv.outputs[0], norm.outputs[0]);  // nothing reads what the normalization makes now
    norm.op.clear();
  }
  remove_nodes_without_operator(g);
}

double phases_of(const node& n) {
  double phases = 1;
  if (n.op == "ConvTranspose")
    for (const std::int64_t s : n.integers("strides")) phases *= static_cast<double>(s);
  return phases;
}

std::vector<other_product> products_beside(const graph& g, const std::vector<float_layer>& layers) {
  static const std::set<std::string> others = {"ConvTranspose", "DeformConv", "Einsum", "GRU", "LSTM", "RNN"};
  std::set<std::size_t> found;
  for (const float_layer& l : layers) found.insert(l.node);
  std::vector<other_product> result;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const node& n = g.nodes[i];
    const bool product = n.op == "MatMul" || n.op == "Gemm";
    if (!n.domain.empty() || found.count(i) != 0) continue;
    if (n.op == "ConvTranspose" && n.integer("group", 1) == 1 && floats(g, n, 1) != nullptr)
      result.push_back({n.name, n.op, "it has three spatial axes, or its bias is no constant"});
    else if (others.count(n.op) != 0)
      result.push_back({n.name, n.op, "no integer operator computes it"});
    if (n.op != "Conv" && !product) continue;
    const array* w = floats(g, n, 1);
    const bool fits = w != nullptr && (product ? w->shape.size() == 2 : w->shape.size() >= 3 && w->shape.size() <= 4);
    result.push_back({n.name, n.op,
                      w == nullptr                               ? "its weights are no constant floats"
                      : !fits                                    ? "its weights have another number of axes"
                      : n.reads(2) && floats(g, n, 2) == nullptr ? "its bias is no constant"
                      : !product && n.integer("group", 1) > 1    ? "its groups have fewer than four channels"
                                                                 : "no integer operator computes it as it is written"});
  }
  return result;
}

std::vector<float_layer> layers_of(const graph& g) {
  const value_readers by(g);
  std::vector<float_layer> layers;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const node& n = g.nodes[i];
    if (!n.domain.empty() || !n.reads(0) || g.at(n.inputs[0]).type != element::f32 || g.at(n.inputs[0]).constant)
      continue;
    std::optional<float_layer> l;
    if (n.op == "Conv") l = convolution(g, n);
    if (n.op == "ConvTranspose") l = transposition(g, n);
    if (n.op == "Gemm" || n.op == "MatMul") l = product(g, n);
    if (!l) continue;
    l->name = n.name;
    l->node = i;
    l->input = n.inputs[0];
    l->input_axis = n.op == "Gemm" || n.op == "MatMul" ? g.at(l->input).shape.size() - 1 : 1;
    l->result = l->output = n.outputs[0];
    const auto reader = by.only(l->result);
    if (reader && is_limit(g, g.nodes[*reader])) l->output = g.nodes[*reader].outputs[0];
    layers.push_back(std::move(*l));
  }
  return layers;
}

}
