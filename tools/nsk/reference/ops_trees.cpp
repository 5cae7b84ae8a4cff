// SPDX-License-Identifier: MIT
/// TreeEnsembleRegressor and TreeEnsembleClassifier of ai.onnx.ml, straight from their attributes: (tree, node) pairs
/// are looked up by name, one row and one tree after the other.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "graph/cures.hpp"
#include "reference/scores.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;
using place = std::pair<i64, i64>;  // tree, node

bool holds(const std::string& mode, double x, double threshold) {
  return mode == "BRANCH_LEQ"   ? x <= threshold
         : mode == "BRANCH_LT"  ? x < threshold
         : mode == "BRANCH_GTE" ? x >= threshold
         : mode == "BRANCH_GT"  ? x > threshold
         : mode == "BRANCH_EQ"  ? x == threshold
                                : x != threshold;
}

/// The trees of a TreeEnsembleRegressor or TreeEnsembleClassifier; `prefix` is "target" or "class".
class tree_ensemble {
 public:
  tree_ensemble(const call& c, const std::string& prefix)
      : m_call(c),
        m_trees(c.op().integers("nodes_treeids")),
        m_nodes(c.op().integers("nodes_nodeids")),
        m_features(c.op().integers("nodes_featureids")),
        m_yes(c.op().integers("nodes_truenodeids")),
        m_no(c.op().integers("nodes_falsenodeids")),
        m_missing(c.op().integers("nodes_missing_value_tracks_true")),
        m_modes(texts_of(c, "nodes_modes")),
        m_values(numbers_of(c, "nodes_values")),
        m_targets(c.op().integers(prefix + "_ids")),
        m_weights(numbers_of(c, prefix + "_weights")) {
    for (std::size_t i = 0; i < m_trees.size(); ++i) {
      m_index[{m_trees[i], m_nodes[i]}] = i;
      m_roots.emplace(m_trees[i], i);
    }
    const std::vector<i64> trees = c.op().integers(prefix + "_treeids"), nodes = c.op().integers(prefix + "_nodeids");
    for (std::size_t i = 0; i < trees.size(); ++i) m_entries[{trees[i], nodes[i]}].push_back(i);
  }

  std::size_t tree_count() const { return m_roots.size(); }
  /// Calls f(target, weight) for every entry of the leaves that a row comes to.
  template <class F>
  void visit(const double* x, F f) const {
    for (const auto& [tree, root] : m_roots) {
      const std::size_t at = leaf_of(x, tree, root);
      const auto found = m_entries.find({tree, m_nodes[at]});
      if (found == m_entries.end()) continue;
      for (std::size_t e : found->second) f(m_targets[e], m_weights[e]);
    }
  }

 private:
  std::size_t leaf_of(const double* x, i64 tree, std::size_t root) const {
    std::size_t at = root;
    for (std::size_t steps = 0; m_modes[at] != "LEAF"; ++steps) {
      const double value = x[m_features[at]];
      const bool missing = std::isnan(value) && !m_missing.empty() && m_missing[at] != 0,
                 good = missing || holds(m_modes[at], value, m_values[at]);
      const auto next = m_index.find({tree, good ? m_yes[at] : m_no[at]});
      if (next == m_index.end()) m_call.fail("a tree has no node to which another leads");
      if (steps > m_trees.size()) m_call.fail("a way through a node leads back to it: it is no tree");
      at = next->second;
    }
    return at;
  }

  const call& m_call;
  std::vector<i64> m_trees, m_nodes, m_features, m_yes, m_no, m_missing;
  std::vector<std::string> m_modes;
  std::vector<double> m_values;
  std::vector<i64> m_targets;
  std::vector<double> m_weights;
  std::map<place, std::size_t> m_index;
  std::map<i64, std::size_t> m_roots;
  std::map<place, std::vector<std::size_t>> m_entries;
};

void require_known_mode(const call& c, const std::string& mode) {
  static const std::set<std::string> known = {"LEAF",      "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                              "BRANCH_GT", "BRANCH_EQ",  "BRANCH_NEQ"};
  if (known.count(mode) == 0) c.fail("node mode '" + mode + "' is not supported");
}

/// Lists of one length, features that exist.
void require_nodes(const call& c) {
  const std::size_t count = c.op().integers("nodes_treeids").size();
  for (const char* key : {"nodes_nodeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids"})
    if (c.op().integers(key).size() != count)
      c.fail(std::string("attribute '") + key + "' has another length than nodes_treeids");
  const std::size_t missing = c.op().integers("nodes_missing_value_tracks_true").size();
  const std::vector<std::string> modes = texts_of(c, "nodes_modes");
  if (count == 0 || modes.size() != count || numbers_of(c, "nodes_values").size() != count ||
      (missing != 0 && missing != count))
    c.fail(
        "nodes_modes, nodes_values and, where there is one, nodes_missing_value_tracks_true need one entry per node, "
        "and there must be nodes");
  const std::vector<i64> features = c.op().integers("nodes_featureids");
  for (std::size_t i = 0; i < count; ++i) {
    require_known_mode(c, modes[i]);
    if (modes[i] != "LEAF" && (features[i] < 0 || features[i] >= c.shape(0)[1]))
      c.fail("a node tests feature " + std::to_string(features[i]) + ", but a row has " +
             std::to_string(c.shape(0)[1]));
  }
}

/// Nodes, and entries of leaves for targets that exist; `prefix` is "target" or "class".
void require_tree_ensemble(const call& c, const std::string& prefix, i64 targets) {
  c.require_inputs(1, 1);
  c.require_rank(0, 2, 2);
  for (const std::string& odd : {std::string("nodes_values"), std::string("base_values"), prefix + "_weights"})
    if (c.op().has(odd + "_as_tensor"))
      c.fail("attribute '" + odd + "_as_tensor' holds double numbers; export the trees in float32");
  require_nodes(c);
  const std::size_t entries = c.op().integers(prefix + "_ids").size();
  if (entries == 0 || numbers_of(c, prefix + "_weights").size() != entries ||
      c.op().integers(prefix + "_treeids").size() != entries || c.op().integers(prefix + "_nodeids").size() != entries)
    c.fail("attributes '" + prefix + "_weights', '" + prefix + "_treeids' and '" + prefix +
           "_nodeids' need one entry per entry of " + prefix + "_ids, and there must be entries");
  for (i64 target : c.op().integers(prefix + "_ids"))
    if (target < 0 || target >= targets) c.fail("a leaf scores " + std::to_string(target) + ", which does not exist");
}

/// Refuses several weights of a leaf for the only target: ONNX Runtime takes the first, others add them.
void require_one_weight(const call& c) {
  const std::vector<i64> trees = c.op().integers("target_treeids"), nodes = c.op().integers("target_nodeids");
  std::set<place> seen;
  for (std::size_t i = 0; i < trees.size(); ++i)
    if (!seen.insert({trees[i], nodes[i]}).second)
      c.fail("a leaf has several weights for the only target, of which runtimes take the first or the sum. Give one");
}

void infer_regressor(call& c) {
  const i64 targets = c.op().integer("n_targets", 1);
  require_tree_ensemble(c, "target", targets);
  if (targets == 1) require_one_weight(c);
  if (c.op().text("post_transform", "NONE") != "NONE") c.fail("post_transform of a regressor must be NONE");
  const std::size_t base = numbers_of(c, "base_values").size();
  if (base > 1 && base != static_cast<std::size_t>(targets)) c.fail("base_values needs one number per target");
  c.declare(0, element::f32, {c.shape(0)[0], targets});
}

std::vector<double> row_of(const call& c, i64 row) {
  const i64 features = c.shape(0)[1];
  std::vector<double> x(static_cast<std::size_t>(features));
  for (i64 k = 0; k < features; ++k) x[static_cast<std::size_t>(k)] = c.data(0).number(row * features + k);
  return x;
}

void evaluate_regressor(call& c) {
  const tree_ensemble f(c, "target");
  const std::vector<double> base = numbers_of(c, "base_values");
  const i64 targets = c.out_shape(0)[1];
  for (i64 row = 0; row < c.shape(0)[0]; ++row) {
    score_sheet score(c.op().text("aggregate_function", "SUM"), f.tree_count());
    f.visit(row_of(c, row).data(), [&](i64 target, double weight) { score.add(target, weight); });
    for (i64 t = 0; t < targets; ++t)
      c.out_floats()[row * targets + t] =
          score.of(t) + (base.empty() ? 0 : base[base.size() == 1 ? 0 : static_cast<std::size_t>(t)]);
  }
}

/// Votes of a classifier.
struct votes {
  explicit votes(const call& c)
      : classes(class_count(c, "classlabels_int64s", "classlabels_strings")),
        base(numbers_of(c, "base_values")),
        transform(c.op().text("post_transform", "NONE")) {
    const std::vector<i64> ids = c.op().integers("class_ids");
    const std::vector<double> weights = numbers_of(c, "class_weights");
    one_score = classes == 2 && std::set<i64>(ids.begin(), ids.end()).size() == 1;
    non_negative = std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; });
  }
  i64 classes;
  std::vector<double> base;
  std::string transform;
  bool one_score;     ///< two classes, of which all trees score one
  bool non_negative;  ///< then that score is a probability, else a logit
};

/// Whether a row always has the class of its largest sum as its label: a class for which no leaf voted has no score for
/// some runtimes, and 0 for others.
bool every_class_scores(const call& c, const votes& v) {
  if (v.base.size() == static_cast<std::size_t>(v.classes)) return true;
  const std::vector<i64> trees = c.op().integers("class_treeids"), nodes = c.op().integers("class_nodeids"),
                         ids = c.op().integers("class_ids"), of = c.op().integers("nodes_treeids");
  const std::vector<double> weights = numbers_of(c, "class_weights");
  const std::vector<std::string> modes = texts_of(c, "nodes_modes");
  std::map<i64, std::size_t> leaves;
  for (std::size_t i = 0; i < modes.size(); ++i)
    if (modes[i] == "LEAF") ++leaves[of[i]];
  std::set<std::pair<place, i64>> voted;
  std::set<place> raised;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    voted.insert({{trees[i], nodes[i]}, ids[i]});
    if (weights[i] > 0) raised.insert({trees[i], nodes[i]});
  }
  std::map<place, std::size_t> count;  // tree, class
  std::map<i64, std::size_t> raises;
  for (const auto& [where, id] : voted) ++count[{where.first, id}];
  for (const place& where : raised) ++raises[where.first];
  std::set<i64> always;
  bool raises_always = false;
  for (const auto& [tree, total] : leaves) raises_always = raises_always || raises[tree] == total;
  for (const auto& [where, votes_there] : count)
    if (const auto tree = leaves.find(where.first); tree != leaves.end() && tree->second == votes_there)
      always.insert(where.second);
  return static_cast<i64>(always.size()) == v.classes || (v.non_negative && raises_always);
}

void infer_classifier(call& c) {
  const votes v(c);
  require_tree_ensemble(c, "class", v.classes);
  require_transform(c, v.transform);
  if (v.classes < 2) c.fail("a classifier needs two classes at least");
  const std::size_t base = v.base.size();
  if (v.one_score) {
    if (c.op().integers("class_ids")[0] != 0 || base > 1)
      c.fail(
          "all trees score the second of two classes, or base_values has two numbers for one score; runtimes differ "
          "there. Give class_ids 0 and at most one base value");
    if (v.transform == "SOFTMAX" || (v.transform == "NONE" && !v.non_negative))
      c.fail("post_transform " + v.transform +
             " of two classes with one score: runtimes differ in the score of the other. Export with LOGISTIC, or with "
             "a score for each class");
  } else if (base != 0 && (v.classes == 2 || base != static_cast<std::size_t>(v.classes))) {
    c.fail("base_values needs one number per class, and for two classes runtimes differ in it. Add it to the leaves");
  }
  declare_classes(c, c.shape(0)[0], v.classes);
}

void evaluate_classifier(call& c) {
  const tree_ensemble f(c, "class");
  const votes v(c);
  if (const std::string trouble = label_trouble(c); !trouble.empty() && c.op().outputs[0] != no_value) c.fail(trouble);
  for (i64 row = 0; row < c.shape(0)[0]; ++row) {
    score_sheet sums("SUM", f.tree_count());
    f.visit(row_of(c, row).data(), [&](i64 target, double weight) { sums.add(target, weight); });
    std::vector<double> scores;
    for (i64 k = 0; k < v.classes; ++k)
      scores.push_back(sums.of(k) + (v.base.empty() || v.one_score ? 0 : v.base[static_cast<std::size_t>(k)]));
    i64 best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    if (v.one_score) {
      const double score = scores[0] + (v.base.empty() ? 0 : v.base[0]);
      scores = {v.transform == "NONE" ? 1 - score : -score, score};
      best = score > (v.non_negative ? 0.5 : 0.0);
    }
    transform_scores(scores.data(), v.classes, v.transform);
    c.out_integers(0)[row] = label_of(c, "classlabels_int64s", best);
    if (c.wants(1)) std::copy(scores.begin(), scores.end(), c.out_floats(1) + row * v.classes);
  }
}

}

std::string label_trouble(const call& c) {
  const votes v(c);
  if (c.op().integers("classlabels_int64s").empty()) return text_labels(c.source(), c.op());
  const std::string cure =
      " Keep the scores alone, " + option_that_keeps(c.source(), c.op(), 1) + ", and take the label from them";
  if (v.classes == 2 && (!v.one_score || (v.non_negative && v.transform == "LOGISTIC")))
    return "runtimes differ in the labels of two classes that are scored like that." + cure;
  if (v.classes > 2 && !every_class_scores(c, v))
    return "some row may come to no leaf that votes for a class, which is then no candidate for some runtimes and has "
           "the score 0 for others." +
           cure;
  return {};
}

void add_trees(table& t) {
  t["ai.onnx.ml.TreeEnsembleRegressor"] = {infer_regressor, evaluate_regressor};
  t["ai.onnx.ml.TreeEnsembleClassifier"] = {infer_classifier, evaluate_classifier};
}

}
