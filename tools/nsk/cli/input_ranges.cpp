// SPDX-License-Identifier: MIT
#include "cli/input_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/options.hpp"
#include "engine/model_file.hpp"
#include "errors.hpp"
#include "io/text.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

constexpr const char* range_key = "input_range.";
constexpr const char* hdr_key = "hdr.";
constexpr double largest_half = 65504;  // of the 16-bit floats that render targets have

/// "-1..1"; nothing where the text is no range.
bool read_range(const std::string& text, input_range& range) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return false;
  const auto read = [](const std::string& number, double& to) {
    char* end = nullptr;
    to = std::strtod(number.c_str(), &end);
    return !number.empty() && *end == '\0' && std::isfinite(static_cast<float>(to));
  };
  return read(text.substr(0, dots), range.low) && read(text.substr(dots + 2), range.high) && range.low < range.high;
}

}

input_ranges ranges_of(const source_options& o, const graph& g) {
  const model_changes changes = parse_changes(o.argmaxes, o.names);
  std::vector<std::string> known;
  for (const value_id v : g.inputs) known.push_back(g.values[static_cast<std::size_t>(v)].name);
  const auto changed = [&](const char* option, const std::string& name) {
    std::string found = new_name(changes, name);
    if (std::find(known.begin(), known.end(), found) == known.end())
      misuse(std::string(option) + " names '" + name + "', which is no input of the model." +
             did_you_mean(name, known) + " It has " + (known.empty() ? "none" : quoted(known)) + ".");
    return found;
  };
  input_ranges ranges;
  for (const auto& [name, text] : named_values("--input-range", o.input_ranges, "NAME=LO..HI"))
    if (!read_range(text, ranges[changed("--input-range", name)]))
      misuse("--input-range " + name + "=" + text + ": write two numbers, the smaller one first, as 0..1 or -1..1.");
  for (const std::string& name : o.hdr_inputs) {
    const auto [range, is_new] = ranges.emplace(changed("--hdr", name), input_range{0, largest_half, true});
    range->second.hdr = true;
  }
  return ranges;
}

void record_ranges(const input_ranges& ranges, std::map<std::string, std::string>& metadata) {
  for (const auto& [name, range] : ranges) {
    metadata[range_key + name] = format_text("%.9g..%.9g", range.low, range.high);
    if (range.hdr) metadata[hdr_key + name] = "1";
  }
}

input_ranges recorded_ranges(const model& m) {
  input_ranges ranges;
  for (const auto& [name, text] : recorded(m, hdr_key)) ranges[name].hdr = true;
  for (const auto& [name, text] : recorded(m, range_key))
    if (!read_range(text, ranges[name]))
      refuse("the file's '" + printable(range_key + name) + "' is no range. Convert the model again");
  return ranges;
}

}
