// SPDX-License-Identifier: MIT
#pragma once
/// Inputs and outputs of more axes than a tensor of the engine has: their second axes become one, with a note. Elements
/// stay where they are.
#include "graph/graph.hpp"

namespace nsk::tool {

/// Puts an input of six axes and a Reshape in the place of each longer one. Shapes are known.
void join_axes_of_inputs(graph& g);

/// Puts a Reshape behind each longer output. Every node has been looked at.
void join_axes_of_outputs(graph& g);

}
