// SPDX-License-Identifier: MIT
/// Products of stored integers. Their sums are exact in float32 while no partial sum is beyond 2^24, so that products
/// of integers are those of floats, whose kernels there are; deeper ones are cut along the input channels, and their
/// sums added in int32.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/byte_steps.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"
#include "passes/canonicalise/int8_layers.hpp"
#include "passes/canonicalise/transposition.hpp"
#include "passes/canonicalise/windows.hpp"

namespace nsk::tool::canonical {
namespace {

constexpr double exact_in_float = 16777216;  // 2^24

/// Where an operator has its inputs.
struct product_inputs {
  std::size_t a, a_zero, b, b_zero;
};
bool is_gemm(const context& c) { return c.op().op == "QGemm"; }
bool stores(const context& c) { return is_gemm(c) || c.op().op.rfind("QLinear", 0) == 0; }
bool adds(const context& c) { return c.op().op == "QLinearConvAdd"; }
bool is_transposed(const context& c) { return c.op().op == "QLinearConvTranspose"; }
bool is_conv(const context& c) {
  return c.op().op == "QLinearConv" || adds(c) || c.op().op == "ConvInteger" || is_transposed(c);
}
/// Which input is the scale of the result; its zero point follows.
std::size_t result_input(const context& c) { return is_gemm(c) ? 7 : 6; }
product_inputs inputs_of(const context& c) {
  return stores(c) ? product_inputs{0, 2, 3, 5} : product_inputs{0, 2, 1, 3};
}

/// Input `i` less its zero point, in float32, and the largest magnitude that this can have.
struct shifted_input {
  int value;
  double max_magnitude;
};
shifted_input shifted(context& c, std::size_t i, std::size_t zero) {
  const integer_range range = range_of(c, c.in_type(i));
  const auto low = static_cast<double>(range.low), high = static_cast<double>(range.high);
  const int x = cast_to(c, element::f32, c.in(i), "wide" + std::to_string(i));
  if (!c.has(zero)) return {x, std::max(-low, high)};
  if (!c.input(zero).constant) {
    const int z = reshaped(c, cast_to(c, element::f32, c.in(zero), "zero" + std::to_string(i)), {1});
    return {combine_exactly(c, binary_kind::sub, x, z, "shifted" + std::to_string(i)), high - low};
  }
  const double z = number(c, zero, "the zero point of the first input");
  const double magnitude = std::max(z - low, high - z);
  if (z == 0) return {x, magnitude};
  return {
      combine_exactly(c, binary_kind::sub, x, scalar(c, "zero" + std::to_string(i), z), "shifted" + std::to_string(i)),
      magnitude};
}

/// Weights of a transposed convolution, channel by channel: numbers are [C][O / groups][taps], zero points O / groups.
integer_weights transposed_weights_of(context& c) {
  const product_inputs in = inputs_of(c);
  const shape_t& b = c.in_shape(in.b);
  const std::vector<double> values = weights(c, in.b, "the weights");
  const std::vector<double> zero =
      c.has(in.b_zero) ? numbers(c, in.b_zero, "the zero point of the weights") : std::vector<double>(1, 0.0);
  const auto groups = static_cast<std::size_t>(c.op().integer("group", 1)), outputs = static_cast<std::size_t>(b[1]);
  integer_weights w;
  w.by_channel = true;
  w.taps = static_cast<std::size_t>(count_of({b.begin() + 2, b.end()}));
  w.channels = outputs * groups;
  const std::size_t inputs = static_cast<std::size_t>(b[0]) / groups;
  w.depth = inputs * w.taps;
  for (std::size_t o = 0; o < w.channels; ++o)
    for (std::size_t i = 0; i < w.depth; ++i) {
      const std::size_t channel = o / outputs * inputs + i / w.taps, output = o % outputs;
      w.values.push_back(values[(channel * outputs + output) * w.taps + i % w.taps] -
                         zero[zero.size() == 1 ? 0 : output]);
    }
  if (c.has(8)) w.bias = numbers(c, 8, "the bias");
  return w;
}

integer_weights weights_of(context& c) {
  const product_inputs in = inputs_of(c);
  if (is_transposed(c)) return transposed_weights_of(c);
  integer_weights w;
  w.by_channel = is_conv(c) || (is_gemm(c) && c.op().integer("transB", 0) != 0);  // of QGemm alone
  w.values = weights(c, in.b, "the weights");
  w.channels = static_cast<std::size_t>(w.by_channel ? c.in_shape(in.b).front() : c.in_shape(in.b).back());
  w.depth = w.values.size() / w.channels;
  w.taps = is_conv(c) ? w.depth / static_cast<std::size_t>(c.in_shape(in.b)[1]) : 1;
  if (c.has(in.b_zero)) {
    const std::vector<double> zero = numbers(c, in.b_zero, "the zero point of the weights");
    for (std::size_t i = 0; i < w.values.size(); ++i) w.values[i] -= zero[zero.size() == 1 ? 0 : w.channel_of(i)];
  }
  const std::size_t bias = is_gemm(c) ? 6 : 8;
  if (stores(c) && c.has(bias)) w.bias = numbers(c, bias, "the bias");
  if (is_gemm(c) && w.bias.size() == 1) w.bias.resize(w.channels, w.bias[0]);
  return w;
}

/// Emits x times the weights of input channels [first, first + count) as one layer of floats. The bias belongs to the
/// part that begins at 0, as the caller adds the parts.
int float_product(context& c, int x, const integer_weights& w, std::size_t first, std::size_t count,
                  const shape_t& shape, const std::string& suffix) {
  const int result = c.temporary(suffix, shape);
  const std::size_t inputs = w.depth / w.taps;
  const auto weight_at = [&](std::size_t channel, std::size_t k) {
    const std::size_t at = first * w.taps + k;
    return w.values[w.by_channel ? channel * w.depth + at : at * w.channels + channel];
  };
  const int from = count == inputs
                       ? x
                       : part(c, x, is_conv(c) ? 1 : c.shape(x).size() - 1, static_cast<std::int64_t>(first),
                              static_cast<std::int64_t>(count), suffix + "_inputs");
  const std::size_t depth = count * w.taps;
  std::vector<double> bias = first == 0 ? w.bias : std::vector<double>();
  bias.resize(w.channels, 0.0);
  c.charge(static_cast<double>(depth * w.channels));
  if (is_transposed(c)) {
    integer_weights some = w;
    some.depth = depth;
    some.bias = std::move(bias);
    some.values.clear();
    for (std::size_t o = 0; o < w.channels; ++o)
      for (std::size_t k = 0; k < depth; ++k) some.values.push_back(weight_at(o, k));
    emit_exact_transposition(c, some, from, result);
    return result;
  }
  if (!is_conv(c)) {
    dense_parameters d;
    d.depth = static_cast<int>(depth);
    d.outputs = static_cast<int>(w.channels);
    for (std::size_t k = 0; k < depth; ++k)
      for (std::size_t o = 0; o < w.channels; ++o) d.weights.push_back(weight_at(o, k));
    d.bias = std::move(bias);
    c.emit(std::move(d), {from}, result).exact = true;
    return result;
  }
  const shape_t& kernel = c.in_shape(inputs_of(c).b);
  conv_parameters p;
  p.groups = static_cast<int>(c.op().integer("group", 1));
  p.outputs = static_cast<int>(w.channels);
  p.w = window_of(c, c.op(), c.in_shape(0), {kernel.begin() + 2, kernel.end()}, shape).w;
  for (std::size_t o = 0; o < w.channels; ++o)
    for (std::size_t k = 0; k < depth; ++k) p.weights.push_back(weight_at(o, k));
  p.bias = std::move(bias);
  c.emit(std::move(p), {from}, result).exact = true;
  return result;
}

/// Input channels that one layer of floats adds up exactly, from `first` on.
std::size_t exact_channels(const integer_weights& w, double max_input, std::size_t first) {
  const std::size_t inputs = w.depth / w.taps;
  std::vector<double> sums(w.channels, 0.0);
  for (std::size_t i = 0; i < w.channels && first == 0 && !w.bias.empty(); ++i) sums[i] = std::abs(w.bias[i]);
  for (std::size_t channel = first; channel < inputs; ++channel)
    for (std::size_t o = 0; o < w.channels; ++o) {
      for (std::size_t k = channel * w.taps; k < (channel + 1) * w.taps; ++k)
        sums[o] += max_input * std::abs(w.values[w.by_channel ? o * w.depth + k : k * w.channels + o]);
      if (sums[o] > exact_in_float) return channel - first;
    }
  return inputs - first;
}

/// The sums of a product with constant weights: exact numbers in float32, or int32 where those do not hold them.
int summed(context& c, const shifted_input& x, const integer_weights& w, const shape_t& shape) {
  const double bound = w.bound(x.max_magnitude);
  if (bound <= exact_in_float) return float_product(c, x.value, w, 0, w.depth / w.taps, shape, "sums");
  if (bound > std::numeric_limits<std::int32_t>::max())
    c.refuse(
        std::string("its sums can be beyond int32, where runtimes differ. Cut the layer into two along its input ") +
        (stores(c) ? "channels, or compute the model in float32 (--dequantize)" : "channels"));
  integer_weights rest = w;
  const bool grouped = is_conv(c) && c.op().integer("group", 1) != 1;
  const bool bias_apart =
      grouped || std::any_of(w.bias.begin(), w.bias.end(), [](double b) { return std::abs(b) > exact_in_float / 2; });
  if (bias_apart) rest.bias.clear();
  if (grouped && rest.bound(x.max_magnitude) > exact_in_float)
    c.refuse("the sums of a group can be beyond 2^24. Quantise the layer to smaller weights, or cut its groups in two");
  int sum = no_value;
  for (std::size_t first = 0, inputs = w.depth / w.taps; first < inputs;) {
    const std::size_t count = exact_channels(rest, x.max_magnitude, first);
    if (count == 0) c.refuse("its kernel is too large for exact sums. Cut it into two layers whose results are added");
    const std::string name = "part" + std::to_string(first);
    const int products =
        cast_to(c, element::i32, float_product(c, x.value, rest, first, count, shape, name), name + "_sum");
    sum = sum == no_value ? products : combine(c, arithmetic_kind::add, sum, products, name + "_total");
    first += count;
  }
  if (!bias_apart || w.bias.empty()) return sum;
  shape_t along(shape.size(), 1);
  along[is_conv(c) ? 1 : shape.size() - 1] = static_cast<std::int64_t>(w.channels);
  std::vector<std::int64_t> bias;
  for (const double b : w.bias) bias.push_back(static_cast<std::int64_t>(b));
  return combine(c, arithmetic_kind::add, sum, constant_integers(c, "bias", along, element::i32, bias), "biased");
}

/// The sums of a product whose second matrix is computed, or has more than two axes.
int summed_integers(context& c, const shifted_input& x, const shape_t& shape) {
  const product_inputs in = inputs_of(c);
  shape_t a = c.in_shape(in.a), b = c.in_shape(in.b);
  if (is_conv(c)) c.refuse("its weights are computed at run time, but they must be a constant of the model");
  if (a.size() < 2 || b.size() < 2) c.refuse("one of its matrices is a vector");
  if (c.has(in.b_zero) && count_of(c.in_shape(in.b_zero)) != 1)
    c.refuse("the zero points of a computed matrix are one number");
  const double depth = static_cast<double>(a.back());
  if (depth * 255 * 255 > std::numeric_limits<std::int32_t>::max()) c.refuse("its sums can be beyond int32");
  const shifted_input y = shifted(c, in.b, in.b_zero);
  const std::size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  const int left = cast_to(c, element::i32, reshaped(c, x.value, a), "left_integers"),
            right = cast_to(c, element::i32, reshaped(c, y.value, b), "right_integers");
  return integer_product(c, left, right, shape);
}

/// Scales by which the sums of a product become units of its result, one or one per channel.
std::vector<double> scales_of_sums(context& c) {
  const float alpha = is_gemm(c) ? c.op().number("alpha", 1) : 1;
  const auto a_scale = static_cast<float>(number(c, 1, "the scale of the first input")),
             y_scale = static_cast<float>(number(c, result_input(c), "the scale of the result"));
  for (const float s : {a_scale, y_scale}) require_scale(c, static_cast<double>(s));
  std::vector<double> scale = numbers(c, 4, "the scale of the weights");
  for (double& s : scale) {
    s = static_cast<double>(alpha * a_scale * static_cast<float>(s) / y_scale);
    if (!(s > 0) || !std::isfinite(s)) c.refuse("one of its scales is not a positive number. Quantise the model anew");
  }
  if (!is_transposed(c) || scale.size() == 1) return scale;
  const std::size_t outputs = scale.size();  // of each group
  scale.resize(static_cast<std::size_t>(c.out_shape()[1]));
  for (std::size_t o = outputs; o < scale.size(); ++o) scale[o] = scale[o - outputs];
  return scale;
}

/// Where QLinearConvAdd has its residual; its scale and zero point follow.
constexpr std::size_t residual_input = 9;

/// Units of the result in one unit of the residual: the quotient of their scales.
float residual_scale(context& c) {
  const auto scale = static_cast<float>(number(c, residual_input + 1, "the scale of the residual")) /
                     static_cast<float>(number(c, result_input(c), "the scale of the result"));
  require_scale(c, static_cast<double>(scale));
  return scale;
}
/// Emits the sum of `units`, floats in units of the result's scale, and the residual of QLinearConvAdd.
int add_residual(context& c, int units) {
  const shifted_input residual = shifted(c, residual_input, residual_input + 2);
  const int scaled = combine_exactly(c, binary_kind::mul, residual.value,
                                     scalar(c, "residual_scale", static_cast<double>(residual_scale(c))), "added");
  return combine_exactly(c, binary_kind::add, units, scaled, "sum_of_units");
}

/// The product as one step on bytes; false where there is none for it.
bool product_of_bytes(context& c, const integer_weights& w) {
  const product_inputs in = inputs_of(c);
  if (!c.computes_bytes() || (c.has(in.a_zero) && !c.input(in.a_zero).constant)) return false;
  stored_product p;
  p.input = c.in(in.a);
  p.input_zero = c.has(in.a_zero) ? number(c, in.a_zero, "the zero point of the first input") : 0;
  for (const double s : scales_of_sums(c)) p.scale.push_back(static_cast<float>(s));
  p.zero = number(c, result_input(c) + 1, "the zero point of the result");
  if (is_transposed(c)) {
    p.groups = static_cast<int>(c.op().integer("group", 1));
    return emit_stored_transposition(c, w, p);
  }
  if (is_conv(c)) {
    const shape_t& kernel = c.in_shape(in.b);
    p.w = window_of(c, c.op(), c.in_shape(0), {kernel.begin() + 2, kernel.end()}, c.out_shape()).w;
    p.groups = static_cast<int>(c.op().integer("group", 1));
  }
  if (adds(c)) {
    p.residual = c.in(residual_input);
    p.residual_scale = residual_scale(c);
    p.residual_zero = number(c, residual_input + 2, "the zero point of the residual");
  }
  return emit_stored_product(c, w, p);
}

/// Sums as one step on bytes; false where there is none for them.
bool sums_of_bytes(context& c, const integer_weights& w) {
  const product_inputs in = inputs_of(c);
  if (!c.computes_bytes() || (c.has(in.a_zero) && count_of(c.in_shape(in.a_zero)) != 1)) return false;
  if (!is_conv(c)) return emit_integer_sums(c, w, c.in(in.a), zero_of_bytes(c, in.a_zero, c.in_type(in.a)), {}, 1);
  const shape_t& kernel = c.in_shape(in.b);
  const window win = window_of(c, c.op(), c.in_shape(0), {kernel.begin() + 2, kernel.end()}, c.out_shape()).w;
  return emit_integer_sums(c, w, c.in(in.a), zero_of_bytes(c, in.a_zero, c.in_type(in.a)), win,
                           static_cast<int>(c.op().integer("group", 1)));
}

void product(context& c) {
  const product_inputs in = inputs_of(c);
  const shape_t shape = c.out_shape(), b = c.in_shape(in.b);
  if (is_conv(c) && shape.size() > 4) c.refuse("convolutions of integers have one or two spatial axes");
  if (is_gemm(c) && (c.op().integer("transA", 0) != 0 || c.input(in.b).constant == nullptr))
    c.refuse("its first matrix is transposed or its second one computed at run time");
  const bool packed = c.input(in.b).constant != nullptr && (is_conv(c) || (b.size() == 2 && !c.in_shape(in.a).empty()));
  std::optional<integer_weights> w;
  if (packed) w = weights_of(c);
  if (packed && (stores(c) ? product_of_bytes(c, *w) : sums_of_bytes(c, *w))) return;
  const shifted_input x = shifted(c, in.a, in.a_zero);
  const int sum = packed ? summed(c, x, *w, shape) : summed_integers(c, x, shape);
  if (!stores(c)) {
    if (c.type(sum) == element::i32)
      c.emit(reshape_parameters{}, {sum});
    else
      cast_to(c, element::i32, sum, "", c.out());
    return;
  }
  const std::vector<double> scale = scales_of_sums(c);
  shape_t along(scale.size() == 1 ? 0 : shape.size(), 1);
  if (scale.size() != 1) along[is_conv(c) ? 1 : shape.size() - 1] = static_cast<std::int64_t>(scale.size());
  int units = combine_exactly(c, binary_kind::mul, cast_to(c, element::f32, sum, "sum"),
                              constant(c, "scale", along, scale), "units");
  if (adds(c)) units = add_residual(c, units);
  const double zero = number(c, result_input(c) + 1, "the zero point of the result");
  store(c, units, zero == 0 ? no_value : scalar(c, "result_zero", zero), 0);
}

}

void add_quantized(rule_table& t) {
  for (const char* name : {"QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"})
    t[name] = {product, element_types::any};
  add_rows(t, {"com.microsoft.QGemm", "netsuke.QLinearConvTranspose", "netsuke.QLinearConvAdd"},
           {product, element_types::any});
}
}
