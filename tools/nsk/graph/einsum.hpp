// SPDX-License-Identifier: MIT
#pragma once
/// The equation of ONNX's Einsum, read once for the reference evaluator and the canonicalisation.
#include <string>
#include <vector>
#include "graph/graph.hpp"

namespace nsk::tool {

/// One label per axis: a letter, or 256 + i for the axis that an ellipsis has i places from its end.
using axis_labels = std::vector<int>;

struct einsum_equation {
  std::vector<axis_labels> inputs;
  axis_labels output;
};

/// Reads the attribute `equation` for inputs of these shapes. Refuses what ONNX does not define, shapes that do not
/// fit, and outputs with labels that no input has; messages begin with `who`, the description of the node.
einsum_equation einsum_equation_of(const node& n, const std::vector<shape_t>& shapes, const std::string& who);

/// The length of `label` over all inputs: what is 1 in one of them repeats.
std::int64_t length_of(const einsum_equation& e, const std::vector<shape_t>& shapes, int label);

}
