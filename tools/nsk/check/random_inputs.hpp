// SPDX-License-Identifier: MIT
#pragma once
/// Random inputs for a check: the source must be defined on them.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>
#include "graph/graph.hpp"
#include "graph/input_range.hpp"

#include <netsuke/model/model.hpp>

namespace nsk::tool {

/// Returns zeros for every input and then every state of a variant, by the source's names and in its axes.
std::vector<std::pair<std::string, array>> blank_inputs(const model& m, int variant = 0);

/// How much random inputs choose, where the number of results is data.
enum class fullness { usual, none, few, all };

/// Which random inputs to take. The same ones have the same values on every machine.
struct random_choice {
  std::uint64_t seed = 1;
  int attempt = 0;
  input_ranges ranges = {};
  fullness chosen = fullness::usual;
  bool plain = false;  ///< integers that nothing limits are 0 or 1, as masks are

  random_choice(std::uint64_t s = 1, int a = 0, input_ranges r = {}) : seed(s), attempt(a), ranges(std::move(r)) {}
};

/// Returns the same arrays in the shapes of the source's inputs: a state without dimensions has one in the engine.
std::map<std::string, array> in_source_shapes(const graph& g, std::map<std::string, array> inputs);

/// Returns values for every input and state of a variant, in the source's names and axes. Floats are uniform in the
/// range that the choice gives them, with `hdr` one of 4096, and the middle one, within it and the others between 0.01
/// and 0.11 of 1; without a range in [-1, 1), a power of two wider for each attempt after the first (0). What the
/// source `g` reads as an index is inside its axis, a divisor is not 0, a length is at least 1; integers that lead to
/// indices by computation are 0 or 1, others are between -4 and 4 (8-bit ones use their whole range); `plain` makes
/// these 0 or 1, and 1 where a row begins: what masks, lengths and flags may be. Floats that are cast to an index are
/// inside its axis. `none` makes all 0 where that is allowed, `few` all but one in sixteen, and `all` makes numbers at
/// least 0.5, whatever the ranges are.
std::map<std::string, array> random_inputs(const graph& g, const model& m, const random_choice& choice,
                                           int variant = 0);

/// Whether the choice of `plain` makes other inputs.
bool has_free_integers(const graph& g, const model& m, int variant = 0);

/// How random_inputs makes the numbers of an input, in words.
std::string describe_random(const random_choice& choice, const std::string& input);

}
