// SPDX-License-Identifier: MIT
#pragma once
/// Makes a freshly imported graph static: binds shapes, infers the rest, folds what is constant, drops what is
/// not used.
#include <memory>
#include "graph/graph.hpp"
#include "resolve/lengths/input_options.hpp"

namespace nsk::tool {

/// Binds input shapes (open lengths take what their symbol is elsewhere, the open first axis of a batch 1, with a
/// note), leaves out outputs that nothing produces (with a warning, where others remain), replaces set inputs by
/// constants, infers the type and shape of every value, evaluates nodes whose inputs are constant (the results take the
/// value's own type, floats are rounded to float32), inlines `If` whose condition is known and removes dead nodes and
/// values. Afterwards every value is typed and static, no node has only constant inputs, and every node has an operator
/// that the reference evaluator knows. Refuses: unknown input names; shapes that contradict the model; an input
/// dimension that nothing binds (naming its symbol and the option to add); models all of whose outputs are missing, or
/// one that is asked for; operators that are unknown or get operands that they do not take; shapes that depend on data;
/// what would cost far more than the model's size (folder.hpp); more than 20000 nodes, 1024 inputs or 1024 outputs.
///
/// Where the options give an input other lengths than the source fixes, what was exported for these is written anew
/// (other_lengths.hpp; length_rows.cpp for rows), and the graph for the source's own is returned: its own lengths, or
/// its own rows where both change. Null otherwise.
std::shared_ptr<const graph> resolve(graph& g, const input_options& options);

/// Removes nodes and values of a resolved graph that no output needs.
void remove_unused(graph& g);

}
