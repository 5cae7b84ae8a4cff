// SPDX-License-Identifier: MIT
#pragma once
/// Functions of one stored number. A byte has 256 values, so whatever stands between DequantizeLinear and
/// QuantizeLinear, each element for itself, is a table that is computed once, by the reference.
#include <map>
#include <vector>
#include "graph/graph.hpp"
#include "resolve/integers/integer_products.hpp"
#include "spell/node_placer.hpp"

namespace nsk::tool {

/// Whether an operator computes each element from those at its place: of one stored number a table.
bool is_byte_function(const node& n);

class byte_functions {
 public:
  byte_functions(node_placer& placer, integer_products& stored) : m_placer(placer), m_stored(stored) {}

  /// Remembers a node that may be part of a function.
  void see(const node& n);
  /// Puts a look-up, Gather of a constant or ChannelTables, in the place of the QuantizeLinear `q`, where it stores a
  /// function of one byte, or one for each position of an axis. Returns whether it did.
  bool replace(const node& q);

 private:
  struct chain;
  bool follow(value_id v, chain& c) const;
  bool find_axis(chain& c) const;
  std::vector<node> table_of(const node& q, const chain& c, value_id table);

  node_placer& m_placer;
  integer_products& m_stored;
  std::map<value_id, node> m_made;  ///< by their results
};

}
