// SPDX-License-Identifier: MIT
#pragma once
/// Lengths that steps count: what they are for some inputs, by the evaluator alone.
#include <functional>
#include <map>
#include <string>
#include <vector>
#include "check/random_inputs.hpp"
#include "graph/graph.hpp"
#include "lengths/lengths.hpp"

namespace nsk::tool {

/// The model for values of its lengths. Throws impossible_count where steps cannot count so.
using graph_at = std::function<graph(const length_choice&)>;

/// A network for some lengths, and inputs on which it counts these.
struct counted_network {
  graph g;
  length_choice values;
  std::map<std::string, array> inputs;
};

/// How many inputs are tried until the source has a result on them.
constexpr int max_counting_attempts = 8;

/// Lengths of which those that steps count are as large as they can be.
length_choice bounds_of_counted(const std::vector<chosen_length>& lengths, length_choice values);

/// Evaluates the model on inputs for the chosen lengths of `values`, and finds the lengths that steps count. Inputs are
/// random in the shapes that `m` has, but for those in `given`; those on which the source has no result within the
/// limits of its lengths are left out. Throws undefined_result where there are no others.
counted_network counted_on_random(const graph_at& at, const std::vector<chosen_length>& lengths,
                                  const length_choice& values, const model& m, int variant, random_choice random,
                                  const std::map<std::string, array>& given);

}
