// SPDX-License-Identifier: MIT
#pragma once
/// Nodes with graphs inside: If with a known condition becomes its branch, with another one both branches and a
/// selection; Loop and Scan become their bodies, one after the other. Where data ends a Loop, there are as many bodies
/// as it can have iterations: each is computed while the loop goes on, and its values are chosen.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "spell/node_placer.hpp"

namespace nsk::tool {

/// Nodes of a resolved graph: the passes look at pairs of them.
inline constexpr std::size_t max_nodes = 20'000;

class unroller {
 public:
  /// `g` holds the nodes before those that wait.
  /// `bounds` says how often a Loop can run at most, by the name of an output. What a loop collects that data ends is
  /// refused unless numbers of results are lengths (`counts`).
  unroller(const graph& g, node_placer& placer, const std::map<std::string, std::int64_t>& bounds, bool counts)
      : m_graph(g), m_placer(placer), m_bounds(bounds), m_counts(counts) {}

  /// The names among the bounds that loops have.
  const std::set<std::string>& used_bounds() const { return m_used; }
  /// Whether `n` is such a node.
  static bool takes(const node& n);
  /// Puts what `n` computes in its place.
  void unroll(const node& n);
  /// Whether `n` was a selection between branches of an If that give different numbers of rows, and others took its
  /// place: where numbers of results are lengths, the rows of one branch are chosen. Refuses other differences, because
  /// broadcasting is not meant.
  bool select_rows(node& n);
  /// " --set size=VALUE" where the node that was taken last is in a branch that is computed, though perhaps not taken:
  /// the options that choose one branch. Empty elsewhere.
  std::string options_that_choose();

 private:
  /// An If of which both branches are computed; their nodes wait above this many others.
  struct selection {
    std::size_t below;
    value_id condition;
  };
  /// A loop that is being unrolled, iteration by iteration.
  struct unrolling {
    struct slice {
      value_id from = no_value;
      std::size_t axis = 0;
      bool backwards = false;
    };
    struct collected {
      std::vector<value_id> parts;
      std::size_t axis = 0;
      bool backwards = false;
    };
    node n;
    std::shared_ptr<graph> body;
    std::int64_t iteration = 0, count = 0;
    bool counts = false;  ///< the body begins with the number of the iteration and the condition (Loop)
    value_id condition = no_value;
    value_id trips = no_value;      ///< the number of iterations where it is data
    bool may_run_longer = false;    ///< than the file has rounds: a flag says so
    bool ends_by_data = false;      ///< `condition` is whether the next iteration counts
    std::vector<value_id> actives;  ///< that of each iteration
    std::vector<value_id> carried;
    std::vector<slice> slices;
    std::vector<collected> results;
  };

  value& at(value_id v) { return m_placer.at(v); }

  void inline_branch(const node& n);
  void select_branch(const node& n);
  void place_chosen_rows(const node& n, std::size_t axis);
  void forget_complete_selections();
  unrolling begin_loop(const node& n);
  unrolling begin_scan(const node& n);
  /// Places the next iteration, or the results behind the last one.
  void continue_loop(const std::string& name);
  bool goes_on(unrolling& u);
  void place_iteration(unrolling& u);
  /// How often a loop of which data says it can run at most: --bound says it, or an axis that its body reads along.
  std::int64_t max_trips(unrolling& u);
  void place_first_condition(unrolling& u);
  void place_choices(unrolling& u, const std::vector<value_id>& before, value_id body_condition);
  value_id place_end(const unrolling& u, value_id now, std::vector<node>& nodes);
  void place_actives(const unrolling& u, value_id mask);
  void place_results(const unrolling& u);
  void place_collected(const unrolling& u, const unrolling::collected& c, const std::string& name, value_id output,
                       value_id mask);
  void place_collection(const unrolling& u, const unrolling::collected& c, const std::string& name, value_id output);

  const graph& m_graph;
  node_placer& m_placer;
  const std::map<std::string, std::int64_t>& m_bounds;
  bool m_counts;
  std::set<std::string> m_used;                  ///< names of bounds
  std::map<std::string, unrolling> m_unrolling;  ///< by name of the node
  std::vector<selection> m_selections;           ///< the innermost last
};

}
