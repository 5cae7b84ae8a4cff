// SPDX-License-Identifier: MIT
/// Operators that are spelled out in simpler ones.
#include "passes/canonicalise/canonicaliser.hpp"

namespace nsk::tool {

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), from Hendrycks and Gimpel, "Gaussian Error Linear Units",
/// 2016.
void canonicaliser::gelu_by_tanh(const node& n) {
  const int x = in(n, 0), square = apply(n, x, function::square, "square");
  const int factor =
      combine(n, binary_kind::add, combine(n, binary_kind::mul, square, scalar(n, "cubic", 0.044715), "scaled"),
              scalar(n, "one", 1), "factor");
  const int inner = combine(n, binary_kind::mul, combine(n, binary_kind::mul, x, factor, "cube"),
                            scalar(n, "root", 0.7978845608028654), "inner");
  const int gate =
      combine(n, binary_kind::add, apply(n, inner, function::tanh, "tanh"), scalar(n, "one_more", 1), "gate");
  combine(n, binary_kind::mul, combine(n, binary_kind::mul, x, scalar(n, "half", 0.5), "halved"), gate, "",
          of(output_of(n)));
}

/// gamma * elu(x, alpha).
void canonicaliser::selu(const node& n) {
  const double alpha = n.number("alpha", 1.67326319217681884765625f),
               gamma = n.number("gamma", 1.05070102214813232421875f);
  combine(n, binary_kind::mul, apply(n, in(n, 0), function::elu, "elu", alpha), scalar(n, "gamma", gamma), "",
          of(output_of(n)));
}

/// alpha * elu(x / alpha, 1).
void canonicaliser::celu(const node& n) {
  const double alpha = n.number("alpha", 1);
  if (!(alpha > 0)) refuse_node(n, "it has a kernel for positive alpha");
  const int scaled = combine(n, binary_kind::div, in(n, 0), scalar(n, "divisor", alpha), "scaled");
  combine(n, binary_kind::mul, apply(n, scaled, function::elu, "elu", 1), scalar(n, "alpha", alpha), "",
          of(output_of(n)));
}

/// x * tanh(softplus(x)).
void canonicaliser::mish(const node& n) {
  const int x = in(n, 0);
  combine(n, binary_kind::mul, x, apply(n, apply(n, x, function::softplus, "softplus"), function::tanh, "tanh"), "",
          of(output_of(n)));
}

/// x * sigmoid(alpha * x).
void canonicaliser::swish(const node& n) {
  const double alpha = n.number("alpha", 1);
  const int x = in(n, 0),
            scaled = alpha == 1 ? x : combine(n, binary_kind::mul, x, scalar(n, "alpha", alpha), "scaled");
  combine(n, binary_kind::mul, x, apply(n, scaled, function::sigmoid, "sigmoid"), "", of(output_of(n)));
}

/// x / (1 + |x|).
void canonicaliser::softsign(const node& n) {
  const int x = in(n, 0),
            divisor = combine(n, binary_kind::add, apply(n, x, function::abs, "abs"), scalar(n, "one", 1), "divisor");
  combine(n, binary_kind::div, x, divisor, "", of(output_of(n)));
}

/// sin(x) / cos(x).
void canonicaliser::tangent(const node& n) {
  const int x = in(n, 0), sine = apply(n, x, function::sin, "sine"), cosine = apply(n, x, function::cos, "cosine");
  combine(n, binary_kind::div, sine, cosine, "", of(output_of(n)));
}

/// x where it is above alpha, else 0.
void canonicaliser::thresholded_relu(const node& n) {
  const shape_t& shape = in_shape(n, 0);
  const int x = in(n, 0), above = temporary(n, "above", shape, element::boolean);
  emit(n, compare_parameters{compare_kind::less}, {scalar(n, "alpha", n.number("alpha", 1)), x}, above);
  emit(n, select_parameters{}, {above, x, scalar(n, "zero", 0)});
}

/// x + bias below -lambda, x - bias above lambda, 0 between.
void canonicaliser::shrink(const node& n) {
  const shape_t& shape = in_shape(n, 0);
  const double lambda = n.number("lambd", 0.5f), bias = n.number("bias", 0);
  const int x = in(n, 0), low = temporary(n, "low", shape, element::boolean),
            high = temporary(n, "high", shape, element::boolean);
  emit(n, compare_parameters{compare_kind::less}, {x, scalar(n, "minus_lambda", -lambda)}, low);
  emit(n, compare_parameters{compare_kind::less}, {scalar(n, "lambda", lambda), x}, high);
  const int raised = combine(n, binary_kind::add, x, scalar(n, "bias", bias), "raised"),
            lowered = combine(n, binary_kind::sub, x, scalar(n, "other_bias", bias), "lowered"),
            rest = temporary(n, "rest", shape);
  emit(n, select_parameters{}, {high, lowered, scalar(n, "zero", 0)}, rest);
  emit(n, select_parameters{}, {low, raised, rest});
}

}
