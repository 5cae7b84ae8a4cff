// SPDX-License-Identifier: MIT
/// SVMRegressor and SVMClassifier of ai.onnx.ml, as ONNX Runtime computes them: a kernel of each row with each support
/// vector, sums of those for each pair of classes, votes for labels.
#include <algorithm>
#include <utility>

#include "graph/cures.hpp"
#include "spell/pairwise_probabilities.hpp"
#include "spell/spell.hpp"

namespace nsk::tool {
namespace {

using i64 = std::int64_t;

constexpr i64 max_weights = i64{1} << 24;  // support vectors times pairs of classes
constexpr i64 max_classes = 128;           // whose pairs are many times as many

/// x [rows][features] times `weights` [outputs][features], times alpha, plus `offset` where there is one.
value_id product(speller& s, value_id x, i64 outputs, const std::vector<float>& weights, float alpha,
                 const std::vector<float>& offset) {
  const i64 features = static_cast<i64>(weights.size()) / outputs;
  std::vector<value_id> inputs = {x, s.floats({outputs, features}, weights)};
  if (!offset.empty()) inputs.push_back(s.floats({static_cast<i64>(offset.size())}, offset));
  return s.add("Gemm", inputs, {{"transB", i64{1}}, {"alpha", alpha}});
}

/// exp(-gamma |x - v|^2), of differences: products would cancel.
value_id radial(speller& s, value_id x, i64 vectors, const std::vector<float>& v, float gamma) {
  const i64 features = static_cast<i64>(v.size()) / vectors;
  const value_id row = s.add("Unsqueeze", {x, s.integers({1})}),
                 away = s.add("Sub", {row, s.floats({1, vectors, features}, v)}),
                 square = s.add("ReduceSumSquare", {away, s.integers({2})}, {{"keepdims", i64{0}}});
  return s.add("Exp", {s.add("Mul", {square, s.floats({}, {-gamma})})});
}

value_id power(speller& s, value_id x, float degree) {
  if (degree == 1) return x;
  if (degree != 2 && degree != 3) return s.add("Pow", {x, s.floats({}, {degree})});
  const value_id square = s.add("Mul", {x, x});
  return degree == 2 ? square : s.add("Mul", {square, x});
}

/// The kernel of every row with every support vector, [rows][vectors].
value_id kernel(speller& s, value_id x, i64 vectors) {
  const std::vector<float> v = numbers_of(s, "support_vectors"), given = numbers_of(s, "kernel_params");
  const i64 features = s.of(s.in(0)).shape[1];
  if (vectors < 1 || features < 1 || static_cast<i64>(v.size()) / vectors != features ||
      static_cast<i64>(v.size()) % vectors != 0)
    s.refuse("support_vectors needs one number per feature for each of " + std::to_string(vectors) + " vectors");
  const std::string type = s.op().text("kernel_type", "LINEAR");
  if (type == "LINEAR") return product(s, x, vectors, v, 1, {});
  if (given.size() != 3) s.refuse("kernel_params needs gamma, coef0 and degree");
  const float gamma = given[0], offset = given[1];
  if (type == "RBF") return radial(s, x, vectors, v, gamma);
  if (type != "POLY" && type != "SIGMOID") s.refuse("kernel_type '" + type + "' does not exist");
  const value_id inner = product(s, x, vectors, v, gamma, {offset});
  return type == "POLY" ? power(s, inner, given[2]) : s.add("Tanh", {inner});
}

value_id rows_of(speller& s) {
  const value_id x = s.in(0);
  if (s.of(x).shape.size() != 2) s.refuse("it needs rows of features");
  return cast_to(s, x, element::f32);
}

/// Refuses transformations that runtimes differ in; applies the others.
void transformed(speller& s, value_id scores, std::size_t output) {
  const std::string transform = s.op().text("post_transform", "NONE");
  if (transform == "NONE")
    s.give(output, "Identity", {scores});
  else if (transform == "LOGISTIC")
    s.give(output, "Sigmoid", {scores});
  else if (transform == "SOFTMAX")
    s.give(output, "Softmax", {scores}, {{"axis", i64{1}}});
  else
    s.refuse("post_transform " + transform + ": export with NONE, and compute it from the scores");
}

/// Labels and numbers of support vectors of a classifier.
struct classes {
  explicit classes(const speller& s)
      : labels(s.op().integers("classlabels_ints")),
        vectors(s.op().integers("vectors_per_class")),
        rho(numbers_of(s, "rho")) {
    count = static_cast<i64>(labels.size());
    pairs = count * (count - 1) / 2;
    if (count < 2 || count > max_classes) s.refuse("it needs 2 to " + std::to_string(max_classes) + " labels");
    for (const i64 v : vectors) {
      if (v < 0 || v > max_weights) s.refuse("vectors_per_class has a number that is out of range");
      starts.push_back(total);
      total += v;
    }
  }
  std::vector<i64> labels, vectors, starts;
  std::vector<float> rho;
  i64 count = 0, pairs = 0, total = 0;
};

/// For each pair of classes the sum of its vectors' kernels times their coefficients, plus rho: [rows][pairs].
value_id pair_scores(speller& s, const classes& k, value_id kernels) {
  const std::vector<float> coefficients = numbers_of(s, "coefficients");
  const auto pairs = static_cast<std::size_t>(k.pairs);
  if (k.total * k.pairs > max_weights) s.refuse("it has too many support vectors for so many classes");
  if (static_cast<i64>(coefficients.size()) != (k.count - 1) * k.total || k.rho.size() != pairs)
    s.refuse("coefficients needs a number per vector for each other class, and rho one per pair of classes");
  std::vector<float> weights(pairs * static_cast<std::size_t>(k.total));
  std::size_t pair = 0;
  const auto copy = [&](i64 of, i64 row) {
    const i64 start = k.starts[static_cast<std::size_t>(of)], length = k.vectors[static_cast<std::size_t>(of)];
    std::copy_n(coefficients.begin() + row * k.total + start, length,
                weights.begin() + static_cast<i64>(pair) * k.total + start);
  };
  for (i64 i = 0; i < k.count; ++i)
    for (i64 j = i + 1; j < k.count; ++j, ++pair) {
      copy(i, j - 1);
      copy(j, i);
    }
  return product(s, kernels, k.pairs, weights, 1, k.rho);
}

void label_of(speller& s, const classes& k, value_id position) {
  s.give(0, "Gather", {s.integers(k.labels), position}, {{"axis", i64{0}}});
}

/// The class for which the largest number of pairs votes, the first of them where several do.
value_id elected(speller& s, const classes& k, value_id scores) {
  std::vector<float> gains(static_cast<std::size_t>(k.count * k.pairs)), base(static_cast<std::size_t>(k.count));
  i64 pair = 0;
  for (i64 i = 0; i < k.count; ++i)
    for (i64 j = i + 1; j < k.count; ++j, ++pair) {
      gains[static_cast<std::size_t>(i * k.pairs + pair)] = 1;
      gains[static_cast<std::size_t>(j * k.pairs + pair)] = -1;
      base[static_cast<std::size_t>(j)] += 1;
    }
  const value_id above = s.add("Greater", {scores, s.floats({}, {0})}), ones = cast_to(s, above, element::f32);
  const value_id votes = product(s, ones, k.count, gains, 1, base);
  return s.add("ArgMax", {votes}, {{"axis", i64{1}}, {"keepdims", i64{0}}});
}

/// One score per class, of coefficients alone.
void linear_classes(speller& s, const classes& k, value_id x) {
  const std::vector<float> weights = numbers_of(s, "coefficients");
  const i64 features = s.of(s.in(0)).shape[1];
  if (k.count == 2)
    s.refuse(
        "runtimes differ in the labels of two classes without support vectors. Export a "
        "LinearClassifier");
  if (k.rho.empty() || features < 1 || static_cast<i64>(weights.size()) != k.count * features)
    s.refuse("coefficients needs one number per feature for each class, and rho one");
  const value_id scores = product(s, x, k.count, weights, 1, {k.rho[0]});
  if (s.wants(0)) label_of(s, k, s.add("ArgMax", {scores}, {{"axis", i64{1}}, {"keepdims", i64{0}}}));
  if (s.wants(1)) transformed(s, scores, 1);
}

void regressor(speller& s) {
  const value_id x = rows_of(s);
  const i64 vectors = s.op().integer("n_supports", 0);
  const std::vector<float> coefficients = numbers_of(s, "coefficients"), rho = numbers_of(s, "rho");
  const i64 terms = vectors > 0 ? vectors : s.of(s.in(0)).shape[1];
  if (rho.size() != 1 || terms < 1 || static_cast<i64>(coefficients.size()) != terms)
    s.refuse("it needs one rho, and one coefficient per support vector, or per feature where there are none");
  if (s.op().text("post_transform", "NONE") != "NONE") s.refuse("post_transform of a regressor must be NONE");
  const value_id y = product(s, vectors > 0 ? kernel(s, x, vectors) : x, 1, coefficients, 1, rho);
  if (s.op().integer("one_class", 0) == 0) return s.give(0, "Identity", {y});
  const value_id inside = s.add("Greater", {y, s.floats({}, {0})});
  s.give(0, "Where", {inside, s.floats({}, {1}), s.floats({}, {-1})});
}

void classifier(speller& s) {
  if (!texts_of(s, "classlabels_strings").empty()) s.refuse("its labels are strings and integers");
  const classes k(s);
  const value_id x = rows_of(s);
  const std::vector<float> a = numbers_of(s, "prob_a"), b = numbers_of(s, "prob_b");
  if (k.total == 0) {
    if (!a.empty() || !b.empty()) s.refuse("it has prob_a and prob_b without support vectors");
    return linear_classes(s, k, x);
  }
  if (static_cast<i64>(k.vectors.size()) != k.count) s.refuse("vectors_per_class needs one number per label");
  const value_id scores = pair_scores(s, k, kernel(s, x, k.total));
  const std::vector<float> weights = numbers_of(s, "coefficients");
  if (s.wants(0) && k.count == 2 && a.empty() &&
      std::all_of(weights.begin(), weights.end(), [](float w) { return w >= 0; }))
    s.refuse("runtimes differ in the labels of two classes whose coefficients have one sign. Keep the scores alone: " +
             option_that_keeps(s.source(), s.op(), 1));
  if (s.wants(0)) label_of(s, k, elected(s, k, scores));
  if (!s.wants(1)) return;
  if (a.size() != b.size() || (!a.empty() && a.size() != k.rho.size()))
    s.refuse("prob_a and prob_b need one number per pair of classes");
  if (!a.empty()) return transformed(s, pairwise_probabilities(s, scores, k.count, a, b), 1);
  if (k.count > 2) return transformed(s, scores, 1);
  if (s.op().text("post_transform", "NONE") == "SOFTMAX")
    s.refuse("runtimes differ in post_transform SOFTMAX of two classes. Export with NONE");
  transformed(s, s.add("Concat", {s.add("Neg", {scores}), scores}, {{"axis", i64{1}}}), 1);
}

}

void add_support_vector_spellings(spelling_table& t) {
  t["ai.onnx.ml.SVMClassifier"] = classifier;
  t["ai.onnx.ml.SVMRegressor"] = regressor;
}

}
