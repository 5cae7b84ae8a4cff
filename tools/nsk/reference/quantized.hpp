// SPDX-License-Identifier: MIT
#pragma once
/// What the operators on stored integers share.
#include <cstdint>
#include "graph/array.hpp"

namespace nsk::tool::reference {

/// Lowest and highest number of an integer type.
struct integer_range {
  std::int64_t low, high;
};

/// Whether numbers are stored in `t`: 8- and 16-bit integers.
bool is_narrow_integer(element t);
integer_range range_of(element t);

/// Returns zero_point + units, rounded half to even and kept within the range; its lower limit for NaN.
std::int64_t stored(float units, std::int64_t zero_point, integer_range range);

}
