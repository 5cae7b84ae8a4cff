// SPDX-License-Identifier: MIT
#pragma once
/// Nodes with graphs inside: If with a known condition becomes its branch, with another one both branches and a
/// selection; Loop and Scan with a known number of iterations become their bodies, one after the other.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "spell/node_placer.hpp"

namespace nsk::tool {

/// Nodes of a resolved graph: the passes look at pairs of them.
inline constexpr std::size_t max_nodes = 20'000;

class unroller {
 public:
  /// `g` holds the nodes before those that wait.
  unroller(const graph& g, node_placer& placer) : m_graph(g), m_placer(placer) {}

  /// Whether `n` is such a node.
  static bool takes(const node& n);
  /// Puts what `n` computes in its place.
  void unroll(const node& n);
  /// Refuses a selection between the branches of an If that give different shapes: broadcasting is not meant.
  void require_same_shapes(node& n);
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
    std::vector<value_id> carried;
    std::vector<slice> slices;
    std::vector<collected> results;
  };

  value& at(value_id v) { return m_placer.at(v); }

  void inline_branch(const node& n);
  void select_branch(const node& n);
  void forget_complete_selections();
  unrolling begin_loop(const node& n);
  unrolling begin_scan(const node& n);
  /// Places the next iteration, or the results behind the last one.
  void continue_loop(const std::string& name);
  bool goes_on(const unrolling& u);
  void place_iteration(unrolling& u);
  void place_results(const unrolling& u);
  void place_collection(const unrolling& u, const unrolling::collected& c, const std::string& name, value_id output);

  const graph& m_graph;
  node_placer& m_placer;
  std::map<std::string, unrolling> m_unrolling;  ///< by name of the node
  std::vector<selection> m_selections;           ///< the innermost last
};

}
