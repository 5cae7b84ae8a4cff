// SPDX-License-Identifier: MIT
#include "cli/chunk_options.hpp"

#include <algorithm>
#include <memory>

#include "cli/options.hpp"
#include "errors.hpp"
#include "resolve/infer.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

/// The one --stream.
chunks::choice choice_of(const std::vector<std::string>& options) {
  const auto given = named_values("--stream", options, "NAME=CHUNK");
  if (given.size() > 1) misuse("--stream: a network takes chunks of one signal. Give one --stream.");
  return chunks::parse_choice(given.begin()->first, given.begin()->second);
}

/// Refuses shapes of inputs that have the samples: they would fix their number.
void require_open(const graph& g, const std::string& name, const input_options& inputs) {
  for (const value_id id : g.inputs) {
    const value& v = g.at(id);
    const auto given = inputs.shapes.find(v.name);
    if (std::find(v.symbols.begin(), v.symbols.end(), name) == v.symbols.end() || given == inputs.shapes.end())
      continue;
    std::string axes;
    for (std::size_t d = 0; d < given->second.size(); ++d)
      axes += (d == 0 ? "" : ",") +
              (d < v.symbols.size() && v.symbols[d] == name ? name : std::to_string(given->second[d]));
    misuse("--stream " + name + ": --input " + v.name +
           " fixes the number of samples. Name their axis instead: " + "--input " + v.name + "=" + axes + ".");
  }
}

void require_axis(const graph& g, const std::string& name) {
  if (has_axis(g, name)) return;
  const std::vector<std::string> axes = named_axes(g);
  const value* first = g.inputs.empty() ? nullptr : &g.at(g.inputs[0]);
  if (!axes.empty() || first == nullptr)
    misuse("--stream names '" + name + "', which is no open axis of an input." + did_you_mean(name, axes) +
           " The model has " + (axes.empty() ? "none" : quoted(axes)) + ".");
  std::string shape;
  for (std::size_t d = 0; d < first->shape.size(); ++d)
    shape += (d == 0 ? "" : ",") + (d + 1 == first->shape.size() ? name : std::to_string(first->shape[d]));
  misuse("--stream names '" + name + "', which is no open axis of an input: the model has none. Name that of the " +
         "samples, as --input " + first->name + "=" + shape + " where it is the last one.");
}

/// Resolves a source for a signal of so many samples.
chunks::whole_source whole_of(const graph& source, const std::string& name, const input_options& inputs,
                              const state_options& states, const model_changes& changes) {
  return [source = std::make_shared<const graph>(source), name, inputs, states, changes](std::int64_t samples) {
    chunks::whole_model m{*source, {}};
    m.g.declared.clear();  // the source's own lengths
    input_options given = inputs;
    set_axes(m.g, {{name, 1, samples, 1}}, {samples}, given.shapes);
    resolve(m.g, given);
    apply_changes(m.g, changes);
    m.states = states_of(m.g, states);
    for (state_link& s : m.states) {
      s.input = new_name(changes, s.input);
      s.output = new_name(changes, s.output);
    }
    return m;
  };
}

/// Resolves the network for chunks for one of their lengths.
chunks::chunk_source chunk_of(const graph& source, const std::string& name, const input_options& inputs,
                              const state_options& states) {
  return [source = std::make_shared<const graph>(source), name, inputs, states](std::int64_t samples) {
    chunks::whole_model m{*source, {}};
    input_options given = inputs;
    set_axes(m.g, {{name, 1, samples, 1}}, {samples}, given.shapes);
    resolve(m.g, given);
    m.states = states_of(m.g, {states.given, true});
    return m;
  };
}

/// What is left to say of a network for chunks, whose source was resolved.
input_options chunk_inputs(const input_options& inputs) {
  input_options left;
  left.trusted = inputs.trusted;
  return left;
}

}

void take_chunks(const source_options& o, variant_source& v, input_options& inputs, const state_options& states,
                 const model_changes& changes) {
  const chunks::choice wanted = choice_of(o.chunks);
  for (const auto& [option, given] : {std::pair("--bound", !o.bounds.empty()), std::pair("--batch-max", o.batch != 0),
                                      std::pair("--gpu", o.gpu), std::pair("--variant", !o.variants.empty())})
    if (given) refuse("--stream " + wanted.name + " and " + option + " exclude each other. Leave one of them out");
  require_axis(v.g, wanted.name);
  require_open(v.g, wanted.name, inputs);
  auto made = std::make_shared<chunked_source>();
  made->wanted = wanted;
  made->whole = whole_of(v.g, wanted.name, inputs, states, changes);
  made->net = chunks::in_chunks(wanted, v.g, made->whole);
  v.g = made->net.g;
  for (const std::string& note : made->net.notes) v.g.facts.notes.push_back(note);
  inputs = chunk_inputs(inputs);
  made->chunk = chunk_of(v.g, wanted.name, inputs, states);
  v.chunked = made;
  const chosen_length length{wanted.name, made->net.step, wanted.chunk, made->net.step};
  if (length.bound > length.minimum)
    v.lengths = {length};
  else
    set_axes(v.g, {length}, {length.bound}, inputs.shapes);
}

void record_chunks(const source_options& o, std::map<std::string, std::string>& metadata) {
  if (o.chunks.empty()) return;
  for (const auto& [name, text] : named_values("--stream", o.chunks, "NAME=CHUNK")) metadata[chunk_key(name)] = text;
  for (std::size_t i = 0; i < o.inputs.size(); ++i) metadata[chunk_axes_key(std::to_string(i))] = o.inputs[i];
  for (const std::string& name : kept_outputs(o.outputs, named_values("--state", o.states, "INPUT=OUTPUT")))
    metadata[chunk_output_key(name)] = "1";
  for (const auto& [input, output] : named_values("--state", o.states, "INPUT=OUTPUT"))
    metadata[chunk_state_key(input)] = output;
}

bool resolve_chunks(graph& g, const model& m, input_options inputs) {
  const auto given = recorded(m, chunk_key(""));
  if (given.empty()) return false;
  const chunks::choice wanted = choice_of({given[0].first + "=" + given[0].second});
  std::vector<std::string> named;
  for (const auto& [number, text] : recorded(m, chunk_axes_key(""))) named.push_back(text);
  name_axes(g, named);
  require_axis(g, wanted.name);
  std::int64_t samples = wanted.chunk;
  std::map<std::string, shape_t> shapes;
  for (const value_id id : g.inputs) {
    value& v = g.at(id);
    const auto found = inputs.shapes.find(v.name);
    if (found == inputs.shapes.end()) continue;
    bool timed = false;
    for (std::size_t d = 0; d < v.shape.size() && d < v.symbols.size(); ++d) {
      const bool here = v.symbols[d] == wanted.name;
      if (here) samples = found->second[d];
      if (!here) v.shape[d] = found->second[d];
      timed |= here;
    }
    if (!timed) shapes.insert(*found);
  }
  inputs.shapes = shapes;
  state_options states;
  for (const auto& [input, output] : recorded(m, chunk_state_key(""))) states.given[input] = output;
  const chunks::network net =
      chunks::in_chunks(wanted, g, whole_of(g, wanted.name, inputs, states, recorded_changes(m)));
  g = chunk_of(net.g, wanted.name, chunk_inputs(inputs), states)(samples).g;
  return true;
}

}
