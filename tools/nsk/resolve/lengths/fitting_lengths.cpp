// SPDX-License-Identifier: MIT
#include "resolve/lengths/fitting_lengths.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>

#include "graph/cures.hpp"

namespace nsk::tool {
namespace {

/// An open axis of an input.
struct open_axis {
  std::string input;
  std::size_t axis;
  bool is_row;  ///< the first one of several, or one with the same symbol: the rows of a batch
};

std::string symbol_of(const value& v, std::size_t d) { return d < v.symbols.size() ? v.symbols[d] : ""; }

/// The open axes of inputs that no --set replaces; with `keeps`, without those that --input gives lengths.
std::vector<open_axis> open_axes(const graph& g, const input_options& options, bool keeps = false) {
  std::set<std::string> rows;
  for (const value_id id : g.inputs)
    if (const value& v = g.at(id); v.known_rank && v.shape.size() > 1 && v.shape[0] < 0) rows.insert(symbol_of(v, 0));
  rows.erase("");
  std::vector<open_axis> axes;
  for (const value_id id : g.inputs) {
    const value& v = g.at(id);
    if (!v.known_rank || options.set.count(v.name) != 0) continue;
    if (keeps && options.shapes.count(v.name) != 0) continue;
    for (std::size_t d = 0; d < v.shape.size(); ++d)
      if (v.shape[d] < 0)
        axes.push_back({v.name, d, (d == 0 && v.shape.size() > 1) || rows.count(symbol_of(v, d)) != 0});
  }
  return axes;
}

/// Options that were tried, and how they are typed.
struct trial {
  input_options options;
  std::string typed;
};

/// Gives the axes that `chosen` picks the length, 1 to the others that no option gives one.
template <class Chosen>
trial with_length(const graph& g, const input_options& given, const std::vector<open_axis>& axes, std::int64_t length,
                  Chosen chosen) {
  trial t{given, ""};
  for (const open_axis& a : axes) {
    shape_t& shape = t.options.shapes.emplace(a.input, g.at(g.find(a.input)).shape).first->second;
    if (a.axis >= shape.size()) continue;
    if (chosen(a))
      shape[a.axis] = length;
    else if (shape[a.axis] < 0)
      shape[a.axis] = 1;
  }
  for (const value_id id : g.inputs) {
    const std::string& name = g.at(id).name;
    const auto shape = t.options.shapes.find(name);
    const auto before = given.shapes.find(name);
    if (shape == t.options.shapes.end() || (before != given.shapes.end() && before->second == shape->second)) continue;
    t.typed += " --input " + name + "=";
    for (std::size_t d = 0; d < shape->second.size(); ++d)
      t.typed += (d == 0 ? "" : "x") + std::to_string(shape->second[d]);
  }
  return t;
}

/// Makes the inputs constant that decide an If by being equal to a number.
trial with_choices(const graph& g, trial t) {
  for (const node& n : g.nodes) {
    if (n.op != "If" || !n.reads(0)) continue;
    const auto choice = number_that_decides(g, n.inputs[0]);
    if (!choice || !t.options.set.emplace(choice->input, set_value{choice->number, {std::stod(choice->number)}}).second)
      continue;
    t.typed += " --set " + choice->input + "=" + choice->number;
  }
  return t;
}

/// Tries options one after the other, for as long as messages may take.
class search {
 public:
  search(const graph& g, const std::function<void(graph&, const input_options&)>& resolves)
      : m_graph(g), m_resolves(resolves), m_end(std::chrono::steady_clock::now() + std::chrono::seconds(2)) {}
  bool fits(const trial& t) {
    if (t.typed.empty() || m_left-- <= 0 || std::chrono::steady_clock::now() > m_end) return false;
    graph copy = m_graph;
    try {
      m_resolves(copy, t.options);
      return true;
    } catch (const error&) {
      return false;
    }
  }
  /// Whether `t` fits as it is, or with numbers that decide, which it then gets.
  bool fits_with_choices(trial& t) {
    if (fits(t)) return true;
    trial chosen = with_choices(m_graph, t);
    if (chosen.typed == t.typed || !fits(chosen)) return false;
    t = chosen;
    return true;
  }

 private:
  const graph& m_graph;
  const std::function<void(graph&, const input_options&)>& m_resolves;
  std::chrono::steady_clock::time_point m_end;
  int m_left = 48;
};

/// The lengths that are tried: 1, whole numbers that --set gives inputs, which may be lengths, and a few usual ones.
std::vector<std::int64_t> lengths_to_try(const input_options& given) {
  constexpr double longest = 65536;
  constexpr std::size_t max_given = 4;
  std::vector<std::int64_t> lengths = {1};
  for (const auto& [name, value] : given.set)
    for (const double x : value.numbers)
      if (x >= 2 && x <= longest && x == std::floor(x) && lengths.size() <= max_given)
        lengths.push_back(static_cast<std::int64_t>(x));
  lengths.insert(lengths.end(), {512, 64, 16, 4096, 65536});
  return lengths;
}

/// The first trial that fits: a length for all axes but those of rows, for those of one input, or for all.
std::optional<trial> first_fit(const graph& g, const input_options& given, const std::vector<open_axis>& axes,
                               search& s, std::int64_t shortest, std::int64_t& length) {
  std::set<std::string> inputs;
  for (const open_axis& a : axes)
    if (!a.is_row) inputs.insert(a.input);
  const bool has_rows = std::any_of(axes.begin(), axes.end(), [](const open_axis& a) { return a.is_row; });
  for (const std::int64_t n : lengths_to_try(given)) {
    if (n < shortest) continue;
    length = n;
    trial t = with_length(g, given, axes, n, [](const open_axis& a) { return !a.is_row; });
    if (!inputs.empty() && s.fits_with_choices(t)) return t;
    for (const std::string& input : inputs) {
      if (n == 1 || inputs.size() == 1) break;
      t = with_length(g, given, axes, n, [&](const open_axis& a) { return !a.is_row && a.input == input; });
      if (s.fits_with_choices(t)) return t;
    }
    t = with_length(g, given, axes, n, [](const open_axis&) { return true; });
    if (has_rows && s.fits_with_choices(t)) return t;
  }
  return std::nullopt;
}

std::string quoted_axes(const graph& g, const std::vector<open_axis>& axes) {
  std::string text;
  for (const open_axis& a : axes) {
    const std::string symbol = symbol_of(g.at(g.find(a.input)), a.axis);
    const bool has_name = !symbol.empty() && symbol != "?";
    text += (text.empty() ? "" : ", ") + (has_name ? "'" + symbol + "'" : "dimension " + std::to_string(a.axis)) +
            " of input '" + a.input + "'";
  }
  return text;
}

}

bool has_open_lengths(const graph& g, const input_options& options) { return !open_axes(g, options).empty(); }

void refuse_with_lengths(const graph& source, const input_options& options, const error& e,
                         const std::function<void(graph& copy, const input_options& tried)>& resolves) {
  const auto* open = dynamic_cast<const open_shape*>(&e);
  if (open == nullptr && std::string(e.what()).find(" --set ") != std::string::npos) throw;  // that is the cure
  search s(source, resolves);
  std::int64_t length = 1;
  std::vector<open_axis> axes = open_axes(source, options, open != nullptr);
  const std::optional<trial> fit = first_fit(source, options, axes, s, open != nullptr ? 1 : 2, length);
  if (!fit) throw;
  if (open != nullptr) throw open_shape(open->question, fit->typed, length == 1 ? "1" : std::to_string(length));
  axes.resize(std::min<std::size_t>(axes.size(), 4));
  refuse(std::string(e.what()) + ". The model leaves lengths open: " + quoted_axes(source, axes) +
         ". It converts, for example, with" + fit->typed);
}

}
