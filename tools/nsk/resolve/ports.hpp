// SPDX-License-Identifier: MIT
#pragma once
/// Inputs and outputs of a graph that is being resolved (infer.hpp).
#include "resolve/shapes/folder.hpp"
#include "resolve/lengths/input_options.hpp"

namespace nsk::tool {

/// Gives every input a static shape; inputs that the options set become constants. Refuses inputs that stay open.
void bind_inputs(graph& g, const input_options& options, folder& folds);
/// Warns of outputs whose operators make another shape than the source states: its exporter, or an edit, went wrong
/// somewhere.
void compare_declared(graph& g);

}
