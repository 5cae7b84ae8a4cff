// SPDX-License-Identifier: MIT
#include "cli/options.hpp"

#include <charconv>
#include <cstdlib>
#include <set>

#include "errors.hpp"
#include "graph/names.hpp"

namespace nsk::tool {
namespace {

// Metadata keys of changes.
const std::string argmax_prefix = "argmax.", rename_prefix = "rename.";
constexpr char swish_key[] = "swish", hard_swish[] = "hard", soft_swish[] = "soft";

/// "1x3x224x224" -> lengths; "scalar" is the shape without dimensions.
shape_t parse_shape(const std::string& name, const std::string& text) {
  shape_t shape;
  if (text == "scalar") return shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::int64_t length = 0;
    const auto [stop, failed] = std::from_chars(at, end, length);
    if (failed != std::errc{} || length < 0 || (stop != end && *stop != 'x'))
      misuse("--input " + name + "=" + text + ": a shape looks like 1x3x224x224.");
    shape.push_back(length);
    if (stop == end) return shape;
    at = stop + 1;
  }
}

double parse_number(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') misuse("--set " + name + "=" + text + ": the value must be a number.");
  return value;
}

}

model_changes parse_changes(const std::vector<std::string>& argmaxes, const std::vector<std::string>& names) {
  model_changes changes;
  for (const std::string& text : argmaxes) {
    const std::size_t at = text.rfind('=');
    const std::string name = text.substr(0, at);
    if (name.empty()) misuse("--argmax " + text + ": write it as NAME, or NAME=AXIS.");
    if (!changes.argmaxes.emplace(name, at == std::string::npos ? "" : text.substr(at + 1)).second)
      misuse("--argmax " + text + ": this name was given twice.");
  }
  std::set<std::string> taken;
  for (const auto& [from, to] : named_values("--rename", names, "OLD=NEW")) {
    if (to.empty()) misuse("--rename " + from + "=: the new name is empty.");
    require_name(to, "--rename " + from + ": the new name");
    if (!taken.insert(to).second) misuse("--rename " + from + "=" + to + ": this new name was given twice.");
    changes.names[from] = to;
  }
  return changes;
}

void record_changes(const model_changes& changes, std::map<std::string, std::string>& metadata) {
  if (changes.swish != swish_change::none)
    metadata[swish_key] = changes.swish == swish_change::to_hard ? hard_swish : soft_swish;
  for (const auto& [name, axis] : changes.argmaxes) metadata[argmax_prefix + name] = axis;
  for (const auto& [from, to] : changes.names) metadata[rename_prefix + from] = to;
}

model_changes recorded_changes(const model& m) {
  model_changes changes;
  for (int i = 0; i < m.metadata_count(); ++i) {
    const std::string key = m.metadata_key(i), text = m.metadata_value(i);
    if (key == swish_key) changes.swish = text == hard_swish ? swish_change::to_hard : swish_change::to_soft;
    if (key.rfind(argmax_prefix, 0) == 0) changes.argmaxes[key.substr(argmax_prefix.size())] = text;
    if (key.rfind(rename_prefix, 0) == 0) changes.names[key.substr(rename_prefix.size())] = text;
  }
  return changes;
}

std::map<std::string, std::string> named_values(const std::string& option, const std::vector<std::string>& values,
                                                const char* form) {
  std::map<std::string, std::string> result;
  for (const std::string& value : values) {
    const std::size_t at = value.rfind('=');
    if (at == std::string::npos || at == 0) misuse(option + " " + value + ": write it as " + form + ".");
    if (!result.emplace(value.substr(0, at), value.substr(at + 1)).second)
      misuse(option + " " + value + ": this name was given twice.");
  }
  return result;
}

std::map<std::string, std::int64_t> parse_bounds(const std::vector<std::string>& bounds) {
  constexpr std::int64_t maximum = std::int64_t{1} << 20;  // float32 divides exactly enough to count so far
  std::map<std::string, std::int64_t> result;
  for (const auto& [name, text] : named_values("--bound", bounds, "NAME=COUNT")) {
    std::int64_t& count = result[name];
    const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (failed != std::errc{} || stop != text.data() + text.size() || count < 1 || count > maximum)
      misuse("--bound " + name + "=" + text + ": COUNT is a whole number from 1 to " + std::to_string(maximum) + ".");
  }
  return result;
}

input_options parse_inputs(const std::vector<std::string>& inputs, const std::vector<std::string>& sets) {
  input_options result;
  for (const auto& [name, text] : named_values("--input", inputs, "NAME=1x3x224x224"))
    result.shapes[name] = parse_shape(name, text);
  for (const auto& [name, text] : named_values("--set", sets, "NAME=VALUE"))
    result.set[name] = parse_number(name, text);
  return result;
}

}
