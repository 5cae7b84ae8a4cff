// SPDX-License-Identifier: MIT
#pragma once
/// What a step's parameters tell whoever describes it, whatever its operator.
#include <optional>
#include <string>
#include <netsuke/format/step_view.hpp>

namespace nsk::tool {

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
