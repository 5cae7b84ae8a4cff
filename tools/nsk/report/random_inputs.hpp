// SPDX-License-Identifier: MIT
#pragma once
/// Random inputs for a check: the source must be defined on them.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>
#include "graph/graph.hpp"

#include <netsuke/model/model.hpp>

namespace nsk::tool {

/// Returns zeros for every input and then every state of a variant, by the source's names and in its axes.
std::vector<std::pair<std::string, array>> blank_inputs(const model& m, int variant = 0);

/// How much random inputs choose, where the number of results is data.
enum class fullness { usual, none, few, all };

/// Returns values for every input and state of a variant, in the source's names and axes. Floats are uniform in
/// [-1, 1), a power of two wider for each attempt after the first (0). What the source `g` reads as an index is
/// inside its axis, a divisor is not 0, a length is at least 1; integers that lead to indices by computation are 0 or
/// 1, others are between -4 and 4 (8-bit ones use their whole range). `none` makes all 0 where
/// that is allowed, `few` all but one in sixteen, and `all` makes numbers at least 0.5. The same arguments give the
/// same values on every machine.
std::map<std::string, array> random_inputs(const graph& g, const model& m, std::uint64_t seed, int variant = 0,
                                           int attempt = 0, fullness chosen = fullness::usual);

/// Returns the same arrays in the shapes of the source's inputs: a state without dimensions has one in the engine.
std::map<std::string, array> in_source_shapes(const graph& g, std::map<std::string, array> inputs);

/// How random_inputs makes its numbers, in words.
std::string describe_random(std::uint64_t seed);

}
