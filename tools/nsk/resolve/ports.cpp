// SPDX-License-Identifier: MIT
#include "resolve/ports.hpp"

#include <algorithm>
#include <cmath>

#include "errors.hpp"
#include "resolve/lengths/open_lengths.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

void check_name(const graph& g, const std::string& name, const char* option) {
  std::vector<std::string> known;
  for (value_id v : g.inputs) known.push_back(g.at(v).name);
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  misuse(std::string(option) + " names '" + name + "', which is no input of the model." + did_you_mean(name, known) +
         " Its inputs: " + (known.empty() ? "none" : quoted(known)));
}

void bind_shape(value& v, const shape_t& shape) {
  if (v.known_rank && v.shape.size() != shape.size())
    misuse("--input " + v.name + ": shape " + to_string(shape) + " contradicts the model, whose input has shape " +
           source_shape_text(v) + ": lengths may differ, the number of axes may not");
  checked_count(shape, "--input " + v.name);
  v.shape = shape;
  v.known_rank = true;
}

/// The shape of an input of which `count` numbers are given: one fills open axes of length 1, several decide how long
/// the only open axis is.
shape_t shape_for(const value& v, std::int64_t count, const std::string& option) {
  if (!v.known_rank) return count == 1 ? shape_t() : shape_t{count};
  shape_t shape = v.shape;
  std::int64_t* open = nullptr;
  for (std::int64_t& d : shape) {
    if (d >= 0) continue;
    if (count != 1 && open != nullptr)
      misuse(option + ": the input has the open shape " + source_shape_text(v) + ". Give its shape, too: --input " +
             v.name + "=SHAPE, or an array: --set " + v.name + "=FILE.npy.");
    open = &d;
    d = 1;
  }
  const std::int64_t others = checked_count(shape, option);
  if (open != nullptr && others > 0) *open = std::max<std::int64_t>(1, count / others);
  return shape;
}

/// Refuses a number that the type of an input does not hold: it would become another one.
void require_holds(element type, double number, const std::string& option) {
  if (is_float(type)) return;
  array one(type, {1});
  one.set(0, number);
  constexpr double max_exact = 9007199254740992.0;  // 2^53
  if (std::abs(number) > max_exact)
    misuse(option + ": whole numbers beyond 2^53 are read from a file alone: FILE.npy.");
  if (one.number(0) != number)
    misuse(option + ": the input is " + name_of(type) + ", which cannot hold all of these numbers.");
}

array array_of_numbers(const value& v, const std::vector<double>& numbers, folder& folds, const std::string& option) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  const shape_t shape = shape_for(v, count, option);
  const std::int64_t elements = checked_count(shape, option);
  if (count != 1 && count != elements)
    misuse(option + ": these are " + std::to_string(count) + " numbers, but the input has " + std::to_string(elements) +
           " elements, " + to_string(shape) + ". Give one number for all of them, " + std::to_string(elements) +
           " in row-major order, or FILE.npy.");
  for (const double number : numbers) require_holds(v.type, number, option);
  folds.make(elements, "--set " + v.name);
  array a(v.type, shape);
  for (std::int64_t i = 0; i < elements; ++i) a.set(i, numbers[count == 1 ? 0 : static_cast<std::size_t>(i)]);
  return a;
}

/// Refuses an array that has not the type and shape of an input.
void require_matches(const value& v, const array& a, const std::string& option) {
  bool same = !v.known_rank || a.shape.size() == v.shape.size();
  for (std::size_t d = 0; same && v.known_rank && d < a.shape.size(); ++d)
    same = v.shape[d] < 0 || v.shape[d] == a.shape[d];
  if (same && a.type == v.type) return;
  misuse(option + ": the file holds " + name_of(a.type) + " " + to_string(a.shape) + ", the input is " +
         name_of(v.type) + " " + (v.known_rank ? source_shape_text(v) : "of unknown shape") +
         ". Save it so: x.astype(numpy." + name_of(v.type) + ")" + (same ? "" : ", reshaped") + ".");
}

void set_constant(folder& folds, value& v, const set_value& set) {
  const std::string option = "--set " + v.name + "=" + shortened(set.text, 80);
  if (set.values) require_matches(v, *set.values, option);
  v.constant = set.values ? set.values : std::make_shared<const array>(array_of_numbers(v, set.numbers, folds, option));
  v.shape = v.constant->shape;
  v.known_rank = true;
}

}

void bind_inputs(graph& g, const input_options& options, folder& folds) {
  for (const auto& [name, shape] : options.shapes) check_name(g, name, "--input");
  for (const auto& [name, set] : options.set) check_name(g, name, "--set");
  for (const state_link& own : g.states)
    if (options.set.count(own.input) != 0)
      misuse("--set " + own.input + ": this is a state of the model, whose value changes from run to run.");
  bind_open_lengths(g, options);
  std::vector<value_id> kept;
  for (value_id id : g.inputs) {
    value& v = g.at(id);
    const auto shape = options.shapes.find(v.name);
    if (shape != options.shapes.end()) bind_shape(v, shape->second);
    const auto set = options.set.find(v.name);
    if (set != options.set.end()) {
      set_constant(folds, v, set->second);
      continue;
    }
    if (!v.is_static()) refuse_dynamic(g, options, v);
    if (checked_count(v.shape, "input '" + v.name + "'") != 0) {
      kept.push_back(id);
      continue;
    }
    v.constant = std::make_shared<const array>(v.type, v.shape);
    g.facts.notes.push_back("input '" + v.name + "' has the shape " + to_string(v.shape) +
                            " and no elements: the file has no such input, and a game gives nothing");
  }
  g.inputs = std::move(kept);
}

void compare_declared(graph& g) {
  for (value_id id : g.outputs) {
    const value& v = g.at(id);
    const auto found = g.declared.find(v.name);
    if (found == g.declared.end()) continue;
    const shape_t& stated = found->second;
    bool agrees = stated.size() == v.shape.size();
    for (std::size_t d = 0; agrees && d < v.shape.size(); ++d) agrees = stated[d] < 0 || stated[d] == v.shape[d];
    if (!agrees)
      g.facts.warnings.push_back("output '" + v.name + "' is declared as " + to_string(stated) +
                                 ", but its operators make " + to_string(v.shape) + "; the latter holds");
  }
}

}
