// SPDX-License-Identifier: MIT
#pragma once
/// Graph -> program: one way to say each thing.
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "program/program.hpp"

namespace nsk::tool {

/// What the kernels compute that a program is for.
enum class byte_kernels { present, absent };

/// Rewrites a resolved graph (resolve/infer.hpp) in canonical operations. Refuses operators that the engine has no
/// kernel for, naming node, operator, opset and shapes.
/// Inputs and outputs that `states` names become states of the program. Without kernels on bytes, layers of stored
/// integers are computed by floats, with the same results. Of a model with lengths `bounds` is the graph for their
/// bounds: operations are then the same for all lengths.
[[nodiscard]] program canonicalise(const graph& g, const std::vector<state_link>& states = {},
                                   byte_kernels bytes = byte_kernels::present, const graph* bounds = nullptr);

/// Names of all operators that have a rule, sorted: "Conv", "com.microsoft.Gelu".
std::vector<std::string> operators_with_rules();

}
