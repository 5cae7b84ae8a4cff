// SPDX-License-Identifier: MIT
/// TreeEnsemble of ai.onnx.ml 5, straight from its attributes: nodes and leaves in lists of their own, which refer to
/// each other by position.
#include <cmath>

#include "reference/scores.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;

enum mode { less_equal, less, greater_equal, greater, equal, not_equal, member, modes };

/// One branch of a node: another node, or a leaf.
struct branch {
  bool leaf = true;
  std::size_t at = 0;
};

class ensemble {
 public:
  explicit ensemble(const call& c)
      : m_call(c),
        m_modes(tensor_of(c, "nodes_modes")),
        m_splits(tensor_of(c, "nodes_splits")),
        m_weights(tensor_of(c, "leaf_weights")),
        m_features(c.op().integers("nodes_featureids")),
        m_missing(c.op().integers("nodes_missing_value_tracks_true")),
        m_targets(c.op().integers("leaf_targetids")),
        m_roots(c.op().integers("tree_roots")) {
    require_lists();
    read_sets(tensor_of(c, "membership_values"));
    m_yes = branches("true");
    m_no = branches("false");
    for (const i64 root : m_roots)
      if (root < 0 || root >= static_cast<i64>(m_modes.size())) c.fail("tree_roots names a node that does not exist");
  }

  std::size_t tree_count() const { return m_roots.size(); }

  /// Calls f(target, weight) for the leaf of every tree that a row comes to.
  template <class F>
  void visit(const double* x, F f) const {
    for (const i64 root : m_roots) {
      branch at{false, static_cast<std::size_t>(root)};
      for (std::size_t steps = 0; !at.leaf; ++steps) {
        if (steps > m_modes.size()) m_call.fail("a way through a node leads back to it: it is no tree");
        at = holds(at.at, x[m_features[at.at]]) ? m_yes[at.at] : m_no[at.at];
      }
      f(m_targets[at.at], m_weights[at.at]);
    }
  }

 private:
  void require_lists() const {
    const std::size_t count = m_modes.size();
    if (count == 0 || m_roots.empty() || m_targets.empty()) m_call.fail("it needs nodes, leaves and tree_roots");
    if (m_splits.size() != count || m_features.size() != count || (!m_missing.empty() && m_missing.size() != count))
      m_call.fail("the lists of nodes have different lengths");
    if (m_weights.size() != m_targets.size()) m_call.fail("leaf_weights needs one number per entry of leaf_targetids");
    for (std::size_t i = 0; i < count; ++i) {
      if (!(m_modes[i] >= 0 && m_modes[i] < modes)) m_call.fail("nodes_modes has a mode that does not exist");
      if (m_features[i] < 0 || m_features[i] >= m_call.shape(0)[1])
        m_call.fail("a node tests feature " + std::to_string(m_features[i]) + ", but a row has " +
                    std::to_string(m_call.shape(0)[1]));
    }
    const i64 targets = m_call.op().integer("n_targets", 0);
    for (const i64 target : m_targets)
      if (target < 0 || target >= targets)
        m_call.fail("a leaf scores " + std::to_string(target) + ", but n_targets is " + std::to_string(targets));
  }

  /// Members of the sets, one set per node of mode `member` in the order of nodes; NaN ends a set.
  void read_sets(const std::vector<double>& values) {
    m_sets.resize(m_modes.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < m_modes.size(); ++i) {
      if (m_modes[i] != member) continue;
      while (next < values.size() && !std::isnan(values[next])) m_sets[i].push_back(values[next++]);
      if (next == values.size()) m_call.fail("membership_values has fewer sets than there are nodes that test one");
      ++next;
      if (m_sets[i].empty()) m_call.fail("a node tests membership of an empty set");
    }
  }

  std::vector<branch> branches(const std::string& side) const {
    const std::vector<i64> at = m_call.op().integers("nodes_" + side + "nodeids"),
                           leaf = m_call.op().integers("nodes_" + side + "leafs");
    if (at.size() != m_modes.size() || leaf.size() != m_modes.size())
      m_call.fail("the lists of nodes have different lengths");
    std::vector<branch> list;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const std::size_t count = leaf[i] != 0 ? m_targets.size() : m_modes.size();
      if (at[i] < 0 || at[i] >= static_cast<i64>(count)) m_call.fail("a node leads to one that does not exist");
      list.push_back({leaf[i] != 0, static_cast<std::size_t>(at[i])});
    }
    return list;
  }

  bool holds(std::size_t i, double x) const {
    if (std::isnan(x) && !m_missing.empty() && m_missing[i] != 0) return true;
    const double split = m_splits[i];
    switch (static_cast<int>(m_modes[i])) {
      case less_equal: return x <= split;
      case less: return x < split;
      case greater_equal: return x >= split;
      case greater: return x > split;
      case equal: return x == split;
      case not_equal: return x != split;
      default: break;
    }
    for (const double m : m_sets[i])
      if (x == m) return true;
    return false;
  }

  const call& m_call;
  std::vector<double> m_modes, m_splits, m_weights;
  std::vector<i64> m_features, m_missing, m_targets, m_roots;
  std::vector<std::vector<double>> m_sets;  ///< by node
  std::vector<branch> m_yes, m_no;
};

std::string aggregate_of(const call& c) {
  static const char* const names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const i64 how = c.op().integer("aggregate_function", 1);
  if (how < 0 || how > 3) c.fail("aggregate_function " + std::to_string(how) + " does not exist");
  return names[how];
}

void infer_ensemble(call& c) {
  c.require_inputs(1, 1);
  c.require_rank(0, 2, 2);
  c.require_float(0);
  const i64 targets = c.op().integer("n_targets", 0);
  c.require(targets > 0, "n_targets is missing");
  if (c.op().integer("post_transform", 0) != 0)
    c.fail(
        "post_transform " + std::to_string(c.op().integer("post_transform", 0)) +
        ": runtimes number the transformations in other ways than the operator. Export with 0 (NONE) and a Softmax or "
        "Sigmoid behind it");
  aggregate_of(c);
  ensemble{c};
  c.declare(0, c.type(0), {c.shape(0)[0], targets});
}

void evaluate_ensemble(call& c) {
  const ensemble e(c);
  const i64 targets = c.out_shape(0)[1], features = c.shape(0)[1];
  for (i64 row = 0; row < c.shape(0)[0]; ++row) {
    score_sheet sheet(aggregate_of(c), e.tree_count());
    e.visit(c.floats(0) + row * features, [&](i64 target, double weight) { sheet.add(target, weight); });
    double* const y = c.out_floats() + row * targets;
    for (i64 t = 0; t < targets; ++t) y[t] = sheet.of(t);
  }
}

}

void add_tree_ensemble(table& t) { t["ai.onnx.ml.TreeEnsemble"] = {infer_ensemble, evaluate_ensemble, 5}; }

}
