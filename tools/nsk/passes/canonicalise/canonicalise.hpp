// SPDX-License-Identifier: MIT
#pragma once
/// Graph -> program: one way to say each thing.
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "program/program.hpp"

namespace nsk::tool {

/// Rewrites a resolved graph (resolve/infer.hpp) in canonical operations. Refuses operators that the engine has no
/// kernel for, naming node, operator, opset and shapes.
/// Inputs and outputs that `states` names become states of the program.
[[nodiscard]] program canonicalise(const graph& g, const std::vector<state_link>& states = {});

/// Names of all operators that have a rule, sorted: "Conv", "com.microsoft.Gelu".
std::vector<std::string> operators_with_rules();

}
