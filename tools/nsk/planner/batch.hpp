// SPDX-License-Identifier: MIT
#pragma once
/// A batch bound: which tensors of a plan have rows, and the proof that no step takes rows together.
#include <set>
#include <string>
#include "program/plan.hpp"

namespace nsk::tool {

/// Sets plan::batch and plan_tensor::batch of a lowered plan whose inputs named in `inputs` have `rows` rows (at least
/// 2) along their first source axis. Refuses, naming the step and the reason, where a row of a result would depend on
/// another row of an input, or where rows are not one behind the other in memory.
void bind_batch(plan& p, int rows, const std::set<std::string>& inputs);

}
