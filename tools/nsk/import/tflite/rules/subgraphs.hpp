// SPDX-License-Identifier: MIT
#pragma once
/// Graphs of the file that take the place of the operator that runs them.
#include <string>
#include <vector>
#include "import/tflite/rules/call.hpp"

namespace nsk::tool::tflite {

/// What a graph inside is given and gives back: a value, or the name of a resource.
struct argument {
  value_id v = no_value;
  variable_id resource = no_variable;
  value_id stored = no_value;             ///< the integers, where it is stored as such
  const tflite_tensor* tensor = nullptr;  ///< that it is of
};
using arguments = std::vector<argument>;

/// Translates graph `number` of the file in the place of the operator at hand, and returns its outputs. `what` is what
/// messages call it, `label` what its values are named after. Refuses graphs that run themselves, arguments of another
/// shape or type than the graph takes, and more graphs inside than fit into 64 MiB.
arguments run_graph(call& c, int number, const arguments& given, const std::string& what, const std::string& label);

/// Counts operators that take the place of one against the same limit.
void count_placed(call& c, std::size_t operators);

}
