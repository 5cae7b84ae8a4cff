// SPDX-License-Identifier: MIT
#pragma once
/// Integers that stand for real numbers: their ranges, and what computes with them.
#include <cstdint>
#include <optional>
#include "graph/array.hpp"

namespace nsk::tool {

/// Lowest and highest number of an integer type.
struct integer_range {
  std::int64_t low, high;
};

/// Returns the range of a type in which real numbers are stored, 8- and 16-bit integers; nothing for other types.
constexpr std::optional<integer_range> range_of_stored(element t) {
  switch (t) {
    case element::i8: return integer_range{-128, 127};
    case element::u8: return integer_range{0, 255};
    case element::i16: return integer_range{-32768, 32767};
    case element::u16: return integer_range{0, 65535};
    default: return std::nullopt;
  }
}

/// Input channels of a group that a convolution of stored integers has at least, depthwise ones aside: with fewer, most
/// of a quad is empty.
inline constexpr std::int64_t min_group_channels = 4;

}
