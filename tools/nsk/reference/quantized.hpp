// SPDX-License-Identifier: MIT
#pragma once
/// What the operators on stored integers share.
#include <cstdint>
#include "graph/integer_range.hpp"

namespace nsk::tool::reference {

/// Returns zero_point + units, rounded half to even and kept within the range; its lower limit for NaN.
std::int64_t stored(float units, std::int64_t zero_point, integer_range range);

}
