// SPDX-License-Identifier: MIT
#include "cli/options.hpp"

#include <charconv>
#include <cstdlib>

#include "errors.hpp"

namespace nsk::tool {
namespace {

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

input_options parse_inputs(const std::vector<std::string>& inputs, const std::vector<std::string>& sets) {
  input_options result;
  for (const auto& [name, text] : named_values("--input", inputs, "NAME=1x3x224x224"))
    result.shapes[name] = parse_shape(name, text);
  for (const auto& [name, text] : named_values("--set", sets, "NAME=VALUE"))
    result.set[name] = parse_number(name, text);
  return result;
}

}
