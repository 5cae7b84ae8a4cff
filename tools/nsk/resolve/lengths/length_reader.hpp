// SPDX-License-Identifier: MIT
#pragma once
/// Gives the nodes of a graph the numbers that they have for other lengths or rows (length_view.hpp).
#include "resolve/lengths/length_view.hpp"

namespace nsk::tool {

/// Looks at the nodes of a graph that is being resolved, one after the other.
class length_reader {
 public:
  length_reader(graph& g, folder& folds, node_placer& placer, length_trial& trial) : m_view(g, folds, placer, trial) {}

  /// Before the shapes of its results are known: writes the numbers that the trial's reading gives. Throws no_reading
  /// where it cannot tell them. For rows it repeats constants of one row, and refuses, naming the node, what does not
  /// follow from the shapes.
  void rewrite(node& n);
  /// Afterwards: notes the lengths of its results, and doubts. Refuses, for rows, a result with another number of axes:
  /// its exporter left out axes of length 1 that are longer now.
  void look_at(const node& n);
  /// When all nodes were looked at.
  void finish();

 private:
  std::vector<reading> chosen_of(const node& n, std::vector<reading> readings);

  length_view m_view;
};

}
