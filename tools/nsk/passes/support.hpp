// SPDX-License-Identifier: MIT
#pragma once
/// What imports, for people: the table of docs/reference/operators.md. A test holds it against the rules of the
/// canonicalisation.
#include <string>
#include <vector>

namespace nsk::tool {

/// Operators that share a line: what they become in the engine, and what is refused.
struct operator_support {
  std::vector<std::string> operators;
  std::string becomes, limits;
};

/// Every line of the table, by family.
const std::vector<operator_support>& supported_operators();

/// Every line of the table of operators of TensorFlow Lite models; they become ONNX's.
const std::vector<operator_support>& supported_tflite_operators();

/// Operators that have no kernel, but are folded where their inputs are constants or shapes; sorted.
std::vector<std::string> folded_operators();

/// docs/reference/operators.md.
std::string operators_page();

}
