// SPDX-License-Identifier: MIT
#pragma once
/// Floats of 8 and 4 bits, which constants may be stored as, widened.
#include <cmath>
#include <cstdint>
#include <limits>

namespace nsk::tool {

/// How such a float is made of a sign, an exponent and a mantissa (onnx/docs, "Float stored in 8 bits").
struct small_float {
  int exponent_bits, mantissa_bits, bias;
  bool has_sign = true;
  bool has_infinity = false;          ///< the last exponent is infinity and not-a-number, as in IEEE 754
  bool negative_zero_is_nan = false;  ///< and nothing else is
  bool all_ones_is_nan = false;       ///< and nothing else is
};
inline constexpr small_float e4m3fn = {4, 3, 7, true, false, false, true};
inline constexpr small_float e4m3fnuz = {4, 3, 8, true, false, true, false};
inline constexpr small_float e5m2 = {5, 2, 15, true, true, false, false};
inline constexpr small_float e5m2fnuz = {5, 2, 16, true, false, true, false};
inline constexpr small_float e8m0 = {8, 0, 127, false, false, false, true};
inline constexpr small_float e2m1 = {2, 1, 1, true, false, false, false};

/// Returns the number that `bits` stand for; float32 holds each of them.
inline float float_from_bits(unsigned bits, const small_float& f) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const unsigned width = static_cast<unsigned>(f.exponent_bits + f.mantissa_bits), mask = (1U << width) - 1;
  const bool negative = f.has_sign && ((bits >> width) & 1U) != 0;
  const unsigned magnitude = bits & mask, mantissa = magnitude & ((1U << f.mantissa_bits) - 1);
  const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  if (f.negative_zero_is_nan && negative && magnitude == 0) return nan;
  if (f.all_ones_is_nan && magnitude == mask) return nan;
  if (f.has_infinity && exponent == (1 << f.exponent_bits) - 1) {
    const float infinity = std::numeric_limits<float>::infinity();
    return mantissa != 0 ? nan : negative ? -infinity : infinity;
  }
  const bool normal = exponent != 0 || !f.has_sign;  // without a sign there is no zero, so none is subnormal
  const double fraction = std::ldexp(static_cast<double>(mantissa), -f.mantissa_bits) + (normal ? 1 : 0);
  const double value = std::ldexp(fraction, (normal ? exponent : 1) - f.bias);
  return static_cast<float>(negative ? -value : value);
}

}
