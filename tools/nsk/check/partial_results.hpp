// SPDX-License-Identifier: MIT
#pragma once
/// Sums and products whose parts leave float32 though the result does not: which part comes first decides what is left.
#include <map>
#include <set>
#include <string>
#include "graph/graph.hpp"

namespace nsk::tool {

class partial_results {
 public:
  explicit partial_results(const graph& g);

  /// Remembers the operands of sums and products.
  void see(const std::string& name, const array& a);
  /// Takes over what the engine has of a sum or product `name`: infinities and NaN where float32 may overflow among its
  /// parts, in some order of them, and zeros where a product, or a square below a root, may underflow.
  void take_over(const std::string& name, const array& got, array& wanted) const;

 private:
  array with_operands(const node& n, double (*of)(double)) const;

  const graph& m_graph;
  std::map<std::string, const node*> m_nodes;  ///< by result
  std::map<std::string, array> m_operands;
};

}
