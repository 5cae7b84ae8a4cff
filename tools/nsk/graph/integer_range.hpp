// SPDX-License-Identifier: MIT
#pragma once
/// The ranges of integers that stand for real numbers.
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

}
