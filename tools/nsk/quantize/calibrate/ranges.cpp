// SPDX-License-Identifier: MIT
#include "quantize/calibrate/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nsk::tool {
namespace {

constexpr double min_scale = 0x1p-60, max_scale = 0x1p60;  // products and quotients of three stay normal floats

/// The ends that leave `share` of the numbers out on either side.
byte_scale scale_without(const histogram& seen, double share) {
  const double outside = share * static_cast<double>(seen.count());
  const double half_width = seen.width() / 2;
  double below = 0, low = 0, high = 0;
  bool begun = false, ended = false;
  seen.for_each_bin([&](double x, std::uint64_t n) {
    below += static_cast<double>(n);
    if (!begun && below > outside) low = x - half_width, begun = true;
    if (!ended && static_cast<double>(seen.count()) - below <= outside) high = x + half_width, ended = true;
  });
  return scale_between(std::clamp(low, seen.minimum(), 0.0), std::clamp(high, 0.0, seen.maximum()));
}

constexpr std::size_t kl_bins = 2048, kl_levels = 128;
constexpr std::uint64_t min_counted = 8 * kl_bins;  // of fewer numbers any levels are like the bins

/// Magnitudes in bins of one width up to the largest; a bin that is in two of them belongs to each by its share.
std::vector<double> magnitudes_of(const histogram& seen, double largest) {
  std::vector<double> bins(kl_bins);
  const double per_width = static_cast<double>(kl_bins) / largest, half_width = seen.width() / 2;
  seen.for_each_bin([&](double x, std::uint64_t n) {
    const double from = (std::abs(x) - half_width) * per_width, to = (std::abs(x) + half_width) * per_width;
    const double last = static_cast<double>(kl_bins) - 1;
    const double first_bin = std::min(std::floor(from), last), second_bin = std::min(std::floor(to), last);
    const double share = first_bin == second_bin ? 0 : (to - second_bin) / (to - from);
    bins[static_cast<std::size_t>(first_bin)] += (1 - share) * static_cast<double>(n);
    bins[static_cast<std::size_t>(second_bin)] += share * static_cast<double>(n);
  });
  bins[0] = bins[1];  // zeros, of which Relu makes many, are stored exactly
  return bins;
}

/// Sums of what is before each bin.
struct bins_before {
  std::vector<double> count, p_log_p;
  std::vector<std::size_t> used;  ///< bins that are not empty
  explicit bins_before(const std::vector<double>& bins) : count{0}, p_log_p{0}, used{0} {
    for (const double p : bins) {
      count.push_back(count.back() + p);
      p_log_p.push_back(p_log_p.back() + (p > 0 ? p * std::log(p) : 0));
      used.push_back(used.back() + (p > 0 ? 1 : 0));
    }
  }
};

/// The divergence of the first `size` bins, the last of which has all that is beyond, from levels of equal width whose
/// counts their bins share. Infinite where a level is empty and its bin is not.
double divergence(const std::vector<double>& bins, const bins_before& before, std::size_t size) {
  const double all = before.count.back(), beyond = all - before.count[size], last = bins[size - 1];
  const bool is_new = last == 0 && beyond > 0;  // a bin that only what is beyond fills
  double sum = before.p_log_p[size - 1] + (last + beyond > 0 ? (last + beyond) * std::log(last + beyond) : 0);
  for (std::size_t level = 0; level < kl_levels; ++level) {
    const std::size_t from = level * size / kl_levels, to = (level + 1) * size / kl_levels;
    const bool has_last = level + 1 == kl_levels;
    const double stored = before.count[to] - before.count[from], p = stored + (has_last ? beyond : 0);
    if (p == 0) continue;
    if (stored == 0) return std::numeric_limits<double>::infinity();
    const auto used = static_cast<double>(before.used[to] - before.used[from] + (has_last && is_new ? 1 : 0));
    sum -= p * std::log(stored / used);
  }
  return sum / all + std::log(before.count[size] / all);
}

byte_scale scale_of_levels(const histogram& seen) {
  const double largest = std::max(-seen.minimum(), seen.maximum());
  if (seen.count() == 0 || largest <= 0) return {};
  const std::vector<double> bins = magnitudes_of(seen, largest);
  const bins_before before(bins);
  std::size_t best = kl_bins;
  double min_divergence = divergence(bins, before, best);
  for (std::size_t size = kl_bins - 1; size >= kl_levels; --size) {
    const double d = divergence(bins, before, size);
    if (d < min_divergence) best = size, min_divergence = d;
  }
  const double limit = largest * static_cast<double>(best) / static_cast<double>(kl_bins);
  return scale_between(std::max(seen.minimum(), -limit), std::min(seen.maximum(), limit));
}

}

byte_scale scale_between(double low, double high) {
  byte_scale s;
  if (high - low <= 0) return s;
  s.scale = static_cast<float>(std::clamp((high - low) / 255, min_scale, max_scale));
  s.zero = static_cast<int>(std::clamp(std::nearbyint(-low / static_cast<double>(s.scale)), 0.0, 255.0));
  return s;
}

bool histogram::set(double width, double minimum, double maximum, std::size_t first_bin,
                    const std::vector<std::uint64_t>& bins) {
  int exponent = 0;
  constexpr int min_exponent = -39, max_exponent = 128;  // of a half to 1 times a power of two
  if (std::frexp(width, &exponent) != 0.5 || exponent < min_exponent || exponent > max_exponent) return false;
  if (!(minimum <= 0 && maximum >= 0 && std::max(-minimum, maximum) < width * half)) return false;
  if (first_bin > m_bins.size() || bins.size() > m_bins.size() - first_bin) return false;
  m_bins.assign(m_bins.size(), 0);
  m_count = 0;
  constexpr std::uint64_t max_count = std::uint64_t{1} << 53;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i] > max_count || m_count > max_count) return false;
    m_bins[first_bin + i] = bins[i];
    m_count += bins[i];
  }
  m_width = width;
  m_minimum = minimum;
  m_maximum = maximum;
  return m_count > 0;
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
  if (method == range_method::kl && seen.count() >= min_counted) return scale_of_levels(seen);
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
