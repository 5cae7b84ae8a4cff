// SPDX-License-Identifier: MIT
/// Linear models, scaling and normalising of ai.onnx.ml.
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/classifiers.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

/// x times coefficients [outputs][features], plus intercepts where there are.
void linear(context& c, std::int64_t outputs, int result) {
  const std::vector<double> coefficients = number_list(c, "coefficients");
  const auto depth = static_cast<std::size_t>(c.in_shape(0)[1]), count = static_cast<std::size_t>(outputs);
  dense_parameters d;
  d.depth = static_cast<int>(depth);
  d.outputs = static_cast<int>(count);
  d.bias = number_list(c, "intercepts");
  d.bias.resize(count);
  d.weights.resize(depth * count);
  for (std::size_t k = 0; k < depth; ++k)
    for (std::size_t o = 0; o < count; ++o) d.weights[k * count + o] = coefficients[o * depth + k];
  c.emit(std::move(d), {float_input(c)}, result);
}

void linear_regressor(context& c) { linear(c, c.out_shape()[1], c.out()); }

void linear_classifier(context& c) {
  const node& n = c.op();
  const std::int64_t classes = class_count(c);
  const int scores = c.temporary("scores", {c.in_shape(0)[0], classes});
  linear(c, classes, scores);
  label_largest(c, scores);
  if (c.wants(1)) transform_scores(c, scores, n.text("post_transform", "NONE"), c.out(1));
}

/// (x - offset) * scale.
void scaler(context& c) {
  const std::vector<double> offset = number_list(c, "offset"), scale = number_list(c, "scale");
  const shape_t shape = {static_cast<std::int64_t>(scale.size())};
  const int shifted = combine(c, binary_kind::sub, float_input(c), constant(c, "offset", shape, offset), "shifted");
  combine(c, binary_kind::mul, shifted, constant(c, "scale", shape, scale), "", c.out());
}

/// x over its largest element, the sum of its magnitudes, or its length; over 1 where that is 0.
void normalizer(context& c) {
  const node& n = c.op();
  const std::string norm = n.text("norm", "MAX");
  const int x = float_input(c);
  const std::vector<int> last = {static_cast<int>(c.in_shape(0).size()) - 1};
  const int divisor = norm == "MAX" ? reduced(c, reduce_kind::max, x, last, "most")
                      : norm == "L1"
                          ? reduced(c, reduce_kind::sum, apply(c, x, function::abs, "abs"), last, "sum")
                          : apply(c, reduced(c, reduce_kind::sum_square, x, last, "squares"), function::sqrt, "length");
  const shape_t shape = c.shape(divisor);
  const int empty = c.temporary("empty", shape, element::boolean), safe = c.temporary("safe", shape);
  c.emit(compare_params{compare_kind::equal}, {divisor, scalar(c, "zero", 0)}, empty);
  c.emit(select_params{}, {empty, scalar(c, "one", 1), divisor}, safe);
  combine(c, binary_kind::div, x, safe, "", c.out());
}

}

void add_linear(rule_table& t) {
  t["ai.onnx.ml.LinearRegressor"] = {linear_regressor, element_types::any};
  t["ai.onnx.ml.LinearClassifier"] = {linear_classifier, element_types::any};
  t["ai.onnx.ml.Scaler"] = {scaler, element_types::any};
  t["ai.onnx.ml.Normalizer"] = {normalizer, element_types::any};
}

}
