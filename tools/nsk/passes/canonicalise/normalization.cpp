// SPDX-License-Identifier: MIT
/// Normalisations. Those along the last axis have a kernel; the others are reductions and arithmetic.
#include <algorithm>
#include <netsuke/core/tensor.hpp>
#include "passes/canonicalise/canonicaliser.hpp"

namespace nsk::tool {
namespace {

std::vector<int> axes_from(int first, std::size_t rank) {
  std::vector<int> axes;
  for (int a = first; a < static_cast<int>(rank); ++a) axes.push_back(a);
  return axes;
}

}

int canonicaliser::standardised(const node& n, int x, const std::vector<int>& axes, double epsilon) {
  const int centred = combine(n, binary_kind::sub, x, reduced(n, reduce_kind::mean, x, axes, "mean"), "centred");
  const int variance = reduced(n, reduce_kind::mean, apply(n, centred, function::square, "squares"), axes, "variance");
  const int deviation = apply(n, combine(n, binary_kind::add, variance, scalar(n, "epsilon", epsilon), "padded"),
                              function::sqrt, "deviation");
  return combine(n, binary_kind::div, centred, deviation, "standard");
}

/// The other outputs of LayerNormalization: the mean, and one over the deviation.
void canonicaliser::layer_statistics(const node& n, const std::vector<int>& axes) {
  const auto wanted = [&](std::size_t i) { return i < n.outputs.size() && n.outputs[i] != no_value; };
  if (!wanted(1) && !wanted(2)) return;
  const int x = in(n, 0), mean = reduced(n, reduce_kind::mean, x, axes, "mean");
  if (wanted(1)) emit(n, reshape_parameters{}, {mean}, of(n.outputs[1]));
  if (!wanted(2)) return;
  const int centred = combine(n, binary_kind::sub, x, mean, "centred");
  const int variance = reduced(n, reduce_kind::mean, apply(n, centred, function::square, "squares"), axes, "variance");
  const int padded = combine(n, binary_kind::add, variance,
                             scalar(n, "epsilon", static_cast<double>(n.number("epsilon", 1e-5f))), "padded");
  apply(n, apply(n, padded, function::sqrt, "deviation"), function::reciprocal, "", 0, 0, of(n.outputs[2]));
}

void canonicaliser::layer_normalization(const node& n) {
  const shape_t& x = in_shape(n, 0);
  const bool centre = n.op == "LayerNormalization";
  const int axis = axis_of(n, n.integer("axis", -1), x.size());
  layer_statistics(n, axes_from(axis, x.size()));
  const std::int64_t length = count_of({x.begin() + axis, x.end()});
  layer_normalization_parameters l;
  l.epsilon = n.number("epsilon", 1e-5f);
  l.centre = centre;
  const std::vector<double> scale = numbers(n, 1, "the scale"),
                            bias = present(n, 2) ? numbers(n, 2, "the bias") : std::vector<double>{0.0};
  charge(n, 2 * static_cast<double>(length));
  const auto spread = [&](const std::vector<double>& v, std::size_t i, const char* what) {
    bool fits = v.size() == 1 || static_cast<std::int64_t>(v.size()) == length;
    if (v.size() != 1) {  // what varies along other axes may be as many
      const shape_t& shape = in_shape(n, i);
      for (std::size_t d = 0; d + x.size() < shape.size() + static_cast<std::size_t>(axis); ++d)
        fits = fits && shape[d] == 1;
    }
    if (!fits) refuse_node(n, std::string(what) + " must have one value, or one per normalised element");
    std::vector<float> wide(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<float>(v[v.size() == 1 ? 0 : i]);
    return wide;
  };
  l.scale = spread(scale, 1, "the scale");
  l.bias = spread(bias, 2, "the bias");
  shape_t flat(x.begin(), x.begin() + axis);
  flat.push_back(length);
  if (flat == x) {
    emit(n, std::move(l), {in(n, 0)});
    return;
  }
  const int view = reshaped(n, in(n, 0), flat), result = temporary(n, "flat", flat);
  emit(n, std::move(l), {view}, result);
  emit(n, reshape_parameters{}, {result});
}

/// x * scale + bias along axis 1, as output 0.
void canonicaliser::scale_channels(const node& n, int x, const std::vector<double>& scale,
                                   const std::vector<double>& bias) {
  shape_t per_channel(m_program.shape(x).size(), 1);
  if (per_channel.size() > 1) per_channel[1] = static_cast<std::int64_t>(scale.size());
  const auto all = [](const std::vector<double>& v, double number) {
    return std::all_of(v.begin(), v.end(), [&](double d) { return d == number; });
  };
  if (!all(scale, 1)) x = combine(n, binary_kind::mul, x, constant(n, "scale", per_channel, scale), "scaled");
  if (!all(bias, 0)) x = combine(n, binary_kind::add, x, constant(n, "bias", per_channel, bias), "shifted");
  emit(n, reshape_parameters{}, {x});
}

/// x [N, C, ...] standardised over each of `groups` groups of channels. Numbers per group become numbers per channel
/// before they meet the picture.
int canonicaliser::standardised_groups(const node& n, int x, std::int64_t groups) {
  const shape_t whole = m_program.shape(x);
  shape_t split = {whole[0], groups, whole[1] / groups}, per_channel(whole.size(), 1);
  split.insert(split.end(), whole.begin() + 2, whole.end());
  per_channel[0] = whole[0];
  per_channel[1] = whole[1];
  const std::vector<int> axes = axes_from(2, split.size());
  charge(n, static_cast<double>(whole[1]));
  std::vector<std::int64_t> group_of;
  for (std::int64_t c = 0; c < whole[1]; ++c) group_of.push_back(c / split[2]);
  const int index = constant_integers(n, "group", {whole[1]}, element::i64, group_of);
  const auto spread = [&](int v, const char* suffix) {
    if (groups == whole[1]) return reshaped(n, v, per_channel);
    const int picked = temporary(n, suffix, {whole[0], whole[1]});
    emit(n, gather_parameters{1, false}, {reshaped(n, v, {whole[0], groups}), index}, picked);
    return reshaped(n, picked, per_channel);
  };
  const int mean = reduced(n, reduce_kind::mean, reshaped(n, x, split), axes, "mean");
  const int centred = combine(n, binary_kind::sub, x, spread(mean, "means"), "centred");
  const int squares = reduced(n, reduce_kind::sum_square, reshaped(n, centred, split), axes, "squares");
  const double share = 1 / static_cast<double>(count_of({split.begin() + 2, split.end()}));
  const int variance = combine(n, binary_kind::mul, squares, scalar(n, "share", share), "variance");
  const int padded = combine(n, binary_kind::add, variance,
                             scalar(n, "epsilon", static_cast<double>(n.number("epsilon", 1e-5f))), "padded");
  const int inverse = apply(n, apply(n, padded, function::sqrt, "deviation"), function::reciprocal, "inverse");
  return combine(n, binary_kind::mul, centred, spread(inverse, "inverses"), "standard");
}

/// Input 0 before it was reshaped to [N, groups, the rest]; itself where it was not. Exporters write the normalisation
/// of groups as one of instances between two reshapes, which would transpose pictures.
int canonicaliser::grouped_input(const node& n) {
  const shape_t& x = in_shape(n, 0);
  for (const node& from : m_graph.nodes) {
    if (from.op != "Reshape" || from.outputs[0] != n.inputs[0] || x.size() != 3) continue;
    const shape_t& whole = in_shape(from, 0);
    const bool fits = whole.size() >= 3 && whole.size() < max_rank && whole[0] == x[0] && whole[1] % x[1] == 0;
    if (fits) return in(from, 0);
  }
  return in(n, 0);
}

void canonicaliser::instance_normalization(const node& n) {
  const int standard = standardised_groups(n, grouped_input(n), in_shape(n, 0)[1]);
  scale_channels(n, reshaped(n, standard, in_shape(n, 0)), numbers(n, 1, "scale"), numbers(n, 2, "B"));
}

void canonicaliser::group_normalization(const node& n) {
  const auto spread = [&](std::size_t i, const char* what) {  // until opset 20 one number per group
    const std::vector<double> given = numbers(n, i, what);
    std::vector<double> wide(static_cast<std::size_t>(in_shape(n, 0)[1]));
    const std::size_t share = wide.size() / given.size();
    for (std::size_t c = 0; c < wide.size(); ++c) wide[c] = given[c / share];
    return wide;
  };
  const int standard = standardised_groups(n, in(n, 0), n.integer("num_groups", 1));
  scale_channels(n, standard, spread(1, "scale"), spread(2, "bias"));
}

void canonicaliser::local_response_normalization(const node& n) {
  if (in_shape(n, 0).size() < 2) refuse_node(n, "LRN needs [N, C, ...]");
  local_response_normalization_parameters l;
  const std::int64_t size = n.integer("size", 0);
  if (size < 1 || size > 65535) refuse_node(n, "size must be between 1 and 65535");
  l.size = static_cast<int>(size);
  l.alpha = n.number("alpha", 0.0001f);
  l.beta = n.number("beta", 0.75f);
  l.bias = n.number("bias", 1.0f);
  emit(n, l, {in(n, 0)});
}

void canonicaliser::lp_normalization(const node& n) {
  const std::int64_t p = n.integer("p", 2);
  if (p != 1 && p != 2) refuse_node(n, "LpNormalization has p = 1 and p = 2");
  const std::vector<int> axes = {axis_of(n, n.integer("axis", -1), in_shape(n, 0).size())};
  const int x = in(n, 0);
  const int norm = p == 1 ? reduced(n, reduce_kind::sum, apply(n, x, function::abs, "abs"), axes, "norm")
                          : apply(n, reduced(n, reduce_kind::sum_square, x, axes, "squares"), function::sqrt, "norm");
  // a line of zeros stays zeros: the divisor is at least the smallest normal number, or the second operand where it is
  // NaN
  const int divisor = combine(n, binary_kind::max, scalar(n, "least", 1.17549435e-38), norm, "divisor");
  combine(n, binary_kind::div, x, divisor, "", of(output_of(n)));
}

void canonicaliser::mean_variance_normalization(const node& n) {
  std::vector<int> axes;
  for (std::int64_t a : n.integers("axes", {0, 2, 3})) axes.push_back(axis_of(n, a, in_shape(n, 0).size()));
  const int x = in(n, 0),
            centred = combine(n, binary_kind::sub, x, reduced(n, reduce_kind::mean, x, axes, "mean"), "centred");
  const int variance = reduced(n, reduce_kind::mean, apply(n, centred, function::square, "squares"), axes, "variance");
  const int deviation = apply(n, variance, function::sqrt, "deviation");
  combine(n, binary_kind::div, centred, combine(n, binary_kind::add, deviation, scalar(n, "epsilon", 1e-9), "divisor"),
          "", of(output_of(n)));
}

}
