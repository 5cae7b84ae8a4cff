// SPDX-License-Identifier: MIT
#include "lengths/lengths.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <set>

#include "errors.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t max_bound = std::int64_t{1} << 24;

/// A number from `at` on, which moves behind it; -1 where there is none.
std::int64_t take_number(const char*& at, const char* end) {
  std::int64_t n = -1;
  const auto [stop, failed] = std::from_chars(at, end, n);
  at = stop;
  return failed == std::errc{} ? n : -1;
}

bool take(const char*& at, const char* end, const std::string& text) {
  if (static_cast<std::size_t>(end - at) < text.size() || std::string(at, at + text.size()) != text) return false;
  at += text.size();
  return true;
}

/// Names the axes of an input by an option, from `at` on.
void name_axes_of(value& v, const std::string& option, std::size_t at) {
  std::vector<std::string> names;
  shape_t numbers;
  while (at <= option.size()) {
    const std::size_t comma = std::min(option.find(',', at), option.size());
    const char *text = option.data() + at, *const end = option.data() + comma;
    const std::int64_t length = take_number(text, end);
    numbers.push_back(text == end && length > 0 ? length : -1);
    names.push_back(numbers.back() > 0 ? "" : option.substr(at, comma - at));
    at = comma + 1;
  }
  if (v.known_rank && v.shape.size() != numbers.size())
    misuse("--input " + option + ": the input has " + std::to_string(v.shape.size()) + " axes.");
  if (!v.known_rank) v.shape.assign(numbers.size(), -1);
  for (std::size_t d = 0; d < numbers.size(); ++d) {
    if (v.shape[d] >= 0 && numbers[d] >= 0 && v.shape[d] != numbers[d])
      misuse("--input " + option + ": axis " + std::to_string(d) + " has " + std::to_string(v.shape[d]) +
             " in the model, not " + std::to_string(numbers[d]) + ". Write that number, or a name.");
    if (v.shape[d] < 0) v.shape[d] = numbers[d];
  }
  v.symbols = names;
  v.known_rank = true;
}

std::int64_t count_values(const chosen_length& l) { return (l.bound - l.minimum) / l.step + 1; }

/// Adds choices by which products of up to three lengths are told apart, whatever else is left out: with all sets of so
/// many lengths a little below their bounds, where that has positions still, else beyond.
void add_corners(const std::vector<chosen_length>& lengths, std::vector<length_choice>& choices) {
  const auto add = [&](std::initializer_list<std::size_t> changed) {
    length_choice c = bounds_of(lengths);
    for (const std::size_t i : changed) {
      const chosen_length& l = lengths[i];
      const std::int64_t lower = l.bound - l.step;
      c[i] = lower > 1 && lower >= l.minimum ? lower : l.bound + l.step;
    }
    if (std::find(choices.begin(), choices.end(), c) == choices.end()) choices.push_back(c);
  };
  constexpr std::size_t all_triples = 6;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    add({i});
    for (std::size_t k = i + 1; k < lengths.size(); ++k) {
      add({i, k});
      for (std::size_t m = k + 1; m < lengths.size() && lengths.size() <= all_triples; ++m) add({i, k, m});
    }
  }
}

/// Values of one length, the bound first.
std::vector<std::int64_t> compared_values(const chosen_length& l) {
  constexpr std::int64_t all = 24, near_bound = 9, near_minimum = 5, between = 8;
  const std::int64_t count = count_values(l);
  std::set<std::int64_t> steps;  // from the minimum
  if (count <= all) {
    for (std::int64_t i = 0; i < count; ++i) steps.insert(i);
  } else {
    for (std::int64_t i = 0; i < near_bound; ++i) steps.insert(count - 1 - i);
    for (std::int64_t i = 0; i < near_minimum; ++i) steps.insert(i);
    for (std::int64_t i = 1; i <= between; ++i) steps.insert(std::min(count * i / (between + 1) + i, count - 1));
  }
  constexpr std::int64_t several = 4;  // longer than 1: of short lengths some are beyond the bound
  for (std::int64_t i = count; l.bound > l.minimum && i < several + 1; ++i) steps.insert(i);
  std::vector<std::int64_t> values = {l.bound};
  for (auto i = steps.rbegin(); i != steps.rend(); ++i)
    if (*i != count - 1) values.push_back(l.minimum + *i * l.step);
  return values;
}

}

length_choice bounds_of(const std::vector<chosen_length>& lengths) {
  length_choice values;
  for (const chosen_length& l : lengths) values.push_back(l.bound);
  return values;
}

chosen_length parse_length(const std::string& name, const std::string& text) {
  const char *at = text.data(), *const end = at + text.size();
  chosen_length l{name, take_number(at, end), 0, 1, false};
  const bool ranged = take(at, end, "..");
  l.bound = ranged ? take_number(at, end) : l.minimum;
  if (take(at, end, "/")) l.step = take_number(at, end);
  if (!ranged) l.minimum = l.step;
  const bool good = at == end && l.step >= 1 && l.minimum >= 0 && l.bound >= 1 && l.minimum <= l.bound &&
                    l.bound <= max_bound && l.minimum % l.step == 0 && l.bound % l.step == 0;
  if (!good)
    misuse("--bound " + name + "=" + text + ": write it as MAX, MIN..MAX or MIN..MAX/STEP, whole numbers up to " +
           std::to_string(max_bound) + ", of which MIN alone may be 0, and MIN and MAX are multiples of STEP.");
  return l;
}

void name_axes(graph& g, const std::vector<std::string>& inputs) {
  for (const std::string& option : inputs) {
    const std::size_t equals = option.rfind('=');
    if (equals == std::string::npos || option.find(',', equals) == std::string::npos) continue;
    const std::string name = option.substr(0, equals);
    const auto found = std::find_if(g.inputs.begin(), g.inputs.end(), [&](value_id v) { return g.at(v).name == name; });
    if (found == g.inputs.end()) misuse("--input " + option + ": the model has no input '" + name + "'.");
    name_axes_of(g.at(*found), option, equals + 1);
  }
}

std::vector<std::string> named_axes(const graph& g) {
  std::set<std::string> names;
  for (const value_id id : g.inputs)
    for (const std::string& name : g.at(id).symbols)
      if (!name.empty()) names.insert(name);
  return {names.begin(), names.end()};
}

bool has_axis(const graph& g, const std::string& name) {
  const std::vector<std::string> names = named_axes(g);
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_counted(const std::vector<chosen_length>& lengths) {
  return std::any_of(lengths.begin(), lengths.end(), [](const chosen_length& l) { return l.counted; });
}

int length_of_axis(const std::vector<chosen_length>& lengths, const value& input, std::size_t axis) {
  for (std::size_t i = 0; axis < input.symbols.size() && i < lengths.size(); ++i)
    if (!lengths[i].counted && input.symbols[axis] == lengths[i].name) return static_cast<int>(i);
  return -1;
}

void set_axes(graph& g, const std::vector<chosen_length>& lengths, const length_choice& values,
              std::map<std::string, shape_t>& shapes) {
  for (const value_id id : g.inputs) {
    value& v = g.at(id);
    shape_t shape = v.shape;
    bool fixed = false;
    for (std::size_t d = 0; d < v.shape.size(); ++d) {
      const int i = length_of_axis(lengths, v, d);
      if (i < 0) continue;
      shape[d] = values[static_cast<std::size_t>(i)];
      if (v.shape[d] < 0)
        v.shape[d] = shape[d];
      else
        fixed = true;
    }
    if (fixed) shapes[v.name] = shape;
  }
}

std::vector<length_choice> compared_choices(const std::vector<chosen_length>& lengths) {
  constexpr std::size_t several = 32;
  std::vector<std::vector<std::int64_t>> values;
  for (const chosen_length& l : lengths) values.push_back(compared_values(l));
  std::vector<length_choice> choices = {{}};
  for (const std::vector<std::int64_t>& v : values) choices[0].push_back(v[0]);
  if (lengths.size() == 1) {
    for (std::size_t i = 1; i < values[0].size(); ++i) choices.push_back({values[0][i]});
    return choices;
  }
  // pairs that meet each other: strides of coprime numbers through the lists
  static const std::size_t strides[] = {1, 3, 7, 11, 13};
  for (std::size_t n = 1; n < several; ++n) {
    length_choice c;
    for (std::size_t i = 0; i < values.size(); ++i)
      c.push_back(values[i][(n * strides[i % 5] + n / 5 * i) % values[i].size()]);
    if (std::find(choices.begin(), choices.end(), c) == choices.end()) choices.push_back(c);
  }
  add_corners(lengths, choices);
  return choices;
}

bool are_within(const std::vector<chosen_length>& lengths, const length_choice& values) {
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (values[i] > lengths[i].bound) return false;
  return true;
}

std::int64_t count_choices(const std::vector<chosen_length>& lengths) {
  constexpr std::int64_t largest = std::int64_t{1} << 62;
  std::int64_t count = 1;
  for (const chosen_length& l : lengths) count = count > largest / count_values(l) ? largest : count * count_values(l);
  return count;
}

length_choice choice_at(const std::vector<chosen_length>& lengths, std::int64_t number) {
  length_choice values;
  for (const chosen_length& l : lengths) {
    values.push_back(l.minimum + number % count_values(l) * l.step);
    number /= count_values(l);
  }
  return values;
}

std::string no_result_below(const std::string& length, std::int64_t minimum) {
  return "the file has no result where '" + length + "' is less than " + std::to_string(minimum) +
         ": a run raises the flag length_clamped then";
}

std::string text_of(const std::vector<chosen_length>& lengths, const length_choice& values) {
  std::string text;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    text += (i == 0 ? "" : ", ") + lengths[i].name + " = " + std::to_string(values[i]);
  return text;
}

}
