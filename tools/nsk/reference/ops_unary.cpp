// SPDX-License-Identifier: MIT
/// Functions of one value, element by element.
#include <algorithm>
#include <cmath>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

using u64 = std::uint64_t;
using i64 = std::int64_t;

template <class F>
void map_floats(call& c, F f) {
  const double* x = c.floats(0);
  double* y = c.out_floats();
  const std::int64_t count = c.out(0).count();
  for (std::int64_t i = 0; i < count; ++i) y[i] = f(x[i]);
}

/// A function of one float without parameters.
template <double (*F)(double)>
void evaluate_function(call& c) {
  map_floats(c, F);
}

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double relu(double x) { return x > 0 || std::isnan(x) ? x : 0.0; }
double reciprocal(double x) { return 1 / x; }
double softsign(double x) { return x / (1 + std::fabs(x)); }
double mish(double x) { return x * std::tanh(softplus(x)); }
double hard_swish(double x) { return x * std::fmax(0.0, std::fmin(1.0, x / 6 + 0.5)); }

void evaluate_sign(call& c) {
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for (std::int64_t i = 0; i < c.out(0).count(); ++i) {
      const T x = c.data(0).as<T>()[i];
      c.out(0).as<T>()[i] = x == x ? static_cast<T>((x > T{}) - (x < T{})) : x;  // NaN stays NaN
    }
  });
}

void evaluate_relu(call& c) {
  if (c.out(0).type == element::f64) return map_floats(c, relu);
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) c.out_integers()[i] = std::max<std::int64_t>(c.integers(0)[i], 0);
}

void evaluate_neg(call& c) {
  if (c.out(0).type == element::f64) return map_floats(c, [](double x) { return -x; });
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) c.out_integers()[i] = minus(i64{0}, c.integers(0)[i]);
}

void evaluate_abs(call& c) {
  if (c.out(0).type == element::f64) return map_floats(c, [](double x) { return std::fabs(x); });
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) {
    const std::int64_t x = c.integers(0)[i];
    c.out_integers()[i] = x < 0 && c.type(0) != element::u64 ? minus(i64{0}, x) : x;
  }
}

void evaluate_not(call& c) {
  c.require(c.type(0) == element::boolean, "the input must be bool");
  for (std::int64_t i = 0; i < c.out(0).count(); ++i)
    c.out(0).as<std::uint8_t>()[i] = c.data(0).as<std::uint8_t>()[i] != 0 ? 0 : 1;
}

void evaluate_bitwise_not(call& c) {
  c.require(is_integer(c.type(0)), "the input must be of an integer type");
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) c.out_integers()[i] = ~c.integers(0)[i];
}

void infer_predicate(call& c) {
  c.require_inputs(1, 1);
  c.require_float(0);
  c.declare(0, element::boolean, c.shape(0));
}

template <class F>
void map_predicate(call& c, F f) {
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) c.out(0).as<std::uint8_t>()[i] = f(c.floats(0)[i]) ? 1 : 0;
}

void evaluate_is_nan(call& c) {
  map_predicate(c, [](double x) { return std::isnan(x); });
}

void evaluate_is_inf(call& c) {
  const bool positive = c.op().integer("detect_positive", 1) != 0, negative = c.op().integer("detect_negative", 1) != 0;
  map_predicate(c, [&](double x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}

// Activations with parameters.

void evaluate_leaky_relu(call& c) {
  const double alpha = c.op().number("alpha", 0.01f);
  map_floats(c, [=](double x) { return x < 0 ? alpha * x : x; });
}

void evaluate_hard_sigmoid(call& c) {
  const double alpha = c.op().number("alpha", 0.2f), beta = c.op().number("beta", 0.5f);
  map_floats(c, [=](double x) { return std::isnan(x) ? x : std::fmax(0.0, std::fmin(1.0, alpha * x + beta)); });
}

void evaluate_elu(call& c) {
  const double alpha = c.op().number("alpha", 1.0f);
  map_floats(c, [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

void evaluate_celu(call& c) {
  const double alpha = c.op().number("alpha", 1.0f);
  map_floats(c, [=](double x) {
    return std::isnan(x) ? x : std::fmax(0.0, x) + std::fmin(0.0, alpha * std::expm1(x / alpha));
  });
}

void evaluate_selu(call& c) {
  const double alpha = c.op().number("alpha", 1.67326319217681884765625f),
               gamma = c.op().number("gamma", 1.05070102214813232421875f);
  map_floats(c, [=](double x) { return x > 0 ? gamma * x : gamma * alpha * std::expm1(x); });
}

void evaluate_thresholded_relu(call& c) {
  const double alpha = c.op().number("alpha", 1.0f);
  map_floats(c, [=](double x) { return x > alpha ? x : 0.0; });
}

void evaluate_shrink(call& c) {
  const double bias = c.op().number("bias", 0.0f), lambda = c.op().number("lambd", 0.5f);
  const auto f = [=](double x) { return x < -lambda ? x + bias : x > lambda ? x - bias : 0.0; };
  if (c.out(0).type == element::f64) return map_floats(c, f);
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) c.out(0).set(i, f(c.data(0).number(i)));
}

void evaluate_swish(call& c) {
  const double alpha = c.op().number("alpha", 1.0f);
  map_floats(c, [=](double x) { return x * sigmoid(alpha * x); });
}

void evaluate_gelu(call& c) {
  const std::string approximate = c.op().text("approximate", "none");
  if (approximate == "tanh") {
    const double k = std::sqrt(2 / 3.14159265358979323846);
    map_floats(c, [=](double x) { return 0.5 * x * (1 + std::tanh(k * (x + 0.044715 * x * x * x))); });
  } else {
    c.require(approximate == "none", "attribute 'approximate' must be none or tanh");
    map_floats(c, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); });
  }
}

}

void add_unary(table& t) {
  const auto unary = [&](const char* name, void (*evaluate)(call&), int since = 1) {
    t[name] = {infer_same_float, evaluate, since};
  };
  unary("Sqrt", evaluate_function<std::sqrt>);
  unary("Exp", evaluate_function<std::exp>);
  unary("Log", evaluate_function<std::log>);
  unary("Reciprocal", evaluate_function<reciprocal>);
  unary("Floor", evaluate_function<std::floor>);
  unary("Ceil", evaluate_function<std::ceil>);
  unary("Round", evaluate_function<std::nearbyint>, 11);  // halves to even
  unary("Erf", evaluate_function<std::erf>, 9);
  unary("Sin", evaluate_function<std::sin>, 7);
  unary("Cos", evaluate_function<std::cos>, 7);
  unary("Tan", evaluate_function<std::tan>, 7);
  unary("Asin", evaluate_function<std::asin>, 7);
  unary("Acos", evaluate_function<std::acos>, 7);
  unary("Atan", evaluate_function<std::atan>, 7);
  unary("Sinh", evaluate_function<std::sinh>, 9);
  unary("Cosh", evaluate_function<std::cosh>, 9);
  unary("Asinh", evaluate_function<std::asinh>, 9);
  unary("Acosh", evaluate_function<std::acosh>, 9);
  unary("Atanh", evaluate_function<std::atanh>, 9);
  unary("Tanh", evaluate_function<std::tanh>);
  unary("Sigmoid", evaluate_function<sigmoid>);
  unary("Softplus", evaluate_function<softplus>);
  unary("Softsign", evaluate_function<softsign>);
  unary("HardSwish", evaluate_function<hard_swish>, 14);
  unary("Mish", evaluate_function<mish>, 18);
  unary("LeakyRelu", evaluate_leaky_relu);
  unary("HardSigmoid", evaluate_hard_sigmoid);
  unary("Elu", evaluate_elu);
  unary("Celu", evaluate_celu, 12);
  unary("Selu", evaluate_selu);
  unary("ThresholdedRelu", evaluate_thresholded_relu, 10);
  unary("Gelu", evaluate_gelu, 20);
  unary("Swish", evaluate_swish, 24);
  t["Shrink"] = {infer_same, evaluate_shrink, 9};
  t["Relu"] = {infer_same, evaluate_relu};
  t["Neg"] = {infer_same, evaluate_neg};
  t["Abs"] = {infer_same, evaluate_abs};
  t["Sign"] = {infer_same, evaluate_sign, 9};
  t["Identity"] = {infer_same, evaluate_copy};
  t["Not"] = {infer_same, evaluate_not};
  t["BitwiseNot"] = {infer_same, evaluate_bitwise_not, 18};
  t["IsNaN"] = {infer_predicate, evaluate_is_nan, 9};
  t["IsInf"] = {infer_predicate, evaluate_is_inf, 10};
}

}
