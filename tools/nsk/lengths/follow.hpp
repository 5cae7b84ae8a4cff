// SPDX-License-Identifier: MIT
#pragma once
/// One plan for many lengths: from plans of the same network for several values to numbers that follow them.
#include <vector>
#include "lengths/compare_plans.hpp"

namespace nsk::tool {

/// Gives `p`, a lowered plan for the bounds, its lengths, and every number of its tensors the terms with which it is
/// that of each of `others` for their values. Refuses plans that are not alike (compare_plans.hpp), and numbers that
/// are no sums of products of lengths, or of lengths divided by a whole number.
void follow_lengths(plan& p, const std::vector<chosen_length>& lengths, const std::vector<plan_of_choice>& others);

}
