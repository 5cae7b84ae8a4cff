// SPDX-License-Identifier: MIT
#pragma once
/// One plan for many lengths: from plans of the same network for several values to numbers that follow them.
#include <vector>
#include "lengths/lengths.hpp"
#include "program/plan.hpp"

namespace nsk::tool {

/// A lowered plan of the network for some values of the lengths.
struct plan_of_choice {
  length_choice values;
  plan layout;
};

/// Gives `p`, a lowered plan for the bounds, its lengths, and every number of its tensors the terms with which it is
/// that of each of `others` for their values. Refuses, naming step or value, where one of them computes in other steps,
/// with other parameters or with other constants than the first elements of those of the bounds, and where numbers are
/// no sums of products of lengths, or of lengths divided by a whole number. Values of 1 are left out: axes of one
/// position are joined with others, and what the plan of the bounds does for them is what it does for more.
void follow_lengths(plan& p, const std::vector<chosen_length>& lengths, const std::vector<plan_of_choice>& others);

}
