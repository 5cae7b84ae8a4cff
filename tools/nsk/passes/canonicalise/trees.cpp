// SPDX-License-Identifier: MIT
/// Decision trees of ai.onnx.ml: one step of scores, and what classifiers make of them.
#include <algorithm>
#include <set>
#include "passes/canonicalise/canonicaliser.hpp"
#include "passes/canonicalise/tree_ensemble.hpp"
#include "reference/scores.hpp"

namespace nsk::tool {

std::vector<float> canonicaliser::tree_base(const node& n, std::int64_t targets) {
  charge(n, static_cast<double>(targets));
  const std::vector<double> given = number_list(n, "base_values");
  std::vector<float> base;
  for (std::size_t t = 0; t < static_cast<std::size_t>(targets); ++t)
    base.push_back(given.empty() ? 0.0f : static_cast<float>(given[given.size() == 1 ? 0 : t]));
  return base;
}

void canonicaliser::tree_regressor(const node& n) {
  tree_parameters p = arrays_of(forest_of_names(m_graph, n, "target"), m_graph, n);
  const std::string how = n.text("aggregate_function", "SUM");
  p.aggregate = how == "AVERAGE" ? tree_aggregate::average
                : how == "MIN"   ? tree_aggregate::min
                : how == "MAX"   ? tree_aggregate::max
                                 : tree_aggregate::sum;
  p.base = tree_base(n, out_shape(n)[1]);
  emit(n, std::move(p), {float_input(n)});
}

void canonicaliser::tree_ensemble(const node& n) {
  static constexpr tree_aggregate aggregates[] = {tree_aggregate::average, tree_aggregate::sum, tree_aggregate::min,
                                                  tree_aggregate::max};
  if (in_type(n, 0) != element::f32) refuse_node(n, "it has a kernel for float32. Export the trees in float32");
  tree_parameters p = arrays_of(forest_of_positions(m_graph, n), m_graph, n);
  p.aggregate = aggregates[n.integer("aggregate_function", 1)];
  p.base = tree_base(n, out_shape(n)[1]);
  emit(n, std::move(p), {in(n, 0)});
}

void canonicaliser::tree_classifier(const node& n) {
  const std::string transform = n.text("post_transform", "NONE");
  const std::int64_t rows = in_shape(n, 0)[0];
  const std::vector<std::int64_t> ids = n.integers("class_ids");
  const std::vector<double> weights = number_list(n, "class_weights");
  const std::int64_t classes = class_count(n);
  const bool one_score = classes == 2 && std::set<std::int64_t>(ids.begin(), ids.end()).size() == 1,
             probability = std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; });
  const std::string trouble = reference::label_trouble(reference::call(m_graph, n));
  if (n.outputs[0] != no_value && !trouble.empty()) refuse_node(n, trouble);
  const std::int64_t targets = one_score ? 1 : classes;
  tree_parameters p = arrays_of(forest_of_names(m_graph, n, "class"), m_graph, n);
  p.base = tree_base(n, targets);
  int scores = temporary(n, "scores", {rows, targets});
  emit(n, std::move(p), {float_input(n)}, scores);
  if (one_score) {
    label_above(n, scores, probability ? 0.5 : 0);
    const int first = transform == "NONE" ? combine(n, binary_kind::sub, scalar(n, "one", 1), scores, "first")
                                          : apply(n, scores, function::neg, "first");
    const int both = temporary(n, "both", {rows, classes});
    emit(n, concat_parameters{1}, {first, scores}, both);
    scores = both;
  } else {
    label_largest(n, scores);
  }
  if (n.outputs.size() > 1 && n.outputs[1] != no_value) transform_scores(n, scores, transform, of(n.outputs[1]));
}

}
