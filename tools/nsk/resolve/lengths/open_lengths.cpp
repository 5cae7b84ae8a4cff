// SPDX-License-Identifier: MIT
#include "resolve/lengths/open_lengths.hpp"

#include <algorithm>

#include "errors.hpp"
#include "resolve/lengths/fitting_lengths.hpp"

namespace nsk::tool {
namespace {

std::string dimension_text(const value& v, std::size_t d) {
  if (v.shape[d] >= 0) return std::to_string(v.shape[d]);
  return d < v.symbols.size() && !v.symbols[d].empty() ? v.symbols[d] : "?";
}

bool is_only_first_open(const value& v) {
  return v.shape[0] < 0 && std::count_if(v.shape.begin(), v.shape.end(), [](std::int64_t n) { return n < 0; }) == 1;
}

/// What a symbol's length is, where that is known.
class symbol_lengths {
 public:
  void learn(const value& v, std::size_t d, std::int64_t length) {
    if (!is_name(v, d)) return;
    std::int64_t& known = m_lengths.emplace(v.symbols[d], length).first->second;
    if (known != length) known = -1;  // it means several
  }
  /// Returns -1 where it is not known.
  std::int64_t of(const value& v, std::size_t d) const {
    const auto found = is_name(v, d) ? m_lengths.find(v.symbols[d]) : m_lengths.end();
    return found == m_lengths.end() ? -1 : found->second;
  }

 private:
  /// Whether the symbol means the same length wherever it stands: some exporters write one text for every open length.
  static bool is_name(const value& v, std::size_t d) {
    if (d >= v.symbols.size()) return false;
    const std::string& symbol = v.symbols[d];
    return !symbol.empty() && symbol != "?" && symbol != "-1" && symbol != "None" && symbol != "unk" &&
           std::count(v.symbols.begin(), v.symbols.end(), symbol) == 1;
  }
  std::map<std::string, std::int64_t> m_lengths;
};

/// Gives an input the lengths that length_of(axis) knows for its open axes, and notes it; changes nothing where one is
/// not known (below 0).
template <class LengthOf>
void choose_shape(graph& g, value& v, LengthOf length_of) {
  shape_t shape = v.shape;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] < 0 && (shape[d] = length_of(d)) < 0) return;
  std::string option = " --input " + v.name + "=";
  for (std::size_t d = 0; d < shape.size(); ++d)
    option += (d == 0 ? "" : "x") + (v.shape[d] < 0 ? "N" : std::to_string(shape[d]));
  g.facts.notes.push_back("input '" + v.name + "' has the open shape " + source_shape_text(v) + " and is " +
                          to_string(shape) + " here;" + option + " fixes another length" +
                          (v.shape[0] < 0 ? ", --batch-max N leaves up to N rows to the run" : ""));
  v.shape = shape;
}

/// The shape that an option gives an input, by itself or by an array; null where none does.
const shape_t* given_shape(const input_options& options, const std::string& name) {
  if (const auto shape = options.shapes.find(name); shape != options.shapes.end()) return &shape->second;
  const auto set = options.set.find(name);
  return set == options.set.end() || !set->second.values ? nullptr : &set->second.values->shape;
}

/// The options that give every input a shape that has none yet.
std::string missing_shapes(const graph& g, const input_options& options) {
  std::string missing;
  for (value_id id : g.inputs) {
    const value& v = g.at(id);
    if (!v.known_rank || v.is_static() || options.shapes.count(v.name) != 0 || options.set.count(v.name) != 0) continue;
    missing += " --input " + v.name + "=";
    for (std::size_t d = 0; d < v.shape.size(); ++d)
      missing += (d == 0 ? "" : "x") + std::to_string(v.shape[d] < 0 ? 1 : v.shape[d]);
  }
  return missing;
}

}

std::string source_shape_text(const value& v) {
  std::string text = "[";
  for (std::size_t d = 0; d < v.shape.size(); ++d) text += (d == 0 ? "" : ",") + dimension_text(v, d);
  return text + "]";
}

void bind_open_lengths(graph& g, const input_options& options) {
  symbol_lengths lengths;
  bool rows_are_given = false;
  std::vector<value*> open;
  for (const value_id id : g.inputs) {
    value& v = g.at(id);
    const shape_t* const given = given_shape(options, v.name);
    if (given == nullptr) {
      if (v.known_rank && !v.is_static() && options.set.count(v.name) == 0) open.push_back(&v);
      continue;
    }
    for (std::size_t d = 0; v.known_rank && d < v.shape.size() && d < given->size(); ++d) {
      if (v.shape[d] >= 0) continue;
      lengths.learn(v, d, (*given)[d]);
      rows_are_given = rows_are_given || (d == 0 && (*given)[d] != 1);
    }
  }
  for (value* const v : open) {
    if (rows_are_given || !is_only_first_open(*v) || lengths.of(*v, 0) >= 0) continue;
    lengths.learn(*v, 0, 1);
    choose_shape(g, *v, [](std::size_t) { return std::int64_t{1}; });
  }
  for (value* const v : open)
    if (!v->is_static()) choose_shape(g, *v, [&](std::size_t d) { return lengths.of(*v, d); });
}

void refuse_dynamic(const graph& g, const input_options& options, const value& v) {
  if (!v.known_rank)
    refuse("input '" + v.name + "' has no shape in the model. Give one, for example: --input " + v.name +
           "=1x3x224x224");
  std::string dynamic;
  int count = 0;
  for (std::size_t d = 0; d < v.shape.size(); ++d) {
    if (v.shape[d] >= 0) continue;
    ++count;
    const std::string symbol = dimension_text(v, d);
    dynamic += (dynamic.empty() ? "" : ", ") + (symbol == "?" ? "dimension " + std::to_string(d) : "'" + symbol + "'");
  }
  throw open_shape("input '" + v.name + "' has the shape " + source_shape_text(v) + ", in which " + dynamic +
                       (count == 1 ? " is" : " are") + " dynamic. Shapes are fixed at conversion: add",
                   missing_shapes(g, options), "1");
}

}
