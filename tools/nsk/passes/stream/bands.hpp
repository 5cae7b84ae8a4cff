// SPDX-License-Identifier: MIT
#pragma once
/// Which rows of the values of a run each band computes, keeps and reads.
#include <map>
#include <vector>
#include "passes/stream/rows.hpp"

namespace nsk::tool {

/// Operations [first, end) of a program, of which only the last one's result is read by others.
struct operation_run {
  std::size_t first = 0, end = 0;
  std::size_t count() const { return end - first; }
};

/// What one band does with a value of the run.
struct band_rows {
  row_range added;   ///< rows that it computes
  row_range window;  ///< rows that are there afterwards: some that bands before computed, then the added ones
};
using band = std::map<int, band_rows>;  ///< by value

/// Returns the bands of a run whose last result gets `rows` rows in each but the first ones, which compute what is
/// needed above. Every row of every value is added once.
std::vector<band> bands_of(const program& p, operation_run run, std::int64_t rows);

}
