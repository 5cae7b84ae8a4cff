// SPDX-License-Identifier: MIT
/// Operators that are spelled out in simpler ones.
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), from Hendrycks and Gimpel, "Gaussian Error Linear Units",
/// 2016.
void gelu_by_tanh(context& c) {
  const int x = c.in(0), square = apply(c, x, function::square, "square");
  const int factor =
      combine(c, binary_kind::add, combine(c, binary_kind::mul, square, scalar(c, "cubic", 0.044715), "scaled"),
              scalar(c, "one", 1), "factor");
  const int inner = combine(c, binary_kind::mul, combine(c, binary_kind::mul, x, factor, "cube"),
                            scalar(c, "root", 0.7978845608028654), "inner");
  const int gate =
      combine(c, binary_kind::add, apply(c, inner, function::tanh, "tanh"), scalar(c, "one_more", 1), "gate");
  combine(c, binary_kind::mul, combine(c, binary_kind::mul, x, scalar(c, "half", 0.5), "halved"), gate, "", c.out());
}

/// The attribute `approximate` says which of the two forms.
void gelu(context& c) {
  const std::string approximate = c.op().text("approximate", "none");
  if (approximate == "tanh") return gelu_by_tanh(c);
  if (approximate != "none") c.refuse("attribute 'approximate' must be none or tanh");
  c.emit(unary_params{}, {c.in(0)}).post.fn = function::gelu;
}

/// gamma * elu(x, alpha).
void selu(context& c) {
  const node& n = c.op();
  const double alpha = n.number("alpha", 1.67326319217681884765625f),
               gamma = n.number("gamma", 1.05070102214813232421875f);
  combine(c, binary_kind::mul, apply(c, c.in(0), function::elu, "elu", alpha), scalar(c, "gamma", gamma), "", c.out());
}

/// alpha * elu(x / alpha, 1).
void celu(context& c) {
  const node& n = c.op();
  const double alpha = n.number("alpha", 1);
  if (!(alpha > 0)) c.refuse("it has a kernel for positive alpha");
  const int scaled = combine(c, binary_kind::div, c.in(0), scalar(c, "divisor", alpha), "scaled");
  combine(c, binary_kind::mul, apply(c, scaled, function::elu, "elu", 1), scalar(c, "alpha", alpha), "", c.out());
}

/// x * tanh(softplus(x)).
void mish(context& c) {
  const int x = c.in(0);
  combine(c, binary_kind::mul, x, apply(c, apply(c, x, function::softplus, "softplus"), function::tanh, "tanh"), "",
          c.out());
}

/// x * sigmoid(alpha * x).
void swish(context& c) {
  const node& n = c.op();
  const double alpha = n.number("alpha", 1);
  const int x = c.in(0), scaled = alpha == 1 ? x : combine(c, binary_kind::mul, x, scalar(c, "alpha", alpha), "scaled");
  combine(c, binary_kind::mul, x, apply(c, scaled, function::sigmoid, "sigmoid"), "", c.out());
}

/// x / (1 + |x|).
void softsign(context& c) {
  const int x = c.in(0),
            divisor = combine(c, binary_kind::add, apply(c, x, function::abs, "abs"), scalar(c, "one", 1), "divisor");
  combine(c, binary_kind::div, x, divisor, "", c.out());
}

/// sin(x) / cos(x).
void tangent(context& c) {
  const int x = c.in(0), sine = apply(c, x, function::sin, "sine"), cosine = apply(c, x, function::cos, "cosine");
  combine(c, binary_kind::div, sine, cosine, "", c.out());
}

/// x where it is above alpha, else 0.
void thresholded_relu(context& c) {
  const node& n = c.op();
  const shape_t& shape = c.in_shape(0);
  const int x = c.in(0), above = c.temporary("above", shape, element::boolean);
  c.emit(compare_params{compare_kind::less}, {scalar(c, "alpha", n.number("alpha", 1)), x}, above);
  c.emit(select_params{}, {above, x, scalar(c, "zero", 0)});
}

/// x + bias below -lambda, x - bias above lambda, 0 between.
void shrink(context& c) {
  const node& n = c.op();
  const shape_t& shape = c.in_shape(0);
  const double lambda = n.number("lambd", 0.5f), bias = n.number("bias", 0);
  const int x = c.in(0), low = c.temporary("low", shape, element::boolean),
            high = c.temporary("high", shape, element::boolean);
  c.emit(compare_params{compare_kind::less}, {x, scalar(c, "minus_lambda", -lambda)}, low);
  c.emit(compare_params{compare_kind::less}, {scalar(c, "lambda", lambda), x}, high);
  const int raised = combine(c, binary_kind::add, x, scalar(c, "bias", bias), "raised"),
            lowered = combine(c, binary_kind::sub, x, scalar(c, "other_bias", bias), "lowered"),
            rest = c.temporary("rest", shape);
  c.emit(select_params{}, {high, lowered, scalar(c, "zero", 0)}, rest);
  c.emit(select_params{}, {low, raised, rest});
}

}

void add_composed(rule_table& t) {
  t["Gelu"] = {gelu};
  t["Selu"] = {selu};
  t["Celu"] = {celu};
  t["Mish"] = {mish};
  t["Swish"] = {swish};
  t["Softsign"] = {softsign};
  t["Tan"] = {tangent};
  t["ThresholdedRelu"] = {thresholded_relu};
  t["Shrink"] = {shrink};
}

}
