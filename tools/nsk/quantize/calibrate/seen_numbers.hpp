// SPDX-License-Identifier: MIT
#pragma once
/// The numbers of one tensor as a report shows them: a few bins, and the range that is stored.
#include <cstdint>
#include <string>
#include <vector>
#include "quantize/calibrate/ranges.hpp"

namespace nsk::tool {

struct seen_numbers {
  std::string name;
  double minimum = 0, maximum = 0;  ///< what was seen, and 0
  double first = 0, width = 0;      ///< lower end of the first bin, and width of each
  std::vector<std::uint64_t> bins;  ///< at most 64; empty where nothing was seen
  std::uint64_t count = 0;
  bool is_stored = false;
  double low = 0, high = 0;  ///< the range of what is stored
  double outside = 0;        ///< share of the numbers that are beyond the range, and become its ends

  /// Notes the range that `step` divides, and how much of what was `seen` is beyond it by more than half a step.
  void set_range(const histogram& seen, double lowest, double highest, double step);
};

/// Merges neighbouring bins of a histogram until 64 are enough.
seen_numbers numbers_of(const histogram& seen);

}
