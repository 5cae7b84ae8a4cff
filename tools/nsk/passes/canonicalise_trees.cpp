// SPDX-License-Identifier: MIT
/// Decision trees of ai.onnx.ml: nodes renumbered so that children lie behind their parents, leaves as lists of scores.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include "passes/canonicalise.hpp"

namespace nsk::tool {
namespace {

template <class T>
std::vector<T> list_of(const node& n, const std::string& key) {
  const auto found = n.attributes.find(key);
  const auto* list = found == n.attributes.end() ? nullptr : std::get_if<std::vector<T>>(&found->second);
  return list == nullptr ? std::vector<T>() : *list;
}

/// Trees as attributes say them, turned into the engine's arrays.
class tree_builder {
 public:
  tree_builder(const graph& g, const node& n, const std::string& prefix)
      : m_graph(g),
        m_node(n),
        m_trees(n.integers("nodes_treeids")),
        m_nodes(n.integers("nodes_nodeids")),
        m_features(n.integers("nodes_featureids")),
        m_yes(n.integers("nodes_truenodeids")),
        m_no(n.integers("nodes_falsenodeids")),
        m_missing(n.integers("nodes_missing_value_tracks_true")),
        m_modes(list_of<std::string>(n, "nodes_modes")),
        m_values(list_of<float>(n, "nodes_values")),
        m_targets(n.integers(prefix + "_ids")),
        m_weights(list_of<float>(n, prefix + "_weights")) {
    const std::vector<std::int64_t> trees = n.integers(prefix + "_treeids"), nodes = n.integers(prefix + "_nodeids");
    if (trees.size() != m_targets.size() || nodes.size() != m_targets.size())
      fail("the lists of leaves have different lengths");
    for (std::size_t i = 0; i < trees.size(); ++i) m_entries[{trees[i], nodes[i]}].push_back(i);
    for (std::size_t i = 0; i < m_trees.size(); ++i)
      if (!m_index.emplace(std::pair(m_trees[i], m_nodes[i]), i).second) fail("two nodes of a tree have one number");
  }

  tree_parameters run() {
    std::map<std::int64_t, std::size_t> roots;  // trees in the order of their numbers, as the reference adds them
    for (std::size_t i = 0; i < m_trees.size(); ++i) roots.emplace(m_trees[i], i);
    for (const auto& [tree, root] : roots) {
      m_result.roots.push_back(static_cast<std::int32_t>(m_result.thresholds.size()));
      add_tree(tree, root);
    }
    if (m_result.targets.empty()) fail("no leaf scores anything");
    return std::move(m_result);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { refuse(describe(m_graph, m_node) + ": " + why); }

  std::size_t index_of(std::int64_t tree, std::int64_t number) const {
    const auto found = m_index.find({tree, number});
    if (found == m_index.end())
      fail("tree " + std::to_string(tree) + " has no node " + std::to_string(number) + ", to which another leads");
    return found->second;
  }

  std::int32_t kind_of(std::size_t i) const {
    static const std::map<std::string, std::int32_t> kinds = {{"LEAF", 0},       {"BRANCH_LEQ", 1}, {"BRANCH_LT", 2},
                                                              {"BRANCH_GTE", 3}, {"BRANCH_GT", 4},  {"BRANCH_EQ", 5},
                                                              {"BRANCH_NEQ", 6}};
    const bool missing = !m_missing.empty() && m_missing[i] != 0;
    const std::int32_t kind = kinds.at(m_modes[i]);
    return kind == 0 ? 0 : kind + (missing ? 8 : 0);
  }

  /// Breadth first: parents are numbered before their children.
  void add_tree(std::int64_t tree, std::size_t root) {
    std::vector<std::size_t> order = {root};
    std::set<std::size_t> seen = {root};
    const auto first = static_cast<std::int32_t>(m_result.thresholds.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t i = order[k];
      const std::int32_t kind = kind_of(i);
      m_result.thresholds.push_back(kind == 0 ? 0 : m_values[i]);
      if (kind == 0) {
        add_leaf({tree, m_nodes[i]});
        continue;
      }
      if (std::isnan(m_values[i])) fail("a threshold is not a number");
      m_result.nodes.insert(m_result.nodes.end(), {static_cast<std::int32_t>(m_features[i]), kind});
      for (const std::int64_t next : {m_yes[i], m_no[i]}) {
        order.push_back(index_of(tree, next));
        if (!seen.insert(order.back()).second)
          fail("two ways lead to one node of tree " + std::to_string(tree) + ": it is no tree");
        m_result.nodes.push_back(first + static_cast<std::int32_t>(order.size()) - 1);
      }
    }
  }

  void add_leaf(std::pair<std::int64_t, std::int64_t> where) {
    const auto begin = static_cast<std::int32_t>(m_result.targets.size());
    const auto found = m_entries.find(where);
    if (found != m_entries.end())
      for (const std::size_t e : found->second) {
        if (!std::isfinite(m_weights[e])) fail("the weight of a leaf is not finite");
        m_result.targets.push_back(static_cast<std::int32_t>(m_targets[e]));
        m_result.weights.push_back(m_weights[e]);
      }
    m_result.nodes.insert(m_result.nodes.end(), {0, 0, begin, static_cast<std::int32_t>(m_result.targets.size())});
  }

  const graph& m_graph;
  const node& m_node;
  std::vector<std::int64_t> m_trees, m_nodes, m_features, m_yes, m_no, m_missing;
  std::vector<std::string> m_modes;
  std::vector<float> m_values;
  std::vector<std::int64_t> m_targets;
  std::vector<float> m_weights;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> m_index;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> m_entries;
  tree_parameters m_result;
};

}

int canonicaliser::tree_input(const node& n) {
  if (in_type(n, 0) == element::f32) return in(n, 0);
  const int wide = temporary(n, "float", in_shape(n, 0));
  emit(n, cast_parameters{}, {in(n, 0)}, wide);
  return wide;
}

void canonicaliser::tree_regressor(const node& n) {
  tree_parameters p = tree_builder(m_graph, n, "target").run();
  const std::string how = n.text("aggregate_function", "SUM");
  p.aggregate = how == "AVERAGE" ? tree_aggregate::average
                : how == "MIN"   ? tree_aggregate::min
                : how == "MAX"   ? tree_aggregate::max
                                 : tree_aggregate::sum;
  const auto targets = static_cast<std::size_t>(out_shape(n)[1]);
  p.base = list_of<float>(n, "base_values");
  if (p.base.empty()) p.base = {0};
  if (p.base.size() == 1) p.base.assign(targets, p.base[0]);
  emit(n, std::move(p), {tree_input(n)});
}

}
