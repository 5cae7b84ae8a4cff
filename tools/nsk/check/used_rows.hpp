// SPDX-License-Identifier: MIT
#pragma once
/// Results whose number is data (bounded/lengths.hpp): the engine has as many rows as there can be at most, the
/// reference as many as there are.
#include <functional>
#include <map>
#include <string>
#include "graph/graph.hpp"

namespace nsk::tool {

/// Returns the first elements of `got` along every axis, as many as `shape` has; `got` itself where it is not longer
/// along every axis.
array used_part(const array& got, const shape_t& shape);

/// Evaluates `g` (reference/evaluator.hpp). Where results have as many rows as there are, an operator may get too few
/// of them: then the source has no result on these inputs (undefined_result).
std::map<std::string, array> evaluate_source(const graph& g, const std::map<std::string, array>& inputs,
                                             const std::function<void(const std::string&, array&)>& observe);

/// Returns what an output of the source is: of what was computed, or a constant; null where there is none.
const array* expected_of(const graph& g, const std::map<std::string, array>& computed, const std::string& name);

}
