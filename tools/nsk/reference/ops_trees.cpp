// SPDX-License-Identifier: MIT
/// Decision trees of ai.onnx.ml, straight from their attributes: (tree, node) pairs are looked up by name, one row and
/// one tree after the other.
#include <cmath>
#include <map>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;
using place = std::pair<i64, i64>;  // tree, node

std::vector<double> numbers_of(const call& c, const std::string& key) {
  const auto found = c.op().attributes.find(key);
  if (found == c.op().attributes.end()) return {};
  const auto* list = std::get_if<std::vector<float>>(&found->second);
  if (list == nullptr) c.fail("attribute '" + key + "' is no list of numbers");
  return {list->begin(), list->end()};
}

std::vector<std::string> texts_of(const call& c, const std::string& key) {
  const auto found = c.op().attributes.find(key);
  if (found == c.op().attributes.end()) return {};
  const auto* list = std::get_if<std::vector<std::string>>(&found->second);
  if (list == nullptr) c.fail("attribute '" + key + "' is no list of texts");
  return *list;
}

bool holds(const std::string& mode, double x, double threshold) {
  return mode == "BRANCH_LEQ"   ? x <= threshold
         : mode == "BRANCH_LT"  ? x < threshold
         : mode == "BRANCH_GTE" ? x >= threshold
         : mode == "BRANCH_GT"  ? x > threshold
         : mode == "BRANCH_EQ"  ? x == threshold
                                : x != threshold;
}

/// The trees of a TreeEnsembleRegressor or TreeEnsembleClassifier; `prefix` is "target" or "class".
class forest {
 public:
  forest(const call& c, const std::string& prefix)
      : m_trees(c.op().integers("nodes_treeids")),
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
      std::size_t at = root;
      while (m_modes[at] != "LEAF") {
        const double value = x[m_features[at]];
        const bool missing = std::isnan(value) && !m_missing.empty() && m_missing[at] != 0;
        at = m_index.at({tree, missing || holds(m_modes[at], value, m_values[at]) ? m_yes[at] : m_no[at]});
      }
      const auto found = m_entries.find({tree, m_nodes[at]});
      if (found == m_entries.end()) continue;
      for (std::size_t e : found->second) f(m_targets[e], m_weights[e]);
    }
  }

 private:
  std::vector<i64> m_trees, m_nodes, m_features, m_yes, m_no, m_missing;
  std::vector<std::string> m_modes;
  std::vector<double> m_values;
  std::vector<i64> m_targets;
  std::vector<double> m_weights;
  std::map<place, std::size_t> m_index;
  std::map<i64, std::size_t> m_roots;
  std::map<place, std::vector<std::size_t>> m_entries;
};

/// What the canonicalisation checks again for the engine: arrays of one length, features and nodes that exist.
void require_forest(call& c, const std::string& prefix, i64 targets) {
  c.require_inputs(1, 1);
  c.require_rank(0, 2, 2);
  for (const char* odd : {"nodes_values_as_tensor", "base_values_as_tensor"})
    if (c.op().has(odd))
      c.fail(std::string("attribute '") + odd + "' holds double numbers; export the trees in float32");
  const std::size_t count = c.op().integers("nodes_treeids").size();
  for (const char* key : {"nodes_nodeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids"})
    if (c.op().integers(key).size() != count)
      c.fail(std::string("attribute '") + key + "' has another length than nodes_treeids");
  const std::vector<std::string> modes = texts_of(c, "nodes_modes");
  if (count == 0 || modes.size() != count || numbers_of(c, "nodes_values").size() != count)
    c.fail("nodes_modes and nodes_values need one entry per node, and there must be nodes");
  const std::vector<i64> features = c.op().integers("nodes_featureids");
  for (std::size_t i = 0; i < count; ++i) {
    const i64 feature = features[i];
    static const char* const known[] = {"LEAF",      "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                        "BRANCH_GT", "BRANCH_EQ",  "BRANCH_NEQ"};
    bool good = false;
    for (const char* mode : known) good = good || modes[i] == mode;
    if (!good) c.fail("node mode '" + modes[i] + "' is not supported");
    if (modes[i] != "LEAF" && (feature < 0 || feature >= c.shape(0)[1]))
      c.fail("a node tests feature " + std::to_string(feature) + ", but a row has " + std::to_string(c.shape(0)[1]));
  }
  const std::size_t entries = c.op().integers(prefix + "_ids").size();
  if (entries == 0 || numbers_of(c, prefix + "_weights").size() != entries)
    c.fail("attribute '" + prefix + "_weights' needs one number per entry of " + prefix + "_ids");
  for (i64 target : c.op().integers(prefix + "_ids"))
    if (target < 0 || target >= targets) c.fail("a leaf scores " + std::to_string(target) + ", which does not exist");
}

void infer_regressor(call& c) {
  const i64 targets = c.op().integer("n_targets", 1);
  require_forest(c, "target", targets);
  if (c.op().text("post_transform", "NONE") != "NONE") c.fail("post_transform of a regressor must be NONE");
  c.declare(0, element::f32, {c.shape(0)[0], targets});
}

void evaluate_regressor(call& c) {
  const forest f(c, "target");
  const std::string how = c.op().text("aggregate_function", "SUM");
  const std::vector<double> base = numbers_of(c, "base_values");
  const i64 features = c.shape(0)[1], targets = c.out_shape(0)[1];
  const array x = c.data(0);
  for (i64 row = 0; row < c.shape(0)[0]; ++row) {
    std::vector<double> values(static_cast<std::size_t>(features));
    for (i64 k = 0; k < features; ++k) values[static_cast<std::size_t>(k)] = x.number(row * features + k);
    std::map<i64, double> score;
    f.visit(values.data(), [&](i64 target, double weight) {
      const auto [at, fresh] = score.emplace(target, weight);
      if (fresh) return;
      at->second = how == "MIN"   ? std::min(at->second, weight)
                   : how == "MAX" ? std::max(at->second, weight)
                                  : at->second + weight;
    });
    for (i64 t = 0; t < targets; ++t) {
      const double sum = score.count(t) ? score[t] : 0;
      const double offset = base.empty() ? 0 : base[base.size() == 1 ? 0 : static_cast<std::size_t>(t)];
      c.out_floats()[row * targets + t] = (how == "AVERAGE" ? sum / static_cast<double>(f.tree_count()) : sum) + offset;
    }
  }
}

}

void add_trees(table& t) { t["ai.onnx.ml.TreeEnsembleRegressor"] = {infer_regressor, evaluate_regressor}; }

}
