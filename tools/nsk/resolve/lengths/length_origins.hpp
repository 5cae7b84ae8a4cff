// SPDX-License-Identifier: MIT
#pragma once
/// Of which sums over lengths, and of which indices, the values of a graph are made.
#include <map>
#include <set>
#include <utility>

#include "resolve/lengths/graph_pair.hpp"

namespace nsk::tool {

/// What a value is made of where axes have other lengths than in the source.
struct length_origin {
  std::set<std::pair<double, double>> sums;  ///< elements of each sum, in the source and now
  bool index = false;                        ///< positions along an axis whose length changed
};

/// Follows sums and indices from node to node.
class length_origins {
 public:
  explicit length_origins(const graph_pair& graphs);
  const length_origin& of(value_id v) const;
  /// All sums of the graph.
  const std::set<std::pair<double, double>>& sums() const { return m_sums; }

 private:
  void follow(const node& n);
  void add_sums(const node& n, length_origin& all) const;
  void add_products(const node& n, length_origin& all) const;

  const graph_pair& m_graphs;
  std::map<value_id, length_origin> m_origins;
  std::set<std::pair<double, double>> m_sums;
};

}
