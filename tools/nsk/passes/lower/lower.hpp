// SPDX-License-Identifier: MIT
#pragma once
/// Program -> plan: gives every value a place and a memory layout, and every operation its steps.
#include <map>
#include <string>
#include "program/plan.hpp"
#include "program/program.hpp"

namespace nsk::tool {

struct lower_options {
  bool winograd = true;  ///< allow F(4x4, 3x3) and F(2x2, 3x3), whose rounding differs from a direct convolution's
  std::map<std::string, conv_algorithm> algorithms;  ///< wanted for convolutions of that name
  bool joins_in_place = true;                        ///< parts of a concatenation are written where it lies
  int max_rounds = 64;                               ///< of lowering, until no operation asks for another layout
};

/// Lowers a fused program. Refuses what has no layout: more than six axes after merging, and operations that ask for
/// other layouts in every round.
[[nodiscard]] plan lower(const program& p, const lower_options& options);

/// The engine's name of an element type; refuses those that it does not have.
dtype dtype_of_element(element t);

}
