// SPDX-License-Identifier: MIT
#pragma once
/// Which real numbers the 256 bytes of a tensor stand for, from what was seen of it.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nsk::tool {

/// How a range is chosen: all that was seen; the least mean squared error of what is stored; without the outermost
/// hundredth of a per cent; or the least Kullback-Leibler divergence of magnitudes in 2048 bins from 128 levels of them
/// (S. Migacz, "8-bit inference with TensorRT", GTC 2017), where 16384 numbers
/// were seen, else as mse.
enum class range_method { minmax, mse, percentile, kl };

/// Counts numbers in bins of one width, a power of two that grows with them.
class histogram {
 public:
  /// Counts numbers. Returns false where one is not finite; then none of them count.
  bool add(const float* numbers, std::size_t count);
  double minimum() const { return m_minimum; }
  double maximum() const { return m_maximum; }
  std::uint64_t count() const { return m_count; }
  double width() const { return m_width; }  ///< of a bin
  const std::vector<std::uint64_t>& bins() const { return m_bins; }
  /// Makes it what another one was, whose bins from `first_bin` on are given. Returns false where there is none such.
  bool set(double width, double minimum, double maximum, std::size_t first_bin, const std::vector<std::uint64_t>& bins);

  /// Calls f(number in the middle of a bin, how many) for the bins that are not empty, upwards.
  template <class F>
  void for_each_bin(F f) const {
    for (std::size_t i = 0; i < m_bins.size(); ++i)
      if (m_bins[i] != 0) f((static_cast<double>(i) + 0.5 - half) * m_width, m_bins[i]);
  }

 private:
  static constexpr double half = 4096;  ///< bins on either side of 0
  void widen_to(double magnitude);

  std::vector<std::uint64_t> m_bins = std::vector<std::uint64_t>(static_cast<std::size_t>(2 * half));
  double m_width = 0x1p-40, m_minimum = 0, m_maximum = 0;
  std::uint64_t m_count = 0;
};

/// How bytes store real numbers: real = scale * (stored - zero). The scale is a normal float.
struct byte_scale {
  float scale = 1;
  int zero = 0;
};

/// The scale by which 0 to 255 reach from `low`, at most 0, to `high`, at least 0, with 0 on a byte; 1 where both are
/// 0.
byte_scale scale_between(double low, double high);

/// The scale of a tensor; 0 is stored exactly. A tensor of zeros has the scale 1.
byte_scale scale_of(const histogram& seen, range_method method);

/// The mean squared error of storing what was seen by a scale.
double error_of(const histogram& seen, const byte_scale& s);

}
