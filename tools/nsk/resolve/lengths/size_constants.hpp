// SPDX-License-Identifier: MIT
#pragma once
/// Constants that an exporter made of a length, in a graph for other lengths: 15 to clip pixels of 16 columns.
///
/// Shapes do not show them. Any number of any node counts that a changed length explains (size_readings.hpp) and that
/// is not a plain number of the field; weights do not, unless all of their few numbers are explained.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace nsk::tool {

/// --constant NODE=keep, NODE=follow or NODE=NUMBER,..: what becomes of numbers of a node that may follow a length.
struct constant_choice {
  enum class kind { keep, follow, numbers };
  kind what = kind::keep;
  std::vector<double> numbers{};  ///< in place of those that may follow, in order; or one for all of them
};
using constant_choices = std::map<std::string, constant_choice>;

/// What takes the place of a constant: of an operand or attribute of a node, or an output.
struct constant_edit {
  std::string node;  ///< or the output
  std::size_t input;
  std::string attribute;  ///< empty: the operand
  array numbers;
};
struct settled_constants {
  std::vector<constant_edit> edits;
  std::set<std::string> nodes;     ///< and outputs, whose choices had constants to settle
  std::vector<std::string> notes;  ///< what became of each number
};

/// Finds the constants of `g` that follow by choice. `exported` is the same graph for the source's own lengths. Refuses
/// the others that a changed length explains, naming the node, the number, the explanation and the options that settle
/// it.
settled_constants settle_constants(const graph& g, const graph& exported, const constant_choices& choices);

/// Makes the edits in a graph with nodes of these names, and notes them.
void apply(const settled_constants& settled, graph& g);

}
