// SPDX-License-Identifier: MIT
#pragma once
/// Ports of float32 for a model that stores integers (--float-io): it quantises its inputs and dequantises its outputs
/// itself, by the source's scales. What is between them stays as it is.
#include "graph/graph.hpp"

namespace nsk::tool {

/// Makes inputs and outputs of `g` that are quantised integers float32 ones of the same names, where one scale says
/// what they mean, and notes their scale and zero point in the facts. Other ports stay, and what the model keeps from
/// run to run. Refuses models without any.
void make_float_ports(graph& g);

}
