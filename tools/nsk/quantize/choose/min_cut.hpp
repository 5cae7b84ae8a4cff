// SPDX-License-Identifier: MIT
#pragma once
/// Two sides for the nodes of a network of costs, so that what is cut between them costs least.
#include <limits>
#include <vector>

namespace nsk::tool {

/// Every node is on one of two sides. Edges cost what they cost where they lead from the first side to the second.
class min_cut {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  explicit min_cut(int nodes) : m_edges_of(static_cast<std::size_t>(nodes) + 2) {}

  int add_node() {
    m_edges_of.emplace_back();
    return static_cast<int>(m_edges_of.size()) - 3;
  }
  /// Adds what a node costs on either side, at least 0; `never` forbids the side.
  void add_costs(int node, double on_first, double on_second);
  /// Adds what it costs to have `from` on the first side and `to` on the second.
  void add_edge(int from, int to, double cost) { connect(place(from), place(to), cost); }

  /// Returns for every node whether it is on the first side. Of several cuts that cost the same, the one with the most
  /// nodes there.
  std::vector<bool> first_side();

 private:
  struct edge {
    int to;
    double left;  ///< capacity that no flow uses
  };
  static constexpr int source = 0, sink = 1;

  static int place(int node) { return node + 2; }
  void connect(int from, int to, double capacity);
  /// How many edges with capacity left `start` is away from each node or, with `backwards` 1, each node from `start`;
  /// -1 where none leads there.
  std::vector<int> levels_of(int start, std::size_t backwards) const;
  double push(int from, double flow);

  std::vector<edge> m_edges;  ///< an edge and its reverse, in pairs
  std::vector<std::vector<int>> m_edges_of;
  std::vector<int> m_level;
  std::vector<std::size_t> m_next;
};

}
