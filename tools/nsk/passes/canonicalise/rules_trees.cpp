// SPDX-License-Identifier: MIT
/// Decision trees of ai.onnx.ml: one step of scores, and what classifiers make of them.
#include <algorithm>
#include <set>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/classifiers.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/rules.hpp"
#include "passes/canonicalise/tree_ensemble.hpp"
#include "reference/scores.hpp"

namespace nsk::tool::canonical {
namespace {

/// One number per target, from none, one or as many.
std::vector<float> tree_base(context& c, std::int64_t targets) {
  c.charge(static_cast<double>(targets));
  const std::vector<double> given = number_list(c, "base_values");
  std::vector<float> base;
  for (std::size_t t = 0; t < static_cast<std::size_t>(targets); ++t)
    base.push_back(given.empty() ? 0.0f : static_cast<float>(given[given.size() == 1 ? 0 : t]));
  return base;
}

void regressor(context& c) {
  const node& n = c.op();
  tree_parameters p = arrays_of(ensemble_of_names(c.source(), n, "target"), c.source(), n);
  const std::string how = n.text("aggregate_function", "SUM");
  p.aggregate = how == "AVERAGE" ? tree_aggregate::average
                : how == "MIN"   ? tree_aggregate::min
                : how == "MAX"   ? tree_aggregate::max
                                 : tree_aggregate::sum;
  p.base = tree_base(c, c.out_shape()[1]);
  c.emit(std::move(p), {float_input(c)});
}

void ensemble(context& c) {
  const node& n = c.op();
  static constexpr tree_aggregate aggregates[] = {tree_aggregate::average, tree_aggregate::sum, tree_aggregate::min,
                                                  tree_aggregate::max};
  if (c.in_type(0) != element::f32) c.refuse("it has a kernel for float32. Export the trees in float32");
  tree_parameters p = arrays_of(ensemble_of_positions(c.source(), n), c.source(), n);
  p.aggregate = aggregates[n.integer("aggregate_function", 1)];
  p.base = tree_base(c, c.out_shape()[1]);
  c.emit(std::move(p), {c.in(0)});
}

void classifier(context& c) {
  const node& n = c.op();
  const std::string transform = n.text("post_transform", "NONE");
  const std::int64_t rows = c.in_shape(0)[0];
  const std::vector<std::int64_t> ids = n.integers("class_ids");
  const std::vector<double> weights = number_list(c, "class_weights");
  const std::int64_t classes = class_count(c);
  const bool one_score = classes == 2 && std::set<std::int64_t>(ids.begin(), ids.end()).size() == 1,
             probability = std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; });
  const std::string trouble = reference::label_trouble(reference::call(c.source(), n));
  if (c.wants(0) && !trouble.empty()) c.refuse(trouble);
  const std::int64_t targets = one_score ? 1 : classes;
  tree_parameters p = arrays_of(ensemble_of_names(c.source(), n, "class"), c.source(), n);
  p.base = tree_base(c, targets);
  int scores = c.temporary("scores", {rows, targets});
  c.emit(std::move(p), {float_input(c)}, scores);
  if (one_score) {
    label_above(c, scores, probability ? 0.5 : 0);
    const int first = transform == "NONE" ? combine(c, binary_kind::sub, scalar(c, "one", 1), scores, "first")
                                          : apply(c, scores, function::neg, "first");
    const int both = c.temporary("both", {rows, classes});
    c.emit(concat_parameters{1}, {first, scores}, both);
    scores = both;
  } else {
    label_largest(c, scores);
  }
  if (c.wants(1)) transform_scores(c, scores, transform, c.out(1));
}

}

void add_trees(rule_table& t) {
  t["ai.onnx.ml.TreeEnsembleRegressor"] = {regressor, element_types::any};
  t["ai.onnx.ml.TreeEnsembleClassifier"] = {classifier, element_types::any};
  t["ai.onnx.ml.TreeEnsemble"] = {ensemble, element_types::any};
}

}
