// SPDX-License-Identifier: MIT
#pragma once
/// Operators on stored integers of ONNX Runtime's own domain, which onnxruntime.quantization writes with
/// QuantFormat.QOperator: what they mean is DequantizeLinear, an operator of ONNX, QuantizeLinear.
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "resolve/node_placer.hpp"

namespace nsk::tool {

/// Puts the three in the place of `n`, where it is such an operator. Returns whether it was. Refuses missing inputs and
/// images whose channels are last.
bool spell_out_stored_operator(const graph& g, const node& n, node_placer& placer);

/// The operators, with their domain in front; sorted.
std::vector<std::string> stored_operators();

}
