// SPDX-License-Identifier: MIT
#pragma once
/// A model whose axes have other lengths than its file fixes.
#include <functional>

#include "resolve/lengths/input_options.hpp"
#include "resolve/lengths/length_view.hpp"

namespace nsk::tool {

/// What --input changes of the lengths that a source fixes.
struct asked_lengths {
  input_options own;     ///< all inputs as in the source
  input_options others;  ///< the same, but for lengths other than rows
  bool rows = false;     ///< axes of length 1 are longer: each position is one of several rows
  bool lengths = false;  ///< other axes change
};

/// Compares options with the inputs of a graph that is not resolved yet. Refuses more than one number of rows, and more
/// than one axis of them in an input.
asked_lengths compare_lengths(const graph& g, const input_options& options);

/// Resolves copies of `source` by `resolve`, once for each way in which the numbers that its exporter wrote may follow
/// the lengths, until it is certain that only one way fits, and returns that graph; `trial` has its readings. A way
/// fits where every node accepts its operands. `exported` is the graph for the source's own lengths. Refuses, naming
/// the node: no way that fits, two of them, numbers that may depend on a length in a manner that shapes do not show,
/// and more than a million nodes to look at.
graph settle_lengths(const graph& source, const graph& exported, length_trial& trial,
                     const std::function<void(graph&, length_trial&)>& resolve);

/// Misuse of choices of --constant for names that no node or output has, in the source or when it is resolved.
void require_known_nodes(const graph& source, const graph& resolved, const constant_choices& choices);

/// Refuses choices for nodes whose numbers neither a reading of the trial nor a constant shows how to follow; warns in
/// `g` of those that have none.
void require_settled(const length_trial& trial, const settled_constants& constants, graph& g);

}
