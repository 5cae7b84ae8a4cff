// SPDX-License-Identifier: MIT
#pragma once
/// What a step's parameters tell whoever describes it, whatever its operator.
#include <optional>
#include <string>
#include <netsuke/format/step_view.hpp>
#include "write/schema.hpp"

namespace nsk::tool {

/// The enumeration of the schema that a field of parameters has the values of.
inline const char* enumeration(conv_algorithm) { return "ConvAlgorithm"; }
inline const char* enumeration(pool_kind) { return "PoolKind"; }
inline const char* enumeration(binary_kind) { return "BinaryKind"; }
inline const char* enumeration(reduce_kind) { return "ReduceKind"; }
inline const char* enumeration(compare_kind) { return "CompareKind"; }
inline const char* enumeration(scatter_kind) { return "ScatterKind"; }
inline const char* enumeration(arithmetic_kind) { return "ArithmeticKind"; }
inline const char* enumeration(arg_reduce_kind) { return "ArgReduceKind"; }
inline const char* enumeration(recurrent_kind) { return "RecurrentKind"; }
inline const char* enumeration(recurrent_function) { return "RecurrentFunction"; }
inline const char* enumeration(matrix_kind) { return "MatrixKind"; }
inline const char* enumeration(random_kind) { return "RandomKind"; }
inline const char* enumeration(tree_aggregate) { return "TreeAggregate"; }

/// Returns the name of an enumerator as the schema and the library spell it; "" for a number that is none.
template <class Kind>
std::string name_of_kind(Kind kind) {
  return enumerator_name(enumeration(kind), static_cast<int>(kind));
}

/// Returns the window of a convolution or pooling, nothing for other operators.
std::optional<window> window_of(const step_view& s);

/// Returns the variety of its operator that a step is, as the schema spells it: "winograd4", "max", "less_equal"; ""
/// for operators without varieties.
std::string variety_of(const step_view& s);

/// Returns the algorithm of a convolution; direct for other operators.
conv_algorithm algorithm_of(const step_view& s);

/// Returns the groups of a convolution; 1 for other operators.
int groups_of(const step_view& s);

}
