// SPDX-License-Identifier: MIT
#include "cli/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>

#include "engine/model_file.hpp"
#include "errors.hpp"
#include "graph/names.hpp"
#include "io/npy.hpp"
#include "io/text.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

// Metadata keys of changes, inputs that are set, and ranges.
const std::string argmax_prefix = "argmax.", rename_prefix = "rename.", set_prefix = "set.",
                  shape_prefix = "set_shape.";
constexpr char swish_key[] = "swish", hard_swish[] = "hard", soft_swish[] = "soft";
constexpr char range_key[] = "input_range.", hdr_key[] = "hdr.";
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

/// The reverse of parse_shape().
std::string shape_text(const shape_t& shape) {
  std::string text = shape.empty() ? "scalar" : "";
  for (std::size_t d = 0; d < shape.size(); ++d) text += (d == 0 ? "" : "x") + std::to_string(shape[d]);
  return text;
}

bool names_array(const std::string& text) {
  constexpr char extension[] = ".npy";
  constexpr std::size_t length = sizeof extension - 1;
  return text.size() > length && text.compare(text.size() - length, length, extension) == 0;
}

/// "0.5", "30,45" or "style.npy".
set_value parse_value(const std::string& name, const std::string& text) {
  set_value result{text, {}};
  if (names_array(text)) {
    result.values = std::make_shared<const array>(read_npy(text));
    return result;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string number = text.substr(at, comma - at);
    char* end = nullptr;
    result.numbers.push_back(std::strtod(number.c_str(), &end));
    if (number.empty() || *end != '\0')
      misuse("--set " + name + "=" + text +
             ": the value must be a number (booleans are 0 and 1), numbers with commas between them, or FILE.npy.");
    at = comma + 1;
  }
  return result;
}

/// Elements of an array as parse_value() reads them; nothing where they are too many to be recorded, or too large for a
/// double.
std::optional<std::string> numbers_text(const array& a) {
  constexpr std::int64_t max_recorded = 1024, max_exact = std::int64_t{1} << 53;
  if (a.count() == 0 || a.count() > max_recorded) return std::nullopt;
  std::string text;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const bool exact = is_float(a.type) || (a.integer(i) <= max_exact && a.integer(i) >= -max_exact);
    if (!exact) return std::nullopt;
    text += (i == 0 ? "" : ",") + (is_float(a.type) ? format_text("%.17g", a.number(i)) : std::to_string(a.integer(i)));
  }
  return text;
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
  for (const auto& [rest, how] : recorded(m, swish_key))
    if (rest.empty()) changes.swish = how == hard_swish ? swish_change::to_hard : swish_change::to_soft;
  for (const auto& [name, axis] : recorded(m, argmax_prefix)) changes.argmaxes[name] = axis;
  for (const auto& [from, to] : recorded(m, rename_prefix)) changes.names[from] = to;
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

constant_choices parse_constants(const std::vector<std::string>& constants) {
  constant_choices choices;
  for (const auto& [name, text] : named_values("--constant", constants, "NODE=follow, NODE=keep or NODE=NUMBER,..")) {
    constant_choice& choice = choices[name];
    if (text == "keep") continue;
    choice.what = text == "follow" ? constant_choice::kind::follow : constant_choice::kind::numbers;
    for (const char* at = text.c_str(); choice.what == constant_choice::kind::numbers;) {
      char* end = nullptr;
      choice.numbers.push_back(std::strtod(at, &end));
      if (end == at || (*end != ',' && *end != '\0'))
        misuse("--constant " + name + "=" + text + ": write follow, keep, or numbers with commas between them.");
      if (*end == '\0') break;
      at = end + 1;
    }
  }
  return choices;
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
  for (const auto& [name, text] : named_values("--set", sets, "NAME=VALUE")) result.set[name] = parse_value(name, text);
  return result;
}

std::vector<std::string> kept_outputs(std::vector<std::string> named,
                                      const std::map<std::string, std::string>& states) {
  if (named.empty()) return named;
  for (const auto& [input, output] : states)
    if (std::find(named.begin(), named.end(), output) == named.end()) named.push_back(output);
  return named;
}

void record_sets(const input_options& inputs, std::map<std::string, std::string>& metadata) {
  for (const auto& [name, set] : inputs.set) {
    const auto given = inputs.shapes.find(name);
    if (set.values) metadata[shape_prefix + name] = shape_text(set.values->shape);
    if (!set.values && given != inputs.shapes.end()) metadata[shape_prefix + name] = shape_text(given->second);
    metadata[set_prefix + name] = set.values ? numbers_text(*set.values).value_or(set.text) : set.text;
  }
}

void add_recorded_sets(const model& m, input_options& inputs) {
  for (const auto& [name, text] : recorded(m, set_prefix)) {
    if (name.empty() || inputs.set.count(name) != 0) continue;
    if (names_array(text))
      misuse("the model was converted with --set " + name + "=" + text +
             ", which holds more numbers than a model records. Give --set " + name + "=" + text + " here, too.");
    inputs.set[name] = parse_value(name, text);
  }
  for (const auto& [name, text] : recorded(m, shape_prefix))
    if (!name.empty()) inputs.shapes[name] = parse_shape(name, text);
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
