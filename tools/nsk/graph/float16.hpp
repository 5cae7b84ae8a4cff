// SPDX-License-Identifier: MIT
#pragma once
/// The narrow floats of source models: IEEE binary16 and bfloat16 bits <-> float.
#include <cmath>
#include <cstdint>
#include <cstring>

namespace nsk::tool {

/// Returns the value of IEEE binary16 bits; exact.
inline float float_from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa != 0 ? std::nanf("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

/// Returns the value of bfloat16 bits; exact.
inline float float_from_bfloat(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

/// Returns the binary16 bits nearest to `v`, ties to even, overflow to infinity.
inline std::uint16_t half_from_double(double v) {
  const std::uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isnan(v)) return static_cast<std::uint16_t>(sign | 0x7e00);
  const double magnitude = std::fabs(v);
  if (magnitude == 0) return sign;  // it has no exponent
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00);
  int exponent = 0;
  std::frexp(magnitude, &exponent);                            // magnitude = m * 2^exponent, m in [0.5, 1)
  const int unit = exponent - 11 < -24 ? -24 : exponent - 11;  // exponent of the last bit kept
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));  // <= 2048
  // Steps count units of 2^unit: below 1024 the number is subnormal, and 2048 carries into the next exponent by itself.
  return static_cast<std::uint16_t>(sign | (static_cast<std::uint32_t>((unit + 24) << 10) + steps));
}

}
