// SPDX-License-Identifier: MIT
#pragma once
/// Where random steps take their numbers from: a key and a place in its sequence, nothing that changes while a run
/// goes.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>

NSK_BEGIN
/// What the numbers of a run depend on, besides the step and the element that they are for.
struct random_source {
  std::uint64_t key = 0;        ///< of session::seed()
  std::uint32_t run = 0;        ///< inferences completed since then
  std::uint32_t first_row = 0;  ///< number of the first row: row r gets what row 0 would with first_row + r
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
