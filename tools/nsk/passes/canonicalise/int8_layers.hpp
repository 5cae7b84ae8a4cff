// SPDX-License-Identifier: MIT
#pragma once
/// What rules on stored integers share, where they are computed in float32.
#include <string>
#include "graph/integer_range.hpp"
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

/// The numbers of a type that the engine stores; refuses others.
integer_range range_of(const context& c, element t);
int cast_to(context& c, element type, int x, const std::string& suffix, int result = no_value);
/// a and b as the source rounds them: the operation is not folded into a neighbour.
int combine_exactly(context& c, binary_kind kind, int a, int b, const std::string& suffix, int result = no_value);
/// Refuses scales by which runtimes do not agree what is stored: what is not positive, or too small for every machine.
void require_scale(const context& c, double scale);
/// Real numbers, already in units of the result's scale and not rounded yet, as output `i` of the node.
void store(context& c, int units, int zero, std::size_t i);

}
