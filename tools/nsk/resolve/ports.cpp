// SPDX-License-Identifier: MIT
#include "resolve/ports.hpp"

#include <algorithm>

#include "errors.hpp"
#include "resolve/open_lengths.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

value& value_at(graph& g, value_id v) { return g.values[static_cast<std::size_t>(v)]; }

/// Outputs that the source lists and nothing produces are left out where there are others.
void drop_missing_outputs(graph& g) {
  const std::vector<std::string>& missing = g.missing_outputs;
  if (missing.empty()) return;
  if (g.outputs.empty())
    refuse("the list of outputs names " + quoted(missing) +
           ", which nothing produces, and no other output. The file is damaged or was cut by hand");
  for (const std::string& name : missing)
    g.facts.warnings.push_back("output '" + name + "' is left out: the model lists it, but nothing in it produces it");
}

void check_name(const graph& g, const std::string& name, const char* option) {
  std::vector<std::string> known;
  for (value_id v : g.inputs) known.push_back(g.values[static_cast<std::size_t>(v)].name);
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

void set_constant(folder& folds, value& v, double number) {
  shape_t shape = v.known_rank ? v.shape : shape_t();
  for (std::int64_t& d : shape) d = d < 0 ? 1 : d;
  folds.make(checked_count(shape, "--set " + v.name), "--set " + v.name);
  array a(v.type, shape);
  for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, number);
  v.shape = shape;
  v.known_rank = true;
  v.constant = std::make_shared<const array>(std::move(a));
}

}

void choose_outputs(graph& g, const input_options& options) {
  if (options.outputs.empty()) return drop_missing_outputs(g);
  std::vector<value_id> chosen;
  for (const std::string& name : options.outputs) {
    std::vector<std::string> known;
    value_id found = no_value;
    for (value_id v : g.outputs) {
      known.push_back(value_at(g, v).name);
      if (known.back() == name) found = v;
    }
    const std::vector<std::string>& missing = g.missing_outputs;
    if (found == no_value && std::find(missing.begin(), missing.end(), name) != missing.end())
      refuse("--output-value names '" + name +
             "', which the model lists as an output but nothing in it produces. Its other outputs: " + quoted(known) +
             ". Export the model again, or choose one of those");
    if (found == no_value)
      misuse("--output-value names '" + name + "', which is no output of the model." + did_you_mean(name, known) +
             " Its outputs: " + quoted(known));
    if (std::find(chosen.begin(), chosen.end(), found) != chosen.end())
      misuse("--output-value names '" + name + "' twice");
    chosen.push_back(found);
  }
  for (const state_link& own : g.states)
    if (const value_id v = g.find(own.output); std::find(chosen.begin(), chosen.end(), v) == chosen.end())
      chosen.push_back(v);
  g.outputs = std::move(chosen);
}

void bind_inputs(graph& g, const input_options& options, folder& folds) {
  for (const auto& [name, shape] : options.shapes) check_name(g, name, "--input");
  for (const auto& [name, number] : options.set) check_name(g, name, "--set");
  for (const state_link& own : g.states)
    if (options.set.count(own.input) != 0)
      misuse("--set " + own.input + ": this is a state of the model, whose value changes from run to run.");
  bind_open_lengths(g, options);
  std::vector<value_id> kept;
  for (value_id id : g.inputs) {
    value& v = value_at(g, id);
    const auto shape = options.shapes.find(v.name);
    if (shape != options.shapes.end()) bind_shape(v, shape->second);
    const auto number = options.set.find(v.name);
    if (number != options.set.end()) {
      set_constant(folds, v, number->second);
      continue;
    }
    if (!v.is_static()) refuse_dynamic(g, options, v);
    checked_count(v.shape, "input '" + v.name + "'");
    kept.push_back(id);
  }
  g.inputs = std::move(kept);
}

void compare_declared(graph& g) {
  for (value_id id : g.outputs) {
    const value& v = value_at(g, id);
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
