// SPDX-License-Identifier: MIT
#pragma once
/// Of which sums over lengths, and of which indices, the values of a graph are made.
#include <map>
#include <set>
#include <string>
#include <utility>

#include "graph/graph.hpp"

namespace nsk::tool {

/// What a value is made of where axes have other lengths than in the source.
struct length_origin {
  std::set<std::pair<double, double>> sums;  ///< elements of each sum, in the source and now
  bool index = false;                        ///< positions along an axis whose length changed
};

/// Follows sums and indices from node to node.
class length_origins {
 public:
  length_origins(const graph& exported, const graph& g);
  const length_origin& of(value_id v) const;
  /// All sums of the graph.
  const std::set<std::pair<double, double>>& sums() const { return m_sums; }

 private:
  struct axes {
    const shape_t *was, *now;
  };
  void follow(const node& n);
  bool axes_of(value_id v, axes& found) const;
  void add_sums(const node& n, length_origin& all) const;
  void add_products(const node& n, length_origin& all) const;

  const graph& m_graph;
  std::map<std::string, const value*> m_before;
  std::map<value_id, length_origin> m_origins;
  std::set<std::pair<double, double>> m_sums;
};

}
