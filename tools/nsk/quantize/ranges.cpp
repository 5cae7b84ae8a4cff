// SPDX-License-Identifier: MIT
#include "quantize/ranges.hpp"

#include <algorithm>
#include <cmath>

namespace nsk::tool {
namespace {

constexpr double min_scale = 0x1p-60, max_scale = 0x1p60;  // products and quotients of three stay normal floats

/// The scale by which 0 to 255 reach from `low` to `high`, with 0 on a byte.
byte_scale scale_between(double low, double high) {
  byte_scale s;
  if (high - low <= 0) return s;
  s.scale = static_cast<float>(std::clamp((high - low) / 255, min_scale, max_scale));
  s.zero = static_cast<int>(std::clamp(std::nearbyint(-low / static_cast<double>(s.scale)), 0.0, 255.0));
  return s;
}

/// The ends that leave `share` of the numbers out on either side.
byte_scale scale_without(const histogram& seen, double share) {
  const double outside = share * static_cast<double>(seen.count());
  double below = 0, low = 0, high = 0;
  bool begun = false;
  seen.for_each_bin([&](double x, std::uint64_t n) {
    below += static_cast<double>(n);
    if (!begun && below > outside) low = x, begun = true;
    if (static_cast<double>(seen.count()) - below >= outside) high = x;
  });
  return scale_between(std::min(low, 0.0), std::max(high, 0.0));
}

}

void histogram::widen_to(double magnitude) {
  while (magnitude >= m_width * half) {
    std::vector<std::uint64_t> wide(m_bins.size());
    const auto middle = static_cast<std::size_t>(half);
    for (std::size_t i = 0; i < m_bins.size(); ++i) {
      const std::size_t to = i < middle ? middle - 1 - (middle - 1 - i) / 2 : middle + (i - middle) / 2;
      wide[to] += m_bins[i];
    }
    m_bins = std::move(wide);
    m_width *= 2;
  }
}

bool histogram::add(const float* numbers, std::size_t count) {
  float low = 0, high = 0;
  bool finite = true;
  for (std::size_t i = 0; i < count; ++i) {
    low = std::min(low, numbers[i]);
    high = std::max(high, numbers[i]);
    finite = finite && std::isfinite(numbers[i]);
  }
  if (!finite) return false;
  const auto minimum = static_cast<double>(low), maximum = static_cast<double>(high);
  widen_to(std::max(-minimum, maximum));
  const double per_width = 1 / m_width;  // a power of two: exact
  for (std::size_t i = 0; i < count; ++i)
    ++m_bins[static_cast<std::size_t>(std::floor(static_cast<double>(numbers[i]) * per_width) + half)];
  m_minimum = std::min(m_minimum, minimum);
  m_maximum = std::max(m_maximum, maximum);
  m_count += count;
  return true;
}

double error_of(const histogram& seen, const byte_scale& s) {
  if (seen.count() == 0) return 0;
  double sum = 0;
  const auto scale = static_cast<double>(s.scale);
  seen.for_each_bin([&](double x, std::uint64_t n) {
    const double stored = std::clamp(std::nearbyint(x / scale) + s.zero, 0.0, 255.0);
    const double error = x - scale * (stored - s.zero);
    sum += error * error * static_cast<double>(n);
  });
  return sum / static_cast<double>(seen.count());
}

byte_scale scale_of(const histogram& seen, range_method method) {
  const byte_scale whole = scale_between(seen.minimum(), seen.maximum());
  if (method == range_method::minmax) return whole;
  if (method == range_method::percentile) return scale_without(seen, 1e-4);
  byte_scale best = whole;
  double min_error = error_of(seen, whole);
  for (int percent = 99; percent >= 20; --percent) {
    const double part = percent / 100.0;
    const byte_scale s = scale_between(seen.minimum() * part, seen.maximum() * part);
    const double error = error_of(seen, s);
    if (error < min_error) best = s, min_error = error;
  }
  return best;
}

}
