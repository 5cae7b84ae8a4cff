// SPDX-License-Identifier: MIT
#pragma once
/// Writes runs of operations out as their bands.
#include <vector>
#include "passes/stream/bands.hpp"

namespace nsk::tool {

struct banded_run {
  operation_run run;
  std::vector<band> bands;
};

/// Puts the operations of each band, with slices of what they read and joins of what is kept with what is added, in
/// the place of each run; runs are in order. The last results of the bands are joined to the run's result.
void put_into_bands(program& p, const std::vector<banded_run>& runs);

}
