// SPDX-License-Identifier: MIT
#include "cli/source_variants.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/chunk_options.hpp"
#include "cli/options.hpp"
#include "errors.hpp"
#include "import/import.hpp"
#include "resolve/integers/float_ports.hpp"
#include "resolve/shapes/bounded.hpp"
#include "resolve/states.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

/// The changes of the model that the options ask for.
model_changes changes_of(const source_options& o) {
  model_changes changes = parse_changes(o.argmaxes, o.names);
  if (o.to_hard_swish) changes.swish = swish_change::to_hard;
  if (o.to_swish) changes.swish = swish_change::to_soft;
  return changes;
}

/// Applies them to what is known of a variant.
void change(variant_source& v, const model_changes& changes) {
  if (!changes.any()) return;
  apply_changes(v.g, changes);
  if (v.exported) {
    auto exported = std::make_shared<graph>(*v.exported);
    apply_changes(*exported, changes);
    v.exported = exported;
  }
  for (state_link& s : v.states) {
    s.input = new_name(changes, s.input);
    s.output = new_name(changes, s.output);
  }
  std::set<std::string> batched;
  for (const std::string& name : v.batched_inputs) batched.insert(new_name(changes, name));
  v.batched_inputs = batched;
}

/// --input without those that name axes (NAME=1,tokens).
std::vector<std::string> without_axes(std::vector<std::string> inputs) {
  const auto names = [](const std::string& option) { return option.find(',', option.rfind('=')) != std::string::npos; };
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), names), inputs.end());
  return inputs;
}

/// A name, and the shapes for it.
struct wanted_variant {
  std::string name;
  input_options inputs;
};

/// "small:image=1x3x192x192,mask=1x192x192" -> its name, and shapes on top of those of --input.
wanted_variant parse_variant(const source_options& o, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0)
    misuse("--variant " + text + ": write it as NAME:INPUT=1x3x192x192[,INPUT=...].");
  std::vector<std::string> shapes;
  for (std::size_t at = colon + 1; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    shapes.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  input_options inputs = parse_inputs(without_axes(o.inputs), o.sets);
  for (const auto& [name, shape] : parse_inputs(shapes, {}).shapes) inputs.shapes[name] = shape;
  return {text.substr(0, colon), inputs};
}

/// Whether the first axis of an input can be the batch: an open one, or with `fixed` one row of several axes.
bool takes_rows(const value& x, bool fixed) {
  return !x.shape.empty() && (fixed ? x.shape.size() > 1 && x.shape[0] == 1 : x.shape[0] < 0);
}

/// Gives inputs `rows` rows, where no option says otherwise, and notes which have them: those with an open first axis,
/// or, where the model fixes all of them, those with one row. Returns whether it fixes them.
bool give_rows(variant_source& v, input_options& inputs, int rows) {
  v.batch = rows;
  const auto input = [&](value_id id) -> const value& { return v.g.values[static_cast<std::size_t>(id)]; };
  const bool fixed =
      std::none_of(v.g.inputs.begin(), v.g.inputs.end(), [&](value_id id) { return takes_rows(input(id), false); });
  bool asks_lengths = false;
  for (const value_id id : v.g.inputs) {
    const value& x = input(id);
    if (!takes_rows(x, fixed) || inputs.set.count(x.name) != 0) continue;
    const auto [given, added] = inputs.shapes.emplace(x.name, x.shape);
    if (added) given->second[0] = rows;
    if (given->second.empty() || given->second[0] != rows) continue;
    if (std::any_of(given->second.begin(), given->second.end(), [](std::int64_t n) { return n < 0; })) {
      inputs.shapes.erase(given);  // inference asks for the other lengths
      asks_lengths = true;
      continue;
    }
    v.batched_inputs.insert(x.name);
  }
  if (v.batched_inputs.empty() && !asks_lengths)
    refuse("--batch-max " + std::to_string(rows) +
           ": no input of the model has an open first axis, or one of length 1 before others, that takes so many "
           "rows. Export the model with a dynamic batch axis");
  return fixed;
}

/// Resolves a variant. Where it gets rows that the model fixes to one, a refusal says so.
void resolve_rows(variant_source& v, const input_options& inputs, bool fixed) {
  try {
    v.exported = resolve(v.g, inputs);
  } catch (const error& e) {
    if (!fixed) throw;
    throw error(e.code, std::string(e.what()) + ". The model fixes one row, of which --batch-max makes " +
                            std::to_string(v.batch) + ": convert it without, and run it for each row");
  }
}

/// Refuses names of variants that are there twice, or that --gpu takes.
void require_names(const source_options& o, const std::vector<wanted_variant>& wanted) {
  std::set<std::string> names;
  for (const wanted_variant& w : wanted)
    if (!names.insert(w.name).second) misuse("--variant " + w.name + ": this name was given twice.");
  for (const wanted_variant& w : wanted)
    if (o.gpu && names.count(gpu_variant_of(w.name, wanted.size())) != 0)
      misuse("--variant " + gpu_variant_of(w.name, wanted.size()) +
             ": --gpu adds a variant of this name. Choose another one.");
}

/// Takes the lengths out of what --bound gives: those that are named as open axes of inputs.
std::vector<chosen_length> take_lengths(const graph& g, const source_options& o, input_options& inputs) {
  std::vector<chosen_length> lengths;
  std::vector<std::string> others;
  for (const auto& [name, text] : named_values("--bound", o.bounds, "NAME=COUNT")) {
    if (has_axis(g, name))
      lengths.push_back(parse_length(name, text));
    else if (const std::vector<std::string> axes = named_axes(g); !axes.empty() && g.find(name) == no_value)
      misuse("--bound names '" + name + "', which is no open axis of an input." + did_you_mean(name, axes) +
             " The model has " + quoted(axes) + ".");
    else
      others.push_back(name + "=" + text);
  }
  inputs.bounds = parse_bounds(others);
  if (lengths.empty()) return lengths;
  if (o.batch != 0) refuse("--bound " + lengths[0].name + " and --batch-max exclude each other. Leave one of them out");
  return lengths;
}

/// Resolves the model, which is `source` before, for values of its lengths.
variant_source at_lengths(const graph& source, const std::vector<chosen_length>& lengths, const length_choice& values,
                          input_options inputs, const state_options& states, const model_changes& changes) {
  variant_source v{"", source};
  v.lengths = lengths;
  set_axes(v.g, lengths, values, inputs.shapes);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i].counted) (*inputs.counts)[lengths[i].name] = values[i];
  try {
    resolve_rows(v, inputs, false);
  } catch (const impossible_count&) {
    throw;
  } catch (const error& e) {
    throw error(e.code, "with " + text_of(lengths, values) + ": " + e.what());
  }
  v.states = states_of(v.g, states);
  change(v, changes);
  return v;
}

/// Resolves a model, which is `source` before, at the bounds of its lengths; with `counts` numbers of results are
/// lengths too.
void resolve_with(variant_source& v, const graph& source, input_options& inputs, bool fixed, bool counts) {
  inputs.counts.reset();
  if (counts) inputs.counts.emplace();
  v.g = source;
  resolve_rows(v, inputs, fixed);
}

/// Resolves a model at the bounds of its lengths. What is behind results whose number is data is computed on as many
/// rows as there are at most, where that can be; else, or where --bound names such results, the number is a length.
void resolve_at_bounds(variant_source& v, const source_options& o, input_options& inputs, bool fixed) {
  const bool may_have_lengths = o.counts_results && o.batch == 0 && !o.gpu && o.variants.size() < 2;
  if (!may_have_lengths || !may_count(v.g)) return resolve_rows(v, inputs, fixed);
  const graph source = v.g;
  const bool counts = !inputs.bounds.empty();
  try {
    return resolve_with(v, source, inputs, fixed, counts);
  } catch (const error& e) {
    if (e.code != exit_code::refused) throw;
    try {
      resolve_with(v, source, inputs, fixed, !counts);
    } catch (const error&) {
      throw e;
    }
    if (!counts) v.refused_rows = std::make_shared<const error>(e);
  }
}

/// Whether the model has a result where one of its lengths is `value` and the others are as large as they can be then.
bool resolves_at(const variant_source& v, std::size_t length, std::int64_t value) {
  length_choice values = bounds_of(v.lengths);
  values[length] = value;
  for (std::size_t attempt = 0; attempt <= values.size(); ++attempt) {
    try {
      static_cast<void>(v.at(values));
      return true;
    } catch (const impossible_count& e) {
      for (std::size_t i = 0; i < values.size(); ++i)
        if (v.lengths[i].name == e.name) values[i] = e.maximum;
    } catch (const error&) {
      return false;
    }
  }
  return false;
}

/// Lets the lengths that nodes count begin with the smallest number for which the model has a result.
void raise_counted_minima(variant_source& v) {
  for (std::size_t i = 0; i < v.lengths.size(); ++i) {
    chosen_length& l = v.lengths[i];
    const std::int64_t smallest = l.minimum;
    while (l.counted && l.minimum < l.bound && !resolves_at(v, i, l.minimum)) ++l.minimum;
    if (l.minimum > smallest) v.g.facts.warnings.push_back(no_result_below(l.name, l.minimum));
  }
}

/// Reads the source for one variant, resolves it, and changes it.
variant_source read_variant(const source_options& o, const wanted_variant& wanted, command_files& files) {
  const state_options states{named_values("--state", o.states, "INPUT=OUTPUT"), o.find_states};
  input_options inputs = wanted.inputs;
  inputs.outputs = kept_outputs(o.outputs, states.given);
  variant_source v{wanted.name, import_model(o.path, {o.dequantize, inputs.shapes, inputs.outputs, o.signature})};
  name_axes(v.g, o.inputs);
  if (o.float_io) make_float_ports(v.g);
  for (const std::string& data : v.g.facts.files) files.add_input("external data of the source", data);
  inputs.constants = parse_constants(o.constants);
  model_changes changes = changes_of(o);
  if (o.chunks.empty()) {
    v.lengths = take_lengths(v.g, o, inputs);
  } else {
    inputs.trusted = o.trusted;
    inputs.dequantize = o.dequantize;
    take_chunks(o, v, inputs, states, std::exchange(changes, {}));
  }
  const auto source = std::make_shared<const graph>(v.g);
  if (!v.lengths.empty()) set_axes(v.g, v.lengths, bounds_of(v.lengths), inputs.shapes);
  inputs.trusted = o.trusted;
  inputs.dequantize = o.dequantize;
  const bool fixed = o.batch != 0 && give_rows(v, inputs, o.batch);
  resolve_at_bounds(v, o, inputs, fixed);
  v.states = states_of(v.g, states);
  change(v, changes);
  if (!v.lengths.empty() || !v.g.counted.empty()) {
    const bool chooses = !v.lengths.empty();  // then shapes, and with them numbers of rows, may be smaller
    for (const counted_length& c : v.g.counted)
      v.lengths.push_back({c.name, chooses ? 0 : c.minimum, c.maximum, 1, true});
    v.at = [source, lengths = v.lengths, inputs, states, changes](const length_choice& values) {
      return at_lengths(*source, lengths, values, inputs, states, changes);
    };
    raise_counted_minima(v);
  }
  const input_ranges ranges = ranges_of(o, v.g);
  v.wide_inputs = wide_inputs(ranges);
  v.unknown_inputs = unknown_inputs(v.g, ranges);
  for (const state_link& s : v.states) v.unknown_inputs.erase(s.input);
  return v;
}

}

std::vector<variant_source> read_variants(const source_options& o, command_files& files) {
  std::vector<wanted_variant> wanted;
  for (const std::string& text : o.variants) wanted.push_back(parse_variant(o, text));
  if (wanted.empty()) wanted.push_back({"default", parse_inputs(without_axes(o.inputs), o.sets)});
  require_names(o, wanted);
  std::vector<variant_source> variants;
  for (const wanted_variant& w : wanted) variants.push_back(read_variant(o, w, files));
  return variants;
}

std::set<std::string> kept_layouts(const source_options& o, const graph& g) {
  const model_changes changes = changes_of(o);
  std::vector<std::string> known;
  for (const auto* ports : {&g.inputs, &g.outputs})
    for (const value_id v : *ports) known.push_back(g.values[static_cast<std::size_t>(v)].name);
  std::set<std::string> kept;
  for (const std::string& name : o.kept_layouts) {
    const std::string changed = new_name(changes, name);
    if (std::find(known.begin(), known.end(), changed) == known.end())
      misuse("--keep-layout names '" + name + "', which is no input or output of the model." +
             did_you_mean(name, known) + " It has " + quoted(known) + ".");
    kept.insert(changed);
  }
  return kept;
}

void record_source(const source_options& o, std::map<std::string, std::string>& metadata) {
  record_sets(parse_inputs(without_axes(o.inputs), o.sets), metadata);
  for (const auto& [name, how] : named_values("--constant", o.constants, "NODE=HOW"))
    metadata[constant_key(name)] = how;
  for (const auto& [name, text] : named_values("--bound", o.bounds, "NAME=COUNT")) metadata[bound_key(name)] = text;
  record_chunks(o, metadata);
  if (o.dequantize) metadata[dequantize_key] = "1";
  if (!o.signature.empty()) metadata[signature_key] = o.signature;
  if (o.float_io) metadata[float_io_key] = "1";
  record_changes(changes_of(o), metadata);
  if (!o.outputs.empty()) metadata[chosen_outputs_key] = std::to_string(o.outputs.size());
}

}
