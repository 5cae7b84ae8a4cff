// SPDX-License-Identifier: MIT
#include "quantize/calibrate/seen_numbers.hpp"

#include <algorithm>
#include <cmath>

namespace nsk::tool {

seen_numbers numbers_of(const histogram& seen) {
  constexpr double max_bins = 64;
  seen_numbers result;
  result.minimum = seen.minimum();
  result.maximum = seen.maximum();
  result.count = seen.count();
  double first = 0, last = 0;  // the middles of the outermost bins that are not empty
  bool begun = false;
  seen.for_each_bin([&](double x, std::uint64_t) {
    if (!begun) first = x;
    begun = true;
    last = x;
  });
  if (!begun) return result;
  const double merged = std::ceil((std::nearbyint((last - first) / seen.width()) + 1) / max_bins);
  result.first = first - seen.width() / 2;
  result.width = merged * seen.width();
  seen.for_each_bin([&](double x, std::uint64_t n) {
    const auto bin = static_cast<std::size_t>((x - result.first) / result.width);
    result.bins.resize(std::max(result.bins.size(), bin + 1));
    result.bins[bin] += n;
  });
  return result;
}

void seen_numbers::set_range(const histogram& seen, double lowest, double highest, double step) {
  is_stored = true;
  low = lowest;
  high = highest;
  double beyond = 0;
  seen.for_each_bin([&](double middle, std::uint64_t n) {
    const double x = std::clamp(middle, seen.minimum(), seen.maximum());
    if (x < low - step / 2 || x > high + step / 2) beyond += static_cast<double>(n);
  });
  outside = count == 0 ? 0 : beyond / static_cast<double>(count);
}

}
