// SPDX-License-Identifier: MIT
/// Linear models, scaling and normalising of ai.onnx.ml, and what its classifiers have in common: labels and
/// transformations of scores.
#include <numeric>
#include "passes/canonicalise/canonicaliser.hpp"
#include "reference/scores.hpp"

namespace nsk::tool {
namespace {

std::string label_key(const node& n) { return n.op == "LinearClassifier" ? "classlabels_ints" : "classlabels_int64s"; }

}

int canonicaliser::float_input(const node& n) {
  if (in_type(n, 0) == element::f32) return in(n, 0);
  const int wide = temporary(n, "float", in_shape(n, 0));
  emit(n, cast_parameters{}, {in(n, 0)}, wide);
  return wide;
}

std::vector<double> canonicaliser::number_list(const node& n, const std::string& key) const {
  return reference::numbers_of(reference::call(m_graph, n), key);
}

std::int64_t canonicaliser::class_count(const node& n) const {
  return reference::class_count(reference::call(m_graph, n), label_key(n), "classlabels_strings");
}

std::vector<std::int64_t> canonicaliser::read_labels(const node& n) const {
  std::vector<std::int64_t> labels = n.integers(label_key(n));
  if (labels.empty()) refuse_node(n, reference::text_labels);
  return labels;
}

void canonicaliser::label_largest(const node& n, int scores) {
  if (n.outputs[0] == no_value) return;
  const std::vector<std::int64_t> labels = read_labels(n);
  const shape_t rows = out_shape(n);
  const int position = temporary(n, "position", {rows[0], 1}, element::i64);
  emit(n, arg_reduce_parameters{1, arg_reduce_kind::max, false}, {scores}, position);
  std::vector<std::int64_t> counted(labels.size());
  std::iota(counted.begin(), counted.end(), 0);
  if (labels == counted) {
    emit(n, reshape_parameters{}, {position});
    return;
  }
  const int table = constant_integers(n, "labels", {static_cast<std::int64_t>(labels.size())}, element::i64, labels);
  emit(n, gather_parameters{0, false}, {table, reshaped(n, position, rows)});
}

void canonicaliser::label_above(const node& n, int score, double threshold) {
  if (n.outputs[0] == no_value) return;
  const std::vector<std::int64_t> labels = read_labels(n);
  const shape_t column = m_program.shape(score);
  const int above = temporary(n, "above", column, element::boolean),
            label = temporary(n, "label", column, element::i64);
  emit(n, compare_parameters{compare_kind::less}, {scalar(n, "threshold", threshold), score}, above);
  emit(n, select_parameters{},
       {above, constant_integers(n, "second_label", {}, element::i64, {labels[1]}),
        constant_integers(n, "first_label", {}, element::i64, {labels[0]})},
       label);
  emit(n, reshape_parameters{}, {label});
}

void canonicaliser::transform_scores(const node& n, int scores, const std::string& transform, int result) {
  if (transform == "LOGISTIC") {
    apply(n, scores, function::sigmoid, "", 0, 0, result);
  } else if (transform == "SOFTMAX") {
    emit(n, softmax_parameters{1, false}, {scores}, result);
  } else {
    emit(n, reshape_parameters{}, {scores}, result);
  }
}

/// x times coefficients [outputs][features], plus intercepts where there are.
void canonicaliser::linear(const node& n, std::int64_t outputs, int result) {
  const std::vector<double> coefficients = number_list(n, "coefficients");
  const auto depth = static_cast<std::size_t>(in_shape(n, 0)[1]), count = static_cast<std::size_t>(outputs);
  dense_parameters d;
  d.depth = static_cast<int>(depth);
  d.outputs = static_cast<int>(count);
  d.bias = number_list(n, "intercepts");
  d.bias.resize(count);
  d.weights.resize(depth * count);
  for (std::size_t k = 0; k < depth; ++k)
    for (std::size_t o = 0; o < count; ++o) d.weights[k * count + o] = coefficients[o * depth + k];
  emit(n, std::move(d), {float_input(n)}, result);
}

void canonicaliser::linear_regressor(const node& n) { linear(n, out_shape(n)[1], of(output_of(n))); }

void canonicaliser::linear_classifier(const node& n) {
  const std::int64_t classes = class_count(n);
  const int scores = temporary(n, "scores", {in_shape(n, 0)[0], classes});
  linear(n, classes, scores);
  label_largest(n, scores);
  if (n.outputs.size() > 1 && n.outputs[1] != no_value)
    transform_scores(n, scores, n.text("post_transform", "NONE"), of(n.outputs[1]));
}

/// (x - offset) * scale.
void canonicaliser::scaler(const node& n) {
  const std::vector<double> offset = number_list(n, "offset"), scale = number_list(n, "scale");
  const shape_t shape = {static_cast<std::int64_t>(scale.size())};
  const int shifted = combine(n, binary_kind::sub, float_input(n), constant(n, "offset", shape, offset), "shifted");
  combine(n, binary_kind::mul, shifted, constant(n, "scale", shape, scale), "", of(output_of(n)));
}

/// x over its largest element, the sum of its magnitudes, or its length; over 1 where that is 0.
void canonicaliser::normalizer(const node& n) {
  const std::string norm = n.text("norm", "MAX");
  const int x = float_input(n);
  const std::vector<int> last = {static_cast<int>(in_shape(n, 0).size()) - 1};
  const int divisor = norm == "MAX" ? reduced(n, reduce_kind::max, x, last, "most")
                      : norm == "L1"
                          ? reduced(n, reduce_kind::sum, apply(n, x, function::abs, "abs"), last, "sum")
                          : apply(n, reduced(n, reduce_kind::sum_square, x, last, "squares"), function::sqrt, "length");
  const shape_t shape = m_program.shape(divisor);
  const int empty = temporary(n, "empty", shape, element::boolean), safe = temporary(n, "safe", shape);
  emit(n, compare_parameters{compare_kind::equal}, {divisor, scalar(n, "zero", 0)}, empty);
  emit(n, select_parameters{}, {empty, scalar(n, "one", 1), divisor}, safe);
  combine(n, binary_kind::div, x, safe, "", of(output_of(n)));
}

}
