// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <cmath>
#include "graph/float16.hpp"

using namespace nsk::tool;

TEST_CASE("float16: every number goes to itself, zeros with their sign") {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_from_half(half);
    if (std::isnan(value)) continue;
    CAPTURE(bits);
    REQUIRE(half_from_double(value) == half);
  }
}

TEST_CASE("float16: to nearest, ties to even, subnormal, too small and too large") {
  CHECK(half_from_double(1 + 0x1p-11) == 0x3c00);
  CHECK(half_from_double(1 + 3 * 0x1p-11) == 0x3c02);
  CHECK(half_from_double(0x1p-25) == 0);
  CHECK(half_from_double(-0x1.8p-25) == 0x8001);
  CHECK(half_from_double(65519.9) == 0x7bff);
  CHECK(half_from_double(65520) == 0x7c00);
}
