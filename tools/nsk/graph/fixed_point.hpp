// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of TensorFlow Lite's kernels on stored integers, value for value: Jacob et al., Quantization and Training
/// of Neural Networks for Efficient Integer-Arithmetic-Only Inference, 2018.
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace nsk::tool {

/// floor(x / 2^bits).
constexpr std::int64_t floor_shift(std::int64_t x, int bits) {
  const std::int64_t step = std::int64_t{1} << bits, below = ((x % step) + step) % step;
  return (x - below) / step;
}
/// x / 2^bits, halves away from 0.
constexpr std::int64_t rounded_shift(std::int64_t x, int bits) {
  const std::int64_t half = bits > 0 ? std::int64_t{1} << (bits - 1) : 0;
  return x >= 0 ? (x + half) >> bits : -((-x + half) >> bits);
}

/// A product with a real number as TensorFlow Lite has it: 31 bits and a power of two, rounded twice.
class fixed_point_multiplier {
 public:
  explicit fixed_point_multiplier(double real) {
    const double fraction = std::frexp(real, &m_exponent);
    m_fraction = static_cast<std::int64_t>(std::round(fraction * 2147483648.0));
    if (m_fraction == std::int64_t{1} << 31) m_fraction /= 2, ++m_exponent;
    if (m_exponent < -31) m_fraction = m_exponent = 0;
  }
  std::int64_t of(std::int64_t x) const {
    const std::int64_t product = x * (std::int64_t{1} << std::max(m_exponent, 0)) * m_fraction;
    // the first rounding takes halves upwards
    const std::int64_t nudged = product + (product >= 0 ? std::int64_t{1} << 30 : 1 - (std::int64_t{1} << 30));
    return rounded_shift(nudged / (std::int64_t{1} << 31), std::max(-m_exponent, 0));
  }
  int exponent() const { return m_exponent; }
  std::int64_t fraction() const { return m_fraction; }  ///< in 31 bits
  /// The fraction in 16 bits.
  std::int64_t fraction16() const { return std::min<std::int64_t>((m_fraction + 32768) >> 16, 32767); }

 private:
  std::int64_t m_fraction = 0;
  int m_exponent = 0;
};

/// HARD_SWISH in 16 bits.
class hard_swish_multipliers {
 public:
  hard_swish_multipliers(float x_scale, float y_scale)
      : m_result(static_cast<double>(x_scale / 128 / y_scale)),
        m_reluish(static_cast<double>(x_scale / 128 / (3.0f / 32768))) {}
  std::int64_t of(std::int64_t x) const {
    const std::int64_t fine = x * 128, before = doubled_product(fine, m_result.fraction16(), true);
    std::int64_t reluish = fine;
    const int exponent = m_reluish.exponent();
    if (exponent > 0) reluish = saturated(reluish * (std::int64_t{1} << (exponent - 1)));
    reluish = doubled_product(reluish, m_reluish.fraction16(), true);
    if (exponent > 0) reluish = saturated(reluish * 2);
    if (exponent < 0) reluish = rounded_shift(reluish, -exponent);
    reluish = floor_shift(reluish + 32768, 1);
    return rounded_shift(doubled_product(reluish, before, false), std::max(-m_result.exponent(), 0));
  }
  /// Whether the kernel can compute it: its last step divides.
  bool is_valid() const { return m_result.exponent() <= 0; }

 private:
  static std::int64_t saturated(std::int64_t x) { return std::clamp<std::int64_t>(x, -32768, 32767); }
  static std::int64_t doubled_product(std::int64_t a, std::int64_t b, bool rounds) {
    const std::int64_t product = a * b, nudge = !rounds ? 0 : product >= 0 ? 16384 : 1 - 16384;
    return saturated((product + nudge) / 32768);
  }

  fixed_point_multiplier m_result, m_reluish;
};

}
