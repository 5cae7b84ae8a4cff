// SPDX-License-Identifier: MIT
#pragma once
/// Functions of fixed-point numbers of 16 bits, value for value as TensorFlow Lite's LSTM on stored integers has them:
/// a number of m integer bits is its bits / 2^(15 - m), a result is in [-1, 1) by 2^15. exp is a polynomial of the
/// fourth degree around -1/8 and a product of powers; quotients are three steps of Newton's method.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include "graph/fixed_point.hpp"

namespace nsk::tool::fixed16 {

constexpr std::int64_t one = 32767;  // of results: 1 itself does not fit

constexpr std::int64_t saturated(std::int64_t x) { return std::clamp<std::int64_t>(x, -32768, 32767); }
/// Keeps 16 bits, as sums do that are not saturated.
constexpr std::int64_t wrapped(std::int64_t x) { return ((x + 32768) & 65535) - 32768; }

/// A product whose integer bits add up.
constexpr std::int64_t product(std::int64_t a, std::int64_t b) {
  if (a == -32768 && b == -32768) return 32767;
  const std::int64_t both = a * b;
  return (both + (both >= 0 ? 16384 : 1 - 16384)) / 32768;
}
/// x * 2^exponent, saturated or rounded.
constexpr std::int64_t scaled(std::int64_t x, int exponent) {
  return exponent >= 0 ? saturated(x * (std::int64_t{1} << exponent)) : rounded_shift(x, -exponent);
}
/// A real constant with `bits` integer bits.
inline std::int64_t constant(double real, int bits) {
  return static_cast<std::int64_t>(std::round(std::ldexp(real, 15 - bits)));
}

/// exp(x) of x <= 0 with `bits` integer bits.
inline std::int64_t exp_of_negative(std::int64_t x, int bits) {
  if (x == 0) return one;
  constexpr int max_narrow = 5;  // integer bits with which -32 is not reached
  const int fraction = 15 - bits;
  const std::int64_t quarter = std::int64_t{1} << (fraction - 2), below = (x & (quarter - 1)) - quarter;
  const std::int64_t t = wrapped(scaled(below, bits) + constant(0.125, 0)), t2 = product(t, t), t3 = product(t2, t),
                     t4 = product(t2, t2), at = constant(std::exp(-0.125), 0);
  const std::int64_t rest = scaled(product(scaled(t4, -2) + t3, constant(1.0 / 3, 0)) + t2, -1);
  std::int64_t result = saturated(at + product(at, wrapped(t + rest)));
  const std::int64_t quarters = wrapped(below - x);
  for (int power = -2; power <= 4; ++power)
    if (bits > power && (quarters & (std::int64_t{1} << (fraction + power))) != 0)
      result = product(result, constant(std::exp(-std::ldexp(1.0, power)), 0));
  if (bits > max_narrow && x < -(std::int64_t{32} << fraction)) return 0;
  return result;
}

/// 1 / (half of 1 + x), of x in [0, 1), with two integer bits.
inline std::int64_t reciprocal(std::int64_t x) {
  constexpr int bits = 2;
  const std::int64_t sum = x + one, half = sum >= 0 ? (sum + 1) / 2 : (sum - 1) / 2;
  std::int64_t y = wrapped(constant(48.0 / 17, bits) + product(half, constant(-32.0 / 17, bits)));
  for (int i = 0; i < 3; ++i) {
    const std::int64_t off = wrapped(constant(1, bits) - product(half, y));
    y = wrapped(y + scaled(product(y, off), bits));
  }
  return y;
}

inline std::int64_t logistic(std::int64_t x, int bits) {
  if (x == 0) return constant(0.5, 0);
  const std::int64_t positive = scaled(reciprocal(exp_of_negative(wrapped(-std::abs(x)), bits)), 1);
  return x > 0 ? positive : one - positive;
}

inline std::int64_t tanh(std::int64_t x, int bits) {
  if (x == 0) return 0;
  const std::int64_t e = exp_of_negative(-std::abs(x), bits + 1);
  const std::int64_t positive = scaled(wrapped(reciprocal(e) - constant(1, 2)), 2);
  return x > 0 ? positive : wrapped(-positive);
}

}
