// SPDX-License-Identifier: MIT
/// Linear models, scaling and normalising of ai.onnx.ml.
#include <algorithm>
#include <cmath>

#include "reference/scores.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;

void require_numbers(const call& c) {
  c.require_inputs(1, 1);
  if (!is_float(c.type(0)) && !is_integer(c.type(0))) c.fail("input 0 must be of numbers");
}

/// Products of the rows of input 0 with the rows of `coefficients`, plus intercepts where there are.
std::vector<double> products(const call& c, i64 row, i64 outputs) {
  const std::vector<double> w = numbers_of(c, "coefficients"), b = numbers_of(c, "intercepts");
  const i64 depth = c.shape(0)[1];
  std::vector<double> y;
  for (i64 o = 0; o < outputs; ++o) {
    double sum = b.empty() ? 0 : b[static_cast<std::size_t>(o)];
    for (i64 k = 0; k < depth; ++k)
      sum += c.data(0).number(row * depth + k) * w[static_cast<std::size_t>(o * depth + k)];
    y.push_back(sum);
  }
  return y;
}

void require_coefficients(const call& c, i64 outputs) {
  require_numbers(c);
  c.require_rank(0, 2, 2);
  const auto coefficients = static_cast<i64>(numbers_of(c, "coefficients").size());
  if (outputs < 1 || outputs > coefficients || coefficients != outputs * c.shape(0)[1])
    c.fail("coefficients has " + std::to_string(coefficients) + " numbers for " + std::to_string(outputs) +
           " outputs of " + std::to_string(c.shape(0)[1]) + " features");
}

void infer_regressor(call& c) {
  const i64 targets = c.op().integer("targets", 1);
  require_coefficients(c, targets);
  const std::size_t intercepts = numbers_of(c, "intercepts").size();
  if (intercepts != 0 && intercepts != static_cast<std::size_t>(targets))
    c.fail("intercepts needs one number per target");
  if (c.op().text("post_transform", "NONE") != "NONE") c.fail("post_transform of a regressor must be NONE");
  c.declare(0, element::f32, {c.shape(0)[0], targets});
}

void evaluate_regressor(call& c) {
  const i64 targets = c.out_shape(0)[1];
  for (i64 row = 0; row < c.shape(0)[0]; ++row) {
    const std::vector<double> y = products(c, row, targets);
    std::copy(y.begin(), y.end(), c.out_floats() + row * targets);
  }
}

void infer_classifier(call& c) {
  const i64 classes = class_count(c, "classlabels_ints", "classlabels_strings");
  const auto scores = static_cast<i64>(numbers_of(c, "intercepts").size());
  if (classes < 2 || scores != classes)
    c.fail("there are " + std::to_string(classes) + " labels and " + std::to_string(scores) +
           " intercepts: runtimes differ in the scores of a class without coefficients. Export two classes or more, "
           "with coefficients and an intercept for each");
  require_coefficients(c, classes);
  require_transform(c, c.op().text("post_transform", "NONE"));
  declare_classes(c, c.shape(0)[0], classes);
}

void evaluate_classifier(call& c) {
  const i64 classes = class_count(c, "classlabels_ints", "classlabels_strings");
  for (i64 row = 0; row < c.shape(0)[0]; ++row) {
    std::vector<double> y = products(c, row, classes);
    c.out_integers(0)[row] = label_of(c, "classlabels_ints", std::max_element(y.begin(), y.end()) - y.begin());
    transform_scores(y.data(), classes, c.op().text("post_transform", "NONE"));
    if (c.wants(1)) std::copy(y.begin(), y.end(), c.out_floats(1) + row * classes);
  }
}

void infer_scaler(call& c) {
  require_numbers(c);
  c.require_rank(0, 1, 2);
  const std::size_t features = static_cast<std::size_t>(c.shape(0).back()), scale = numbers_of(c, "scale").size(),
                    offset = numbers_of(c, "offset").size();
  if (scale != offset || (scale != 1 && scale != features))
    c.fail("scale and offset need one number each, or one per feature");
  c.declare(0, element::f32, c.shape(0));
}

void evaluate_scaler(call& c) {
  const std::vector<double> scale = numbers_of(c, "scale"), offset = numbers_of(c, "offset");
  for (i64 i = 0; i < count_of(c.shape(0)); ++i) {
    const std::size_t k = static_cast<std::size_t>(i) % scale.size();
    c.out_floats()[i] = (c.data(0).number(i) - offset[k]) * scale[k];
  }
}

void infer_normalizer(call& c) {
  require_numbers(c);
  c.require_rank(0, 1, 2);
  const std::string norm = c.op().text("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") c.fail("norm '" + norm + "' does not exist");
  c.declare(0, element::f32, c.shape(0));
}

/// A row over its largest element, the sum of its magnitudes, or its length; unchanged where that is 0.
void evaluate_normalizer(call& c) {
  const std::string norm = c.op().text("norm", "MAX");
  const i64 length = c.shape(0).back();
  for (i64 at = 0; at < count_of(c.shape(0)); at += length) {
    double maximum = -std::numeric_limits<double>::infinity(), sum = 0, squares = 0;
    for (i64 i = at; i < at + length; ++i) {
      const double x = c.data(0).number(i);
      maximum = std::max(maximum, x);
      sum += std::abs(x);
      squares += x * x;
    }
    const double divisor = norm == "MAX" ? maximum : norm == "L1" ? sum : std::sqrt(squares);
    for (i64 i = at; i < at + length; ++i) c.out_floats()[i] = c.data(0).number(i) / (divisor == 0 ? 1 : divisor);
  }
}

}

void add_linear(table& t) {
  t["ai.onnx.ml.LinearRegressor"] = {infer_regressor, evaluate_regressor};
  t["ai.onnx.ml.LinearClassifier"] = {infer_classifier, evaluate_classifier};
  t["ai.onnx.ml.Scaler"] = {infer_scaler, evaluate_scaler};
  t["ai.onnx.ml.Normalizer"] = {infer_normalizer, evaluate_normalizer};
}

}
