// SPDX-License-Identifier: MIT
/// Convolutions and matrix products of stored integers: sums of (a - its zero point) * (b - its zero point) in int32,
/// and for QLinear operators and QGemm saturate(zero point + round_half_even(float32(sum) * scale)), where scale =
/// alpha * a_scale * b_scale / y_scale in float32, in this order. QLinearConvAdd, which resolve() makes, has a residual
/// behind QLinearConv's inputs; (residual - its zero point) * (its scale / y_scale) is added before that is rounded.
/// QLinearConvTranspose, which resolve() makes too, has QLinearConv's inputs, weights [C][O / groups][kernel], and a
/// scale and zero point of them for each of O / groups channels, which all groups share.
/// With attribute double_rounding the product with the scale is that of TensorFlow Lite's reference kernels.
#include <algorithm>
#include "graph/fixed_point.hpp"
#include "reference/run_node.hpp"

namespace nsk::tool::reference {
namespace {

/// Where an operator has its inputs; `none` stands for those that it has not.
struct product_inputs {
  static constexpr std::size_t none = 99;
  std::size_t a = 0, a_zero = 2, b = 1, b_zero = 3;
  std::size_t a_scale = none, b_scale = none, y_scale = none, y_zero = none, bias = none;
  std::size_t residual = none, residual_scale = none, residual_zero = none;
};

bool is_gemm(const node& n) { return n.op == "QGemm"; }
bool is_transposed(const node& n) { return n.op == "QLinearConvTranspose"; }
bool is_conv(const node& n) {
  return n.op == "QLinearConv" || n.op == "QLinearConvAdd" || n.op == "ConvInteger" || is_transposed(n);
}

product_inputs inputs_of(const node& n) {
  product_inputs in;
  if (n.op == "ConvInteger" || n.op == "MatMulInteger") return in;
  in.b = 3;
  in.b_zero = 5;
  in.a_scale = 1;
  in.b_scale = 4;
  in.y_scale = is_gemm(n) ? 7 : 6;
  in.y_zero = is_gemm(n) ? 8 : 7;
  in.bias = is_gemm(n) ? 6 : 8;
  if (n.op != "QLinearConvAdd") return in;
  in.residual = 9;
  in.residual_scale = 10;
  in.residual_zero = 11;
  return in;
}

bool adds(const product_inputs& in) { return in.residual != product_inputs::none; }
bool is_stored(const product_inputs& in) { return in.a_scale != product_inputs::none; }

const graph& no_graph() {
  static const graph none;
  return none;
}

/// The product that `n` is, but of real numbers and without bias.
node plain_product(const node& n) {
  node plain = n;
  plain.op = is_transposed(n) ? "ConvTranspose" : is_conv(n) ? "Conv" : is_gemm(n) ? "Gemm" : "MatMul";
  plain.domain.clear();
  plain.attributes.erase("alpha");
  plain.version = 13;
  plain.inputs.assign(2, no_value);  // given as operands, not as values of a graph
  plain.outputs.assign(1, no_value);
  return plain;
}

/// Whether the channels are the first axis of the second input.
bool channels_first(const node& n) { return is_conv(n) || (is_gemm(n) && n.integer("transB", 0) != 0); }

/// Number of channels that a scale or zero point may have one entry for each of: rows of a convolution's weights,
/// columns of a matrix or of a transposed convolution's weights.
std::int64_t channels_of(const call& c, const product_inputs& in) {
  const shape_t& b = c.shape(in.b);
  if (is_transposed(c.op())) return b.size() < 2 ? 1 : b[1];
  return b.size() < 2 ? 1 : channels_first(c.op()) ? b.front() : b.back();
}

/// The call of `plain` on real numbers in the place of the integers; inferred.
call real_call(const call& c, const product_inputs& in, const node& plain) {
  call real = make_call(no_graph(), plain);
  real.input(0) = {true, element::f32, c.shape(in.a), nullptr};
  real.input(1) = {true, element::f32, c.shape(in.b), nullptr};
  infer_node(real);
  return real;
}

void require_one_or_channels(const call& c, std::size_t i, std::int64_t channels) {
  if (!c.has(i)) return;
  const std::int64_t count = count_of(c.shape(i));
  c.require(count == 1 || (count == channels && c.rank(i) == 1),
            "a scale or zero point has one number, or one per output channel");
}

void require_residual(call& c, const product_inputs& in, const shape_t& shape) {
  c.require_float(in.residual_scale);
  c.require((c.type(in.residual) == element::i8 || c.type(in.residual) == element::u8) &&
                c.type(in.residual_zero) == c.type(in.residual) && c.shape(in.residual) == shape,
            "the residual has 8 bits, its zero point's type and the result's shape");
  c.require(count_of(c.shape(in.residual_scale)) == 1 && count_of(c.shape(in.residual_zero)) == 1,
            "scale and zero point of the residual are one number each");
}

void infer_product(call& c) {
  const product_inputs in = inputs_of(c.op());
  const bool stores = is_stored(in), conv = is_conv(c.op()), gemm = is_gemm(c.op());
  if (adds(in))
    c.require_inputs(12, 12);
  else
    c.require_inputs(gemm ? 6 : stores ? 8 : 2, gemm || (stores && conv) ? 9 : stores ? 8 : 4);
  c.require(!gemm || (c.has(in.y_scale) && c.has(in.y_zero)), "QGemm with a result in float32 is not supported");
  for (const std::size_t i : {in.a, in.b})
    c.require(c.type(i) == element::i8 || c.type(i) == element::u8, "it multiplies 8-bit integers");
  c.require(!c.has(in.a_zero) || (c.type(in.a_zero) == c.type(in.a) && count_of(c.shape(in.a_zero)) == 1),
            "the first zero point is one number of the first input's type");
  c.require(!c.has(in.b_zero) || c.type(in.b_zero) == c.type(in.b), "a zero point has the type of what it belongs to");
  const std::int64_t channels = channels_of(c, in);
  require_one_or_channels(c, in.b_zero, channels);
  if (stores) {
    for (const std::size_t i : {in.a_scale, in.b_scale, in.y_scale}) c.require_float(i);
    c.require(
        count_of(c.shape(in.a_scale)) == 1 && count_of(c.shape(in.y_scale)) == 1 && count_of(c.shape(in.y_zero)) == 1,
        "scale and zero point of the first input and of the output are one number each");
    require_one_or_channels(c, in.b_scale, channels);
    c.require(c.type(in.y_zero) == element::i8 || c.type(in.y_zero) == element::u8, "its result has 8 bits");
    const std::int64_t outputs = is_transposed(c.op()) ? channels * c.op().integer("group", 1) : channels;
    c.require(!c.has(in.bias) || (c.type(in.bias) == element::i32 && c.shape(in.bias) == shape_t{outputs}),
              "the bias has one int32 per output channel");
  }
  const node plain = plain_product(c.op());
  const shape_t shape = real_call(c, in, plain).out_shape(0);
  if (adds(in)) require_residual(c, in, shape);
  c.declare(0, stores ? c.type(in.y_zero) : element::i32, shape);
}

/// Input `i` less its zero point; `inner` elements belong to each of `length` zero points.
typed_array shifted(const call& c, std::size_t i, std::size_t zero, std::int64_t inner, std::int64_t length) {
  typed_array x{element::f32, array(element::f64, c.shape(i))};
  const bool single = c.has(zero) && count_of(c.shape(zero)) == 1;
  for (std::int64_t k = 0; k < x.data.count(); ++k) {
    const std::int64_t offset = !c.has(zero) ? 0 : c.integers(zero)[single ? 0 : k / inner % length];
    x.data.as<double>()[k] = static_cast<double>(c.integers(i)[k] - offset);
  }
  return x;
}

double work_of_product(call& c) {
  const node plain = plain_product(c.op());
  call real = real_call(c, inputs_of(c.op()), plain);
  return work_of(real);
}

void evaluate_product(call& c) {
  const product_inputs in = inputs_of(c.op());
  const bool conv = is_conv(c.op());
  const std::int64_t channels = channels_of(c, in),
                     inner = is_transposed(c.op())    ? count_between(c.shape(in.b), 2, c.rank(in.b))
                             : channels_first(c.op()) ? count_between(c.shape(in.b), 1, c.rank(in.b))
                                                      : 1;
  const typed_array a = shifted(c, in.a, in.a_zero, 1, 1), b = shifted(c, in.b, in.b_zero, inner, channels);
  const node plain = plain_product(c.op());
  const typed_array product = evaluate_node(no_graph(), plain, {&a, &b}).front();
  const shape_t& shape = c.out_shape(0);
  const std::int64_t per_channel = conv ? count_between(shape, 2, shape.size()) : 1,
                     outputs = is_transposed(c.op()) ? shape[1] : channels;
  const bool stores = is_stored(in);
  const integer_range range = stores ? *range_of_stored(c.type(in.y_zero)) : integer_range{};
  for (std::int64_t i = 0; i < product.data.count(); ++i) {
    const auto output = static_cast<std::size_t>(i / per_channel % outputs),
               channel = output % static_cast<std::size_t>(channels);
    std::int64_t sum = static_cast<std::int64_t>(product.data.as<double>()[i]);
    if (!stores) {
      c.out_integers()[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
      continue;
    }
    if (c.has(in.bias)) sum += c.integers(in.bias)[output];
    const auto number = [&](std::size_t input) {
      return static_cast<float>(c.floats(input)[count_of(c.shape(input)) == 1 ? 0 : channel]);
    };
    if (c.op().integer("double_rounding", 0) != 0) {
      const auto wide = [&](std::size_t input) { return static_cast<double>(number(input)); };
      const fixed_point_multiplier multiplier(wide(in.a_scale) * wide(in.b_scale) / wide(in.y_scale));
      c.out_integers()[i] = std::clamp(multiplier.of(sum) + *c.integers(in.y_zero), range.low, range.high);
      continue;
    }
    const float alpha = is_gemm(c.op()) ? c.op().number("alpha", 1) : 1;
    const float scale = alpha * number(in.a_scale) * number(in.b_scale) / number(in.y_scale);
    float units = static_cast<float>(static_cast<std::int32_t>(sum)) * scale;
    if (adds(in)) {
      const float residual_scale = number(in.residual_scale) / number(in.y_scale);
      const auto shifted = static_cast<float>(c.integers(in.residual)[i] - *c.integers(in.residual_zero));
      const float added = shifted * residual_scale;
      units += added;
    }
    c.out_integers()[i] = stored(units, *c.integers(in.y_zero), range);
  }
}

}

void add_integer_products(table& t) {
  for (const char* name : {"QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"})
    t[name] = {infer_product, evaluate_product, 10, work_of_product};
  t["com.microsoft.QGemm"] = {infer_product, evaluate_product, 1, work_of_product};
  t["netsuke.QLinearConvTranspose"] = {infer_product, evaluate_product, 1, work_of_product};
  t["netsuke.QLinearConvAdd"] = {infer_product, evaluate_product, 1, work_of_product};
}

}
