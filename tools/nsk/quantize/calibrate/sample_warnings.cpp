// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>

#include "io/text.hpp"
#include "quantize/calibrate/samples.hpp"

namespace nsk::tool {
namespace {

/// Spread of an input's numbers, as a share of the largest magnitude, below which they hardly vary.
constexpr double min_spread = 0.05;

struct seen_range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::int64_t count = 0;
  double spread() const { return (high - low) / std::max({std::abs(low), std::abs(high), 1e-30}); }
};

seen_range range_of(const std::vector<sample>& samples, const std::string& name) {
  seen_range range;
  for (const sample& s : samples) {
    const array& a = s.at(name);
    for (std::int64_t i = 0; i < a.count(); ++i) {
      range.low = std::min(range.low, a.number(i));
      range.high = std::max(range.high, a.number(i));
    }
    range.count = a.count();
  }
  return range;
}

bool are_equal(const std::vector<sample>& samples) {
  return std::all_of(samples.begin(), samples.end(), [&](const sample& s) {
    return std::all_of(s.begin(), s.end(),
                       [&](const auto& input) { return input.second.data == samples.front().at(input.first).data; });
  });
}

/// What makes levels of images hardly vary.
std::string advice_on(const image_choices& how) {
  const auto counts_levels = [](const std::vector<float>& numbers) {
    return std::any_of(numbers.begin(), numbers.end(), [](float x) { return std::abs(x) > 4; });
  };
  if (!how.white && (counts_levels(how.mean) || counts_levels(how.deviation)))
    return ". --mean and --std are for levels from 0 to 255, but levels go from 0 to 1: add --white 255";
  return ". Give samples as the game will have them";
}

}

std::vector<std::string> warnings_of(const sample_set& set, const image_choices& how, const input_ranges& ranges) {
  std::vector<std::string> warnings;
  const std::vector<sample>& samples = set.samples;
  if (samples.empty()) return warnings;
  if (samples.size() == 1)
    warnings.push_back("--calibrate: one sample shows the ranges of one input. Give about 32 that differ");
  else if (are_equal(samples))
    warnings.push_back("--calibrate: the " + std::to_string(samples.size()) +
                       " samples are all the same. Give about 32 that differ");
  for (const auto& [name, first] : samples.front()) {
    if (!is_float(first.type)) continue;
    const seen_range seen = range_of(samples, name);
    const std::string text =
        "--calibrate: samples of '" + name + "' hold " + format_text("%.4g to %.4g", seen.low, seen.high);
    if (seen.count > 1 && seen.spread() < min_spread)
      warnings.push_back(text + ", which is hardly any range" + advice_on(how));
    const auto said = ranges.find(name);
    if (said != ranges.end() && (seen.low < said->second.low || seen.high > said->second.high))
      warnings.push_back(
          text + format_text(", and --input-range or --hdr says %g to %g", said->second.low, said->second.high));
  }
  return warnings;
}

}
