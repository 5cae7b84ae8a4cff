// SPDX-License-Identifier: MIT
/// SVMRegressor and SVMClassifier of ai.onnx.ml, as ONNX Runtime computes them: a kernel of each row with each support
/// vector, sums of those for each pair of classes, votes for labels.
#include <algorithm>
#include <utility>

#include "graph/cures.hpp"
#include "spell/spell.hpp"

namespace nsk::tool {
namespace {

using i64 = std::int64_t;

constexpr i64 max_weights = i64{1} << 24;  // support vectors times pairs of classes
constexpr i64 max_classes = 128;           // whose pairs are many times as many

// Of 100 rounds that there may be, 2 for two classes and 5 for more were needed at most, of a million rows that were
// tried.
constexpr i64 rounds_of_two = 4, rounds = 7, max_coupled = 32;

class coupling {
 public:
  coupling(speller& s, i64 classes) : m_s(s), m_classes(classes) {}

  value_id run(value_id pairs) {
    m_q = matrix(pairs);
    for (i64 i = 0; i < m_classes; ++i) {
      m_rows.push_back(slice(m_q, 1, i));
      m_diagonal.push_back(slice(m_rows.back(), 2, i));
    }
    const auto count = static_cast<std::size_t>(m_classes);
    value_id p = m_s.floats({1, 1, m_classes}, std::vector<float>(count, 1.0f / static_cast<float>(m_classes)));
    for (i64 r = 0; r < (m_classes == 2 ? rounds_of_two : rounds); ++r) p = round(p);
    return m_s.add("Squeeze", {p, m_s.integers({1})});
  }

 private:
  value_id add(const char* op, value_id a, value_id b) { return m_s.add(op, {a, b}); }
  value_id number(float v) { return m_s.floats({}, {v}); }
  value_id slice(value_id v, i64 axis, i64 at) {
    return m_s.add("Slice", {v, m_s.integers({at}), m_s.integers({at + 1}), m_s.integers({axis})});
  }
  value_id reduced(const char* op, value_id v) { return m_s.add(op, {v, m_s.integers({2})}); }
  /// A sum that may cancel: as a mean, a check knows it by what it adds up.
  value_id sum(value_id v) { return add("Mul", reduced("ReduceMean", v), number(static_cast<float>(m_classes))); }

  /// The matrix Q of each row: on its diagonal the sums of squares, elsewhere negative products.
  value_id matrix(value_id first) {
    const i64 k = m_classes, pairs = k * (k - 1) / 2;
    const auto size = static_cast<std::size_t>(pairs * k * k);
    std::vector<float> of_first(size), of_second(size), of_products(size);
    i64 pair = 0;
    for (i64 i = 0; i < k; ++i)
      for (i64 j = i + 1; j < k; ++j, ++pair) {
        const i64 row = pair * k * k;
        of_first[static_cast<std::size_t>(row + j * k + j)] = 1;
        of_second[static_cast<std::size_t>(row + i * k + i)] = 1;
        of_products[static_cast<std::size_t>(row + i * k + j)] = -1;
        of_products[static_cast<std::size_t>(row + j * k + i)] = -1;
      }
    const value_id second = add("Sub", number(1), first);
    const auto spread = [&](value_id v, const std::vector<float>& weights) {
      return add("MatMul", v, m_s.floats({pairs, k * k}, weights));
    };
    const value_id entries = add(
        "Add", add("Add", spread(add("Mul", first, first), of_first), spread(add("Mul", second, second), of_second)),
        spread(add("Mul", first, second), of_products));
    return m_s.add("Reshape", {entries, m_s.integers({-1, k, k})});
  }

  /// One round: every class in turn comes nearer to where the error is least. Rows that were near enough stay.
  value_id round(value_id p) {
    const float enough = 0.005f / static_cast<float>(m_classes);
    value_id qp = m_s.add("Transpose", {sum(add("Mul", p, m_q))}, {{"perm", std::vector<i64>{0, 2, 1}}}),
             pqp = sum(add("Mul", p, qp));
    const value_id error = m_s.add("Abs", {add("Sub", qp, pqp)});
    const value_id far = cast_to(m_s, add("GreaterOrEqual", error, number(enough)), element::f32);
    const value_id goes_on = add("Greater", reduced("ReduceMax", far), number(0));
    value_id next = p;
    for (i64 i = 0; i < m_classes; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const value_id own = slice(qp, 2, i), step = add("Div", add("Sub", pqp, own), m_diagonal[at]),
                     scale = add("Add", step, number(1));
      std::vector<float> unit(static_cast<std::size_t>(m_classes));
      unit[at] = 1;
      next = add("Div", add("Add", next, add("Mul", step, m_s.floats({1, 1, m_classes}, unit))), scale);
      const value_id change =
          add("Mul", step, add("Add", add("Mul", step, m_diagonal[at]), add("Mul", own, number(2))));
      pqp = add("Div", add("Div", add("Add", pqp, change), scale), scale);
      qp = add("Div", add("Add", qp, add("Mul", step, m_rows[at])), scale);
    }
    return m_s.add("Where", {goes_on, next, p});
  }

  speller& m_s;
  i64 m_classes;
  value_id m_q = no_value;
  std::vector<value_id> m_rows, m_diagonal;
};

/// Probabilities [rows][classes] from those of pairs, of Wu, Lin and Weng, "Probability Estimates for Multi-class
/// Classification by Pairwise Coupling", 2004, the second method. A sigmoid of a score of [rows][pairs] times `a` plus
/// `b` makes the probability of a pair. The steps are those of ONNX Runtime, which end as soon as they change little.
value_id pairwise_probabilities(speller& s, value_id scores, i64 classes, const std::vector<float>& a,
                                const std::vector<float>& b) {
  if (classes > max_coupled)
    s.refuse("probabilities of more than " + std::to_string(max_coupled) +
             " classes take too many steps. Export it without probabilities");
  const shape_t length = {static_cast<i64>(a.size())};
  const value_id weighted = s.add("Add", {s.add("Mul", {scores, s.floats(length, a)}), s.floats(length, b)}),
                 likely = s.add("Sigmoid", {s.add("Neg", {weighted})}),
                 bounded = s.add("Clip", {likely, s.floats({}, {1.0e-7f}), s.floats({}, {1 - 1.0e-7f})});
  // A clamp makes a limit of NaN, which ends the rounds at once: every class is as likely as the others.
  return coupling(s, classes).run(s.add("Where", {s.add("IsNaN", {scores}), scores, bounded}));
}

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
