// SPDX-License-Identifier: MIT
#include "passes/canonicalise/tree_ensemble.hpp"
#include <cmath>
#include <map>
#include <set>
#include "errors.hpp"

namespace nsk::tool::canonical {
namespace {

constexpr std::int32_t nan_holds = 8, equality = 5;

/// What both forms read from; the reference has proven that lists have one length and features and targets exist.
class reader {
 public:
  reader(const graph& g, const node& n) : m_graph(g), m_node(n) {}
  [[noreturn]] void fail(const std::string& why) const { refuse(describe(m_graph, m_node) + ": " + why); }
  std::vector<std::int64_t> integers(const std::string& key) const { return m_node.integers(key); }
  template <class T>
  std::vector<T> list(const std::string& key) const {
    const auto* held = find<std::vector<T>>(key);
    return held == nullptr ? std::vector<T>() : *held;
  }
  std::vector<float> tensor(const std::string& key) const {
    const auto* held = find<array>(key);
    std::vector<float> result(held == nullptr ? 0 : static_cast<std::size_t>(held->count()));
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = static_cast<float>(held->number(static_cast<std::int64_t>(i)));
    return result;
  }
  /// 8 where NaN goes to `yes`.
  std::int32_t missing(std::size_t i) const {
    const std::vector<std::int64_t>& tracks = m_tracks;
    return !tracks.empty() && tracks[i] != 0 ? nan_holds : 0;
  }

 private:
  template <class T>
  const T* find(const std::string& key) const {
    const auto found = m_node.attributes.find(key);
    return found == m_node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  }
  const graph& m_graph;
  const node& m_node;
  const std::vector<std::int64_t> m_tracks = m_node.integers("nodes_missing_value_tracks_true");
};

using place = std::pair<std::int64_t, std::int64_t>;  // tree, node

/// The arrays of one tree after the other; see arrays_of.
class numbering {
 public:
  numbering(const tree_ensemble& e, const reader& r) : m_ensemble(e), m_reader(r) {}

  tree_parameters run() {
    for (const std::size_t root : m_ensemble.roots) {
      m_result.roots.push_back(m_next);
      add_tree(root);
    }
    if (m_result.targets.empty()) m_reader.fail("no leaf scores anything");
    return std::move(m_result);
  }

 private:
  /// Gives a node the next free numbers: one per threshold, one for a leaf.
  std::int32_t place(std::size_t i) {
    const ensemble_node& n = m_ensemble.nodes[i];
    const bool branches = n.kind != 0;
    if (branches && !m_seen.insert(i).second) m_reader.fail("two ways lead to one node: it is no tree");
    const std::int32_t number = m_next;
    const std::size_t width = branches ? n.thresholds.size() : 1;
    if (width > static_cast<std::size_t>(max_nodes - m_next)) m_reader.fail("the trees have more than 2^28 nodes");
    m_next += static_cast<std::int32_t>(width);
    m_waiting.push_back(i);
    return number;
  }

  /// Breadth first: parents are numbered before their children.
  void add_tree(std::size_t root) {
    m_waiting.clear();
    m_seen.clear();
    place(root);
    for (std::size_t k = 0; k < m_waiting.size(); ++k) {
      const ensemble_node& n = m_ensemble.nodes[m_waiting[k]];
      n.kind == 0 ? add_leaf(n) : add_branch(n);
    }
  }

  /// A set becomes a chain of tests for equality, each of which goes on at the same node.
  void add_branch(const ensemble_node& n) {
    const std::int32_t yes = place(n.yes), no = place(n.no);
    auto own = static_cast<std::int32_t>(m_result.thresholds.size());
    for (std::size_t i = 0; i < n.thresholds.size(); ++i) {
      if (std::isnan(n.thresholds[i])) m_reader.fail("a threshold is not a number");
      m_result.thresholds.push_back(n.thresholds[i]);
      const bool last = i + 1 == n.thresholds.size();
      m_result.nodes.insert(m_result.nodes.end(), {n.feature, n.kind, yes, last ? no : ++own});
    }
  }

  void add_leaf(const ensemble_node& n) {
    const auto begin = static_cast<std::int32_t>(m_result.targets.size());
    for (const auto& [target, weight] : n.scores) {
      if (!std::isfinite(weight)) m_reader.fail("the weight of a leaf is not finite");
      m_result.targets.push_back(target);
      m_result.weights.push_back(weight);
    }
    m_result.thresholds.push_back(0);
    m_result.nodes.insert(m_result.nodes.end(), {0, 0, begin, static_cast<std::int32_t>(m_result.targets.size())});
  }

  static constexpr std::int32_t max_nodes = 1 << 28;
  const tree_ensemble& m_ensemble;
  const reader& m_reader;
  tree_parameters m_result;
  std::int32_t m_next = 0;             ///< the first number that no node has
  std::vector<std::size_t> m_waiting;  ///< nodes in the order of their numbers
  std::set<std::size_t> m_seen;        ///< nodes of the tree that branch
};

}

tree_ensemble ensemble_of_names(const graph& g, const node& n, const std::string& prefix) {
  static const std::map<std::string, std::int32_t> kinds = {{"LEAF", 0},       {"BRANCH_LEQ", 1}, {"BRANCH_LT", 2},
                                                            {"BRANCH_GTE", 3}, {"BRANCH_GT", 4},  {"BRANCH_EQ", 5},
                                                            {"BRANCH_NEQ", 6}};
  const reader r(g, n);
  const std::vector<std::int64_t> trees = r.integers("nodes_treeids"), names = r.integers("nodes_nodeids"),
                                  features = r.integers("nodes_featureids"), yes = r.integers("nodes_truenodeids"),
                                  no = r.integers("nodes_falsenodeids");
  const std::vector<std::string> modes = r.list<std::string>("nodes_modes");
  const std::vector<float> values = r.list<float>("nodes_values");
  tree_ensemble result;
  result.nodes.resize(trees.size());
  std::map<place, std::size_t> index;
  std::map<std::int64_t, std::size_t> roots;  // trees in the order of their numbers, as the reference adds them
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (!index.emplace(place(trees[i], names[i]), i).second) r.fail("two nodes of a tree have one number");
    roots.emplace(trees[i], i);
  }
  for (const auto& [tree, root] : roots) result.roots.push_back(root);
  const auto at = [&](std::int64_t tree, std::int64_t name) {
    const auto found = index.find({tree, name});
    if (found == index.end())
      r.fail("tree " + std::to_string(tree) + " has no node " + std::to_string(name) + ", to which another leads");
    return found->second;
  };
  for (std::size_t i = 0; i < trees.size(); ++i) {
    ensemble_node& to = result.nodes[i];
    to.kind = kinds.at(modes[i]);
    if (to.kind == 0) continue;
    to.kind += r.missing(i);
    to.feature = static_cast<std::int32_t>(features[i]);
    to.thresholds = {values[i]};
    to.yes = at(trees[i], yes[i]);
    to.no = at(trees[i], no[i]);
  }
  const std::vector<std::int64_t> leaf_trees = r.integers(prefix + "_treeids"),
                                  leaf_names = r.integers(prefix + "_nodeids"), targets = r.integers(prefix + "_ids");
  const std::vector<float> weights = r.list<float>(prefix + "_weights");
  for (std::size_t e = 0; e < targets.size(); ++e)
    if (const auto found = index.find({leaf_trees[e], leaf_names[e]}); found != index.end())
      result.nodes[found->second].scores.emplace_back(static_cast<std::int32_t>(targets[e]), weights[e]);
  return result;
}

tree_ensemble ensemble_of_positions(const graph& g, const node& n) {
  const reader r(g, n);
  const std::vector<float> modes = r.tensor("nodes_modes"), splits = r.tensor("nodes_splits"),
                           weights = r.tensor("leaf_weights"), members = r.tensor("membership_values");
  const std::vector<std::int64_t> features = r.integers("nodes_featureids"), yes = r.integers("nodes_truenodeids"),
                                  no = r.integers("nodes_falsenodeids"), yes_leaf = r.integers("nodes_trueleafs"),
                                  no_leaf = r.integers("nodes_falseleafs"), targets = r.integers("leaf_targetids");
  const std::size_t count = modes.size();
  const auto at = [&](std::int64_t leaf, std::int64_t position) {
    return static_cast<std::size_t>(position) + (leaf != 0 ? count : 0);
  };
  tree_ensemble result;
  result.nodes.resize(count + targets.size());
  std::size_t member = 0;
  for (std::size_t i = 0; i < count; ++i) {
    ensemble_node& to = result.nodes[i];
    const bool set = modes[i] == 6;
    to.kind = (set ? equality : static_cast<std::int32_t>(modes[i]) + 1) + r.missing(i);
    to.feature = static_cast<std::int32_t>(features[i]);
    if (!set) to.thresholds = {splits[i]};
    for (; set && !std::isnan(members[member]); ++member) to.thresholds.push_back(members[member]);
    if (set) ++member;
    to.yes = at(yes_leaf[i], yes[i]);
    to.no = at(no_leaf[i], no[i]);
  }
  for (std::size_t i = 0; i < targets.size(); ++i)
    result.nodes[count + i].scores.emplace_back(static_cast<std::int32_t>(targets[i]), weights[i]);
  std::set<std::int64_t> known;
  for (const std::int64_t root : r.integers("tree_roots")) {
    if (!known.insert(root).second) r.fail("tree_roots names a tree twice");
    result.roots.push_back(static_cast<std::size_t>(root));
  }
  return result;
}

tree_parameters arrays_of(const tree_ensemble& e, const graph& g, const node& n) {
  const reader r(g, n);
  return numbering(e, r).run();
}

}
