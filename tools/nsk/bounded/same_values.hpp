// SPDX-License-Identifier: MIT
#pragma once
/// Values that are computed in the same way, by their names in the graph or not: what they count is the same number.
#include <map>
#include <string>

#include "graph/graph.hpp"

namespace nsk::tool::bounded {

class same_values {
 public:
  /// Looks at nodes of `g` as they come; values may be added to it.
  explicit same_values(const graph& g) : m_graph(g) {}

  /// Notes how the results of `n` are computed.
  void note(const node& n);
  /// A text that is the same for values that are computed in the same way.
  std::string same_as(value_id v) const;
  /// A text that is the same for operators that choose, and have one number of results.
  std::string count_of(const node& n) const;

 private:
  /// A text that is the same for nodes that compute what `n` computes; empty where an attribute has no text.
  std::string signature(const node& n) const;

  const graph& m_graph;
  std::map<std::string, value_id> m_computed;  ///< the first value of each signature
  std::map<value_id, value_id> m_same;         ///< the first value that is computed as this one
};

}
