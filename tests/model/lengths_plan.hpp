// SPDX-License-Identifier: MIT
#pragma once
/// The policy of policy_plan.hpp with a length in the place of its batch.
#include "policy_plan.hpp"

namespace test {

inline constexpr std::uint8_t no_length = 255, offset_number = 12;

/// Every tensor with rows has as many as the length "rows"; rows are one behind the other.
inline plan_spec make_lengths() {
  plan_spec p = make_policy();
  p.batch = 0;
  p.lengths = {{"rows", 1, policy_rows}};
  for (tensor_spec& t : p.tensors) {
    if (t.batch != 0) t.terms = {format::Term(t.batch, 0, 0, no_length, no_length)};
    t.batch = 0;
  }
  return p;
}

}
