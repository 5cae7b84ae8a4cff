// SPDX-License-Identifier: MIT
/// Normalisations. Those along the last axis have a kernel; the others are reductions and arithmetic.
#include <algorithm>
#include <cmath>
#include <netsuke/core/tensor.hpp>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

std::vector<int> axes_from(int first, std::size_t rank) {
  std::vector<int> axes;
  for (int a = first; a < static_cast<int>(rank); ++a) axes.push_back(a);
  return axes;
}

/// (x - mean) / sqrt(variance + epsilon) over axes.
int standardised(context& c, int x, const std::vector<int>& axes, double epsilon) {
  const int centred = combine(c, binary_kind::sub, x, reduced(c, reduce_kind::mean, x, axes, "mean"), "centred");
  const int variance = reduced(c, reduce_kind::mean, apply(c, centred, function::square, "squares"), axes, "variance");
  const int deviation = apply(c, combine(c, binary_kind::add, variance, scalar(c, "epsilon", epsilon), "padded"),
                              function::sqrt, "deviation");
  return combine(c, binary_kind::div, centred, deviation, "standard");
}

/// Input `i` along axis 1 of a tensor of `rank` axes, which has `channels` numbers there: one per channel, or one for
/// each of equal runs of channels. no_value where it is a constant that has nothing but `neutral`.
int per_channel(context& c, std::size_t i, const char* what, std::size_t rank, std::int64_t channels, double neutral) {
  shape_t shape(rank, 1);
  if (rank > 1) shape[1] = channels;
  const std::int64_t count = count_of(c.in_shape(i));
  if (count < 1 || channels % count != 0)
    c.refuse(std::string(what) + " has " + std::to_string(count) + " numbers for " + std::to_string(channels) +
             " channels");
  if (c.input(i).constant != nullptr) {
    const std::vector<double> given = numbers(c, i, what);
    if (std::all_of(given.begin(), given.end(), [&](double d) { return d == neutral; })) return no_value;
    std::vector<double> wide(static_cast<std::size_t>(channels));
    for (std::size_t k = 0; k < wide.size(); ++k) wide[k] = given[k / (wide.size() / given.size())];
    return constant(c, what, shape, wide);
  }
  if (count == channels) return reshaped(c, c.in(i), shape);
  const int wide = c.temporary(std::string(what) + "_wide", {count, channels / count});
  c.emit(expand_parameters{}, {reshaped(c, c.in(i), {count, 1})}, wide);
  return reshaped(c, wide, shape);
}

/// x * input 1 + input 2 along axis 1, as output 0.
void scale_channels(context& c, int x) {
  const shape_t& shape = c.shape(x);
  const std::size_t rank = shape.size();
  const std::int64_t channels = rank > 1 ? shape[1] : 1;
  const int scale = per_channel(c, 1, "scale", rank, channels, 1), bias = per_channel(c, 2, "bias", rank, channels, 0);
  if (scale != no_value) x = combine(c, binary_kind::mul, x, scale, "scaled");
  if (bias != no_value) x = combine(c, binary_kind::add, x, bias, "shifted");
  c.emit(reshape_parameters{}, {x});
}

/// (x - mean) / sqrt(var + epsilon) * scale + B, where some of them are computed: exporters write normalisations of
/// other axes so.
void computed_normalization(context& c, double epsilon) {
  const shape_t& x = c.in_shape(0);
  const auto per_channel = [&](std::size_t i) {
    shape_t shape(x.size(), 1);
    if (x.size() > 1) shape[1] = count_of(c.in_shape(i));
    return reshaped(c, c.in(i), shape);
  };
  const int padded = combine(c, binary_kind::add, per_channel(4), scalar(c, "epsilon", epsilon), "padded");
  const int factor =
      combine(c, binary_kind::div, per_channel(1), apply(c, padded, function::sqrt, "deviation"), "factor");
  const int centred = combine(c, binary_kind::sub, c.in(0), per_channel(3), "centred");
  const int scaled = combine(c, binary_kind::mul, centred, factor, "scaled");
  c.emit(binary_params{binary_kind::add}, {scaled, per_channel(2)});
}

void batch_normalization(context& c) {
  const node& n = c.op();
  const double epsilon = n.number("epsilon", 1e-5f);
  const shape_t& x = c.in_shape(0);
  if (n.integer("training_mode", 0) != 0) {  // the statistics are the input's own
    for (std::size_t i = 1; i < n.outputs.size(); ++i)
      if (n.outputs[i] != no_value) c.refuse("its running statistics have no kernel; read the first output only");
    std::vector<int> axes;
    for (int a = 0; a < static_cast<int>(x.size()); ++a)
      if (a != 1) axes.push_back(a);
    return scale_channels(c, standardised(c, c.in(0), axes, epsilon));
  }
  for (std::size_t i = 1; i < 5; ++i)
    if (c.input(i).constant == nullptr) return computed_normalization(c, epsilon);
  const std::vector<double> scale = numbers(c, 1, "scale"), bias = numbers(c, 2, "B"), mean = numbers(c, 3, "mean"),
                            variance = numbers(c, 4, "var");
  const std::size_t channels = scale.size();
  if (bias.size() != channels || mean.size() != channels || variance.size() != channels)
    c.refuse("scale, B, mean and var differ in length");
  std::vector<double> factor(channels), offset(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    factor[c] = scale[c] / std::sqrt(variance[c] + epsilon);
    offset[c] = bias[c] - mean[c] * factor[c];
  }
  shape_t per_channel(x.size(), 1);
  if (x.size() > 1) per_channel[1] = static_cast<std::int64_t>(channels);
  const int scaled = c.temporary("scaled", x);
  c.emit(binary_params{binary_kind::mul}, {c.in(0), constant(c, "factor", per_channel, factor)}, scaled);
  c.emit(binary_params{binary_kind::add}, {scaled, constant(c, "offset", per_channel, offset)});
}

/// The other outputs of LayerNormalization: the mean, and one over the deviation.
void layer_statistics(context& c, const std::vector<int>& axes) {
  const node& n = c.op();
  if (!c.wants(1) && !c.wants(2)) return;
  const int x = c.in(0), mean = reduced(c, reduce_kind::mean, x, axes, "mean");
  if (c.wants(1)) c.emit(reshape_parameters{}, {mean}, c.out(1));
  if (!c.wants(2)) return;
  const int centred = combine(c, binary_kind::sub, x, mean, "centred");
  const int variance = reduced(c, reduce_kind::mean, apply(c, centred, function::square, "squares"), axes, "variance");
  const int padded = combine(c, binary_kind::add, variance,
                             scalar(c, "epsilon", static_cast<double>(n.number("epsilon", 1e-5f))), "padded");
  apply(c, apply(c, padded, function::sqrt, "deviation"), function::reciprocal, "", 0, 0, c.out(2));
}

/// Whether input `i` of LayerNormalization is constant, with one number or one per normalised element; it is where it
/// is absent. Others multiply or add to the kernel's result.
bool is_per_element(const context& c, std::size_t i, std::int64_t length) {
  if (!c.has(i)) return true;
  const shape_t& shape = c.in_shape(i);
  const std::int64_t count = count_of(shape);
  if (c.input(i).constant == nullptr || (count != 1 && count != length)) return false;
  const std::size_t rank = c.in_shape(0).size();
  const auto axis = static_cast<std::size_t>(c.axis(c.op().integer("axis", -1), rank));
  for (std::size_t d = 0; d + rank < shape.size() + axis; ++d)  // what varies along other axes may be as many
    if (shape[d] != 1) return false;
  return true;
}

/// `length` numbers for the kernel of LayerNormalization: `neutral` where it does not do input `i`.
std::vector<float> per_element(context& c, std::size_t i, const char* what, bool in_kernel, std::int64_t length,
                               double neutral) {
  const std::vector<double> given = in_kernel && c.has(i) ? numbers(c, i, what) : std::vector<double>{neutral};
  c.charge(static_cast<double>(length));
  std::vector<float> wide(static_cast<std::size_t>(length));
  for (std::size_t k = 0; k < wide.size(); ++k) wide[k] = static_cast<float>(given[given.size() == 1 ? 0 : k]);
  return wide;
}

void layer_normalization(context& c) {
  const node& n = c.op();
  const shape_t& x = c.in_shape(0);
  const bool centre = n.op == "LayerNormalization";
  const int axis = c.axis(n.integer("axis", -1), x.size());
  layer_statistics(c, axes_from(axis, x.size()));
  const std::int64_t length = count_of({x.begin() + axis, x.end()});
  layer_normalization_parameters l;
  l.epsilon = n.number("epsilon", 1e-5f);
  l.centre = centre;
  const bool kernel_scales = is_per_element(c, 1, length), kernel_adds = kernel_scales && is_per_element(c, 2, length);
  l.scale = per_element(c, 1, "the scale", kernel_scales, length, 1);
  l.bias = per_element(c, 2, "the bias", kernel_adds, length, 0);
  shape_t flat(x.begin(), x.begin() + axis);
  flat.push_back(length);
  const bool ends = kernel_scales && (kernel_adds || !c.has(2));
  const int view = reshaped(c, c.in(0), flat);
  int result = ends && flat == x ? c.out() : c.temporary("flat", flat);
  c.emit(std::move(l), {view}, result);
  if (result == c.out()) return;
  result = reshaped(c, result, x);
  if (!kernel_scales) result = combine(c, binary_kind::mul, result, c.in(1), "scaled");
  if (c.has(2) && !kernel_adds) result = combine(c, binary_kind::add, result, c.in(2), "shifted");
  c.emit(reshape_parameters{}, {result});
}

/// 1 / the number of elements of a group of [N, groups, channels, ...]. Where sizes are bounds, a sum of ones: exact up
/// to 2^24 elements, as the quotient of a constant is.
int share_of_one(context& c, const shape_t& split) {
  if (c.has_fixed_sizes())
    return scalar(c, "share", 1 / static_cast<double>(count_of({split.begin() + 2, split.end()})));
  shape_t pixels = split;
  pixels[0] = pixels[1] = pixels[2] = 1;
  const int ones = c.temporary("ones", pixels);
  c.emit(expand_parameters{}, {constant(c, "one", shape_t(split.size(), 1), {1})}, ones);
  const int count = reduced(c, reduce_kind::sum, ones, axes_from(2, split.size()), "pixels");
  const int numbers =
      combine(c, binary_kind::mul, count, scalar(c, "channels", static_cast<double>(split[2])), "numbers");
  return apply(c, numbers, function::reciprocal, "share");
}

/// x [N, C, ...] standardised over each of `groups` groups of channels. Numbers per group become numbers per channel
/// before they meet the image.
int standardised_groups(context& c, int x, std::int64_t groups) {
  const node& n = c.op();
  const shape_t whole = c.shape(x);
  shape_t split = {whole[0], groups, whole[1] / groups}, per_channel(whole.size(), 1);
  split.insert(split.end(), whole.begin() + 2, whole.end());
  per_channel[0] = whole[0];
  per_channel[1] = whole[1];
  const std::vector<int> axes = axes_from(2, split.size());
  c.charge(static_cast<double>(whole[1]));
  std::vector<std::int64_t> group_of;
  for (std::int64_t c = 0; c < whole[1]; ++c) group_of.push_back(c / split[2]);
  const int index = constant_integers(c, "group", {whole[1]}, element::i64, group_of);
  const auto spread = [&](int v, const char* suffix) {
    if (groups == whole[1]) return reshaped(c, v, per_channel);
    const int picked = c.temporary(suffix, {whole[0], whole[1]});
    c.emit(gather_parameters{1, false}, {reshaped(c, v, {whole[0], groups}), index}, picked);
    return reshaped(c, picked, per_channel);
  };
  const int mean = reduced(c, reduce_kind::mean, reshaped(c, x, split), axes, "mean");
  const int centred = combine(c, binary_kind::sub, x, spread(mean, "means"), "centred");
  const int squares = reduced(c, reduce_kind::sum_square, reshaped(c, centred, split), axes, "squares");
  const int variance = combine(c, binary_kind::mul, squares, share_of_one(c, split), "variance");
  const int padded = combine(c, binary_kind::add, variance,
                             scalar(c, "epsilon", static_cast<double>(n.number("epsilon", 1e-5f))), "padded");
  const int inverse = apply(c, apply(c, padded, function::sqrt, "deviation"), function::reciprocal, "inverse");
  return combine(c, binary_kind::mul, centred, spread(inverse, "inverses"), "standard");
}

/// Input 0 before it was reshaped to [N, groups, the rest]; itself where it was not. Exporters write the normalisation
/// of groups as one of instances between two reshapes, which would transpose images.
int grouped_input(context& c) {
  const node& n = c.op();
  const shape_t& x = c.in_shape(0);
  for (const node& from : c.source().nodes) {
    if (from.op != "Reshape" || from.outputs[0] != n.inputs[0] || x.size() != 3) continue;
    const shape_t& whole = c.source().values[static_cast<std::size_t>(from.inputs[0])].shape;
    const bool fits = whole.size() >= 3 && whole.size() < max_rank && whole[0] == x[0] && whole[1] % x[1] == 0;
    if (fits) return c.of(from.inputs[0]);
  }
  return c.in(0);
}

void instance_normalization(context& c) {
  const int standard = standardised_groups(c, grouped_input(c), c.in_shape(0)[1]);
  scale_channels(c, reshaped(c, standard, c.in_shape(0)));
}

void group_normalization(context& c) {
  const node& n = c.op();
  const int standard = standardised_groups(c, c.in(0), n.integer("num_groups", 1));
  scale_channels(c, standard);  // until opset 20 one number per group
}

void local_response_normalization(context& c) {
  const node& n = c.op();
  if (c.in_shape(0).size() < 2) c.refuse("LRN needs [N, C, ...]");
  local_response_normalization_params l;
  const std::int64_t size = n.integer("size", 0);
  if (size < 1 || size > 65535) c.refuse("size must be between 1 and 65535");
  l.size = static_cast<int>(size);
  l.alpha = n.number("alpha", 0.0001f);
  l.beta = n.number("beta", 0.75f);
  l.bias = n.number("bias", 1.0f);
  c.emit(l, {c.in(0)});
}

void lp_normalization(context& c) {
  const node& n = c.op();
  const std::int64_t p = n.integer("p", 2);
  if (p != 1 && p != 2) c.refuse("LpNormalization has p = 1 and p = 2");
  const std::vector<int> axes = {c.axis(n.integer("axis", -1), c.in_shape(0).size())};
  const int x = c.in(0);
  const int norm = p == 1 ? reduced(c, reduce_kind::sum, apply(c, x, function::abs, "abs"), axes, "norm")
                          : apply(c, reduced(c, reduce_kind::sum_square, x, axes, "squares"), function::sqrt, "norm");
  // a line of zeros stays zeros: the divisor is at least the smallest normal number, or the second operand where it is
  // NaN
  const int divisor = combine(c, binary_kind::max, scalar(c, "least", 1.17549435e-38), norm, "divisor");
  combine(c, binary_kind::div, x, divisor, "", c.out());
}

void mean_variance_normalization(context& c) {
  const node& n = c.op();
  std::vector<int> axes;
  for (std::int64_t a : n.integers("axes", {0, 2, 3})) axes.push_back(c.axis(a, c.in_shape(0).size()));
  const int x = c.in(0),
            centred = combine(c, binary_kind::sub, x, reduced(c, reduce_kind::mean, x, axes, "mean"), "centred");
  const int variance = reduced(c, reduce_kind::mean, apply(c, centred, function::square, "squares"), axes, "variance");
  const int deviation = apply(c, variance, function::sqrt, "deviation");
  combine(c, binary_kind::div, centred, combine(c, binary_kind::add, deviation, scalar(c, "epsilon", 1e-9), "divisor"),
          "", c.out());
}

}

void add_normalization(rule_table& t) {
  t["BatchNormalization"] = {batch_normalization};
  t["LayerNormalization"] = {layer_normalization};
  t["RMSNormalization"] = {layer_normalization};
  t["InstanceNormalization"] = {instance_normalization};
  t["GroupNormalization"] = {group_normalization};
  t["LRN"] = {local_response_normalization};
  t["LpNormalization"] = {lp_normalization};
  t["MeanVarianceNormalization"] = {mean_variance_normalization};
}

}
