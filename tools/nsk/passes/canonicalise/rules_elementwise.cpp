// SPDX-License-Identifier: MIT
/// Functions of one element, arithmetic of two, minimum and maximum.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/byte_steps.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

struct function_entry {
  function fn;
  double alpha = 0, beta = 0;
};
/// Operators that are one function of the engine each.
const std::unordered_map<std::string, function_entry>& unary_functions() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static const std::unordered_map<std::string, function_entry> table = {
      {"Relu", {function::clip, 0, infinity}},
      {"LeakyRelu", {function::leaky_relu, 0.01}},
      {"Sigmoid", {function::sigmoid}},
      {"HardSigmoid", {function::hard_sigmoid, 0.2, 0.5}},
      {"HardSwish", {function::hard_swish}},
      {"Tanh", {function::tanh}},
      {"Exp", {function::exp}},
      {"Log", {function::log}},
      {"Sqrt", {function::sqrt}},
      {"Reciprocal", {function::reciprocal}},
      {"Neg", {function::neg}},
      {"Abs", {function::abs}},
      {"Floor", {function::floor}},
      {"Ceil", {function::ceil}},
      {"Round", {function::round}},
      {"Erf", {function::erf}},
      {"Elu", {function::elu, 1}},
      {"Softplus", {function::softplus}},
      {"Sign", {function::sign}},
      {"Sin", {function::sin}},
      {"Cos", {function::cos}},
      {"Asin", {function::asin}},
      {"Acos", {function::acos}},
      {"Atan", {function::atan}},
      {"Sinh", {function::sinh}},
      {"Cosh", {function::cosh}},
      {"Asinh", {function::asinh}},
      {"Acosh", {function::acosh}},
      {"Atanh", {function::atanh}}};
  return table;
}

void unary(context& c) {
  const node& n = c.op();
  const function_entry& e = unary_functions().at(n.op);
  post_operation post;
  post.fn = e.fn;
  post.alpha = e.alpha;
  post.beta = e.beta;
  if (n.op == "LeakyRelu" || n.op == "HardSigmoid" || n.op == "Elu")
    post.alpha = n.number("alpha", static_cast<float>(e.alpha));
  if (n.op == "HardSigmoid") post.beta = n.number("beta", static_cast<float>(e.beta));
  c.emit(unary_params{}, {c.in(0)}).post = post;
}

void clip(context& c) {
  const node& n = c.op();
  const auto is_data = [&](std::size_t i) { return c.has(i) && c.input(i).constant == nullptr; };
  if (is_data(1) || is_data(2)) {
    int x = c.in(0);
    if (c.has(1)) x = combine(c, binary_kind::max, x, c.in(1), "above");
    if (c.has(2)) x = combine(c, binary_kind::min, x, c.in(2), "below");
    c.emit(reshape_parameters{}, {x});
    return;
  }
  post_operation post;
  post.fn = function::clip;
  post.alpha = -std::numeric_limits<double>::infinity();
  post.beta = std::numeric_limits<double>::infinity();
  const bool old = n.version < 11;
  if (old && n.has("min")) post.alpha = n.number("min", 0);
  if (old && n.has("max")) post.beta = n.number("max", 0);
  if (!old && c.has(1)) post.alpha = number(c, 1, "min");
  if (!old && c.has(2)) post.beta = number(c, 2, "max");
  if (std::isnan(post.alpha) || std::isnan(post.beta)) c.refuse("one of its bounds is not a number");
  c.emit(unary_params{}, {c.in(0)}).post = post;
}

void p_relu(context& c) { c.emit(binary_params{binary_kind::prelu}, {c.in(0), c.in(1)}); }

void binary(context& c) {
  const node& n = c.op();
  static const std::unordered_map<std::string, binary_kind> table = {
      {"Add", binary_kind::add}, {"Sub", binary_kind::sub}, {"Mul", binary_kind::mul}, {"Div", binary_kind::div}};
  c.emit(binary_params{table.at(n.op)}, {c.in(0), c.in(1)});
}

void pow(context& c) {
  const value& exponent = c.input(1);
  const double e = exponent.constant && exponent.constant->count() == 1 ? exponent.constant->number(0) : 0;
  const bool same_shape = c.in_shape(0) == c.out_shape();
  if (same_shape && (e == 2 || e == 0.5)) {
    c.emit(unary_params{}, {c.in(0)}).post.fn = e == 2 ? function::square : function::sqrt;
    return;
  }
  int right = c.in(1);
  if (exponent.constant && exponent.type != element::f32)
    right = constant(c, "exponent", exponent.shape, numbers(c, 1, "the exponent"));
  c.emit(binary_params{binary_kind::pow}, {c.in(0), right});
}

void variadic(context& c) {
  const node& n = c.op();
  const binary_kind kind = n.op == "Min" ? binary_kind::min : n.op == "Max" ? binary_kind::max : binary_kind::add;
  const std::size_t count = n.inputs.size();
  const bool mean = n.op == "Mean" && count > 1;
  if (count == 1) return identity(c);
  int sum = c.in(0);
  for (std::size_t i = 1; i < count; ++i) {
    const bool last = i + 1 == count && !mean;
    sum = combine(c, kind, sum, c.in(i), "partial" + std::to_string(i), last ? c.out() : no_value);
  }
  if (mean) c.emit(binary_params{binary_kind::div}, {sum, constant(c, "count", {}, {static_cast<double>(count)})});
}

/// Max and Min of any number of inputs.
void extreme(context& c) {
  const node& n = c.op();
  if (c.in_type(0) == element::f32) return variadic(c);
  if (n.inputs.size() == 1) return identity(c);
  int best = c.in(0);
  for (std::size_t i = 1; i < n.inputs.size(); ++i) {
    const int result = i + 1 == n.inputs.size() ? c.out() : no_value;
    const bool bytes = c.in_type(0) == element::i8 || c.in_type(0) == element::u8;
    if (bytes && n.inputs.size() == 2 && c.computes_bytes() && !c.input(0).constant && c.input(1).constant &&
        c.input(1).constant->count() == 1 && c.shape(best) == c.shape(result))
      return emit_limit(c, n.op == "Max", best, c.input(1).constant->integer(0), result);
    best = extreme_of(c, n.op == "Max", best, c.in(i), "partial" + std::to_string(i), result);
  }
}

/// Add, Sub, Mul, Div and Mod of integers.
void integer_binary(context& c) {
  static const std::unordered_map<std::string, arithmetic_kind> table = {{"Add", arithmetic_kind::add},
                                                                         {"Sub", arithmetic_kind::sub},
                                                                         {"Mul", arithmetic_kind::mul},
                                                                         {"Div", arithmetic_kind::div},
                                                                         {"Mod", arithmetic_kind::mod}};
  const bool truncates = c.op().op == "Mod" && c.op().integer("fmod", 0) != 0;
  c.emit(arithmetic_params{truncates ? arithmetic_kind::fmod : table.at(c.op().op)}, {c.in(0), c.in(1)});
}

/// 0 - x, as `result`.
void subtract_from_zero(context& c, int x, int result) {
  const int zero = constant_integers(c, "zero", {}, c.in_type(0), {0});
  c.emit(arithmetic_params{arithmetic_kind::sub}, {zero, x}, result);
}

void integer_negative(context& c) {
  const int x = c.in(0);
  subtract_from_zero(c, x, c.out());
}

void integer_magnitude(context& c) {
  const int x = c.in(0), negative = c.temporary("negative", c.in_shape(0), c.in_type(0));
  subtract_from_zero(c, x, negative);
  c.emit(arithmetic_params{arithmetic_kind::max}, {x, negative});
}

void integer_sign(context& c) {
  const element type = c.in_type(0);
  const int x = c.in(0), raised = c.temporary("raised", c.in_shape(0), type);
  c.emit(arithmetic_params{arithmetic_kind::max}, {x, constant_integers(c, "least", {}, type, {-1})}, raised);
  c.emit(arithmetic_params{arithmetic_kind::min}, {raised, constant_integers(c, "most", {}, type, {1})});
}

void integer_relu(context& c) {
  combine(c, arithmetic_kind::max, c.in(0), constant_integers(c, "zero", {}, c.in_type(0), {0}), "", c.out());
}

/// Clip of float32 and of whatever else can be compared.
void clip_any(context& c) {
  if (c.in_type(0) == element::f32) return clip(c);
  int x = c.in(0);
  for (const std::size_t i : {1, 2})
    if (c.has(i)) x = extreme_of(c, i == 1, x, reshaped(c, c.in(i), {}), i == 1 ? "above" : "below");
  c.emit(reshape_parameters{}, {x});
}

/// Powers of integers. An exponent of another type is made one of the base's where it is whole; other exponents are
/// taken in float32, as a Cast behind and before would.
void integer_pow(context& c) {
  const element type = c.in_type(0);
  const value& exponent = c.input(1);
  int right = c.in(1);
  if (exponent.constant != nullptr) {
    const std::vector<double> values = numbers(c, 1, "the exponent");
    const auto whole = [](double v) { return v == std::floor(v) && std::abs(v) < 2147483648.0; };
    if (std::all_of(values.begin(), values.end(), whole)) {
      const std::vector<std::int64_t> list(values.begin(), values.end());
      right = constant_integers(c, "exponent", exponent.shape, type, list);
    }
  }
  if (is_computed_integer(c.type(right))) {
    if (c.type(right) != type) {
      const int same = c.temporary("exponent_cast", c.shape(right), type);
      c.emit(cast_params{}, {right}, same);
      right = same;
    }
    combine(c, arithmetic_kind::pow, c.in(0), right, "", c.out());
    return;
  }
  if (c.type(right) != element::f32) c.refuse("its exponent is neither float32 nor an integer of 32 or 64 bits");
  const int base = c.temporary("base", c.in_shape(0));
  c.emit(cast_params{}, {c.in(0)}, base);
  c.emit(cast_params{}, {combine(c, binary_kind::pow, base, right, "power")});
}

/// Powers of floats by computed integers.
void pow_any(context& c) {
  if (c.in_type(0) != element::f32) {
    if (!is_computed_integer(c.in_type(0))) c.refuse("Pow has kernels for float32, int32 and int64");
    return integer_pow(c);
  }
  if (c.input(1).constant != nullptr || c.in_type(1) == element::f32) return pow(c);
  if (!is_computed_integer(c.in_type(1))) c.refuse("its exponent is neither float32 nor an integer of 32 or 64 bits");
  const int exponent = c.temporary("exponent", c.in_shape(1));
  c.emit(cast_params{}, {c.in(1)}, exponent);
  combine(c, binary_kind::pow, c.in(0), exponent, "", c.out());
}

/// The remainder of floats: exact, with the sign of the dividend (fmod 1) or of the divisor.
void mod(context& c) {
  const binary_kind kind = c.op().integer("fmod", 0) != 0 ? binary_kind::fmod : binary_kind::mod;
  c.emit(binary_params{kind}, {c.in(0), c.in(1)});
}

/// The angle of the point (input 1, input 0): TensorFlow Lite's operator, which ONNX does not have.
void angle(context& c) { c.emit(binary_params{binary_kind::atan2}, {c.in(0), c.in(1)}); }

}

void add_elementwise(rule_table& t) {
  for (const auto& entry : unary_functions()) t[entry.first] = {unary};
  t["Relu"] = {unary, element_types::float32, integer_relu};
  t["Neg"] = {unary, element_types::float32, integer_negative};
  t["Abs"] = {unary, element_types::float32, integer_magnitude};
  t["Sign"] = {unary, element_types::float32, integer_sign};
  t["Atan2"] = {angle};
  t["Clip"] = {clip_any, element_types::any};
  t["PRelu"] = {p_relu};
  add_rows(t, {"Add", "Sub", "Mul", "Div"}, {binary, element_types::float32, integer_binary});
  t["Mod"] = {mod, element_types::float32, integer_binary};
  t["Pow"] = {pow_any, element_types::any};
  t["Sum"] = {variadic};
  t["Mean"] = {variadic};
  t["Min"] = {extreme, element_types::any};
  t["Max"] = {extreme, element_types::any};
}

}
