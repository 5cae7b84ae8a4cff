// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <cmath>
#include "graph/float16.hpp"
#include "graph/float8.hpp"

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

TEST_CASE("float8: largest, least and special numbers of each kind, as ONNX's page on them has them") {
  CHECK(float_from_bits(0x7e, e4m3fn) == 448);
  CHECK(float_from_bits(0x01, e4m3fn) == 0x1p-9f);
  CHECK(std::isnan(float_from_bits(0x7f, e4m3fn)));
  CHECK(float_from_bits(0xff - 1, e4m3fn) == -448);
  CHECK(float_from_bits(0x7f, e4m3fnuz) == 240);
  CHECK(std::isnan(float_from_bits(0x80, e4m3fnuz)));
  CHECK(float_from_bits(0x7b, e5m2) == 57344);
  CHECK(std::isinf(float_from_bits(0x7c, e5m2)));
  CHECK(std::isnan(float_from_bits(0x7d, e5m2)));
  CHECK(float_from_bits(0x01, e5m2fnuz) == 0x1p-17f);
  CHECK(float_from_bits(0x80, e8m0) == 2);
  CHECK(float_from_bits(0, e8m0) == 0x1p-127f);
  CHECK(float_from_bits(7, e2m1) == 6);
  CHECK(float_from_bits(0x9, e2m1) == -0.5f);
}
