// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

namespace nsk::tool {

/// An axis as nodes name it, where negative ones count from the end, counted from the start. It may not exist.
inline std::int64_t counted_from_start(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

}
