// SPDX-License-Identifier: MIT
#pragma once
/// Operators whose number of results is data. Where only a shape is asked for, they have as many rows as
/// `suppression_bound` says; an evaluation gives as many as there are.
#include "reference/operators.hpp"

namespace nsk::tool::reference {

/// Rows that a NonMaxSuppression always has, those that it does not keep being -1 (TensorFlow Lite).
inline constexpr char padded_rows[] = "nsk_rows";

/// Whether the values of all inputs are known.
inline bool knows_all(call& c) {
  for (std::size_t i = 0; i < c.input_count(); ++i)
    if (c.has(i) && c.input(i).data == nullptr) return false;
  return true;
}

}
