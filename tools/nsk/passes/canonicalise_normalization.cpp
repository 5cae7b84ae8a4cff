// SPDX-License-Identifier: MIT
/// Normalisations. Those along the last axis have a kernel; the others are reductions and arithmetic.
#include "passes/canonicalise.hpp"

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
  const int axis = axis_of(n.integer("axis", -1), x.size());
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

void canonicaliser::instance_normalization(const node& n) {
  const shape_t& x = in_shape(n, 0);
  shape_t per_channel(x.size(), 1);
  per_channel[1] = x[1];
  const int standard = standardised(n, in(n, 0), axes_from(2, x.size()), n.number("epsilon", 1e-5f));
  const int scaled =
      combine(n, binary_kind::mul, standard, constant(n, "scale", per_channel, numbers(n, 1, "scale")), "scaled");
  combine(n, binary_kind::add, scaled, constant(n, "bias", per_channel, numbers(n, 2, "B")), "", of(n.outputs[0]));
}

void canonicaliser::group_normalization(const node& n) {
  const shape_t& x = in_shape(n, 0);
  const std::int64_t groups = n.integer("num_groups", 1);
  shape_t split = {x[0], groups, x[1] / groups}, per_channel(x.size(), 1);
  split.insert(split.end(), x.begin() + 2, x.end());
  per_channel[1] = x[1];
  const int standard =
      standardised(n, reshaped(n, in(n, 0), split), axes_from(2, split.size()), n.number("epsilon", 1e-5f));
  const auto spread = [&](std::size_t i, const char* what) {  // until opset 20 one number per group
    const std::vector<double> given = numbers(n, i, what);
    std::vector<double> wide(static_cast<std::size_t>(x[1]));
    const std::size_t share = wide.size() / given.size();
    for (std::size_t c = 0; c < wide.size(); ++c) wide[c] = given[c / share];
    return wide;
  };
  const int whole = reshaped(n, standard, x);
  const int scaled =
      combine(n, binary_kind::mul, whole, constant(n, "scale", per_channel, spread(1, "scale")), "scaled");
  combine(n, binary_kind::add, scaled, constant(n, "bias", per_channel, spread(2, "bias")), "", of(n.outputs[0]));
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
  const std::vector<int> axes = {axis_of(n.integer("axis", -1), in_shape(n, 0).size())};
  const int x = in(n, 0);
  const int norm = p == 1 ? reduced(n, reduce_kind::sum, apply(n, x, function::abs, "abs"), axes, "norm")
                          : apply(n, reduced(n, reduce_kind::sum_square, x, axes, "squares"), function::sqrt, "norm");
  // a line of zeros stays zeros: the divisor is at least the smallest normal number
  combine(n, binary_kind::div, x, combine(n, binary_kind::max, norm, scalar(n, "least", 1.17549435e-38), "divisor"), "",
          of(n.outputs[0]));
}

void canonicaliser::mean_variance_normalization(const node& n) {
  std::vector<int> axes;
  for (std::int64_t a : n.integers("axes", {0, 2, 3})) axes.push_back(axis_of(a, in_shape(n, 0).size()));
  const int x = in(n, 0),
            centred = combine(n, binary_kind::sub, x, reduced(n, reduce_kind::mean, x, axes, "mean"), "centred");
  const int variance = reduced(n, reduce_kind::mean, apply(n, centred, function::square, "squares"), axes, "variance");
  const int deviation = apply(n, variance, function::sqrt, "deviation");
  combine(n, binary_kind::div, centred, combine(n, binary_kind::add, deviation, scalar(n, "epsilon", 1e-9), "divisor"),
          "", of(n.outputs[0]));
}

}
