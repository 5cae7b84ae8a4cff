// SPDX-License-Identifier: MIT
#include "import/tflite/import.hpp"

#include <algorithm>
#include <set>

#include "errors.hpp"
#include "import/tflite/constants.hpp"
#include "import/tflite/metadata.hpp"
#include "import/tflite/other_outputs.hpp"
#include "import/tflite/rules.hpp"

namespace nsk::tool {
namespace {

/// Refuses what stores integers, and is not computed in them: recurrent layers, whose states are rounded in ways of
/// their own; graphs inside others; integer weights for activations in float32, which runtimes round as the run finds
/// them.
void refuse_stored(const tflite_file& file) {
  for (const auto& numbered : file.subgraphs) {
    const auto& g = numbered.second;
    const auto stored = [&g](int t) { return t >= 0 && is_quantized(g.tensors[static_cast<std::size_t>(t)]); };
    const auto constant = [&g](int t) { return g.tensors[static_cast<std::size_t>(t)].bytes != nullptr; };
    for (const tflite_operator& o : g.operators) {
      const bool reads = std::any_of(o.inputs.begin(), o.inputs.end(), stored),
                 makes = std::any_of(o.outputs.begin(), o.outputs.end(), stored);
      if (!reads && !makes) continue;
      const auto in_four_bits = [&](int t) {  // kept in bytes, such a tensor would saturate where bytes do
        return stored(t) && !constant(t) &&
               g.tensors[static_cast<std::size_t>(t)].data->type() == tfl::TensorType::INT4;
      };
      const bool recurrent = o.name.find("LSTM") != std::string::npos || o.name.find("RNN") != std::string::npos ||
                             o.name == "SVDF",
                 short_ones = std::any_of(o.inputs.begin(), o.inputs.end(), in_four_bits) ||
                              std::any_of(o.outputs.begin(), o.outputs.end(), in_four_bits),
                 mixed = !makes && o.name != "DEQUANTIZE" &&
                         std::any_of(o.inputs.begin(), o.inputs.end(), [&](int t) { return stored(t) && constant(t); });
      if (!recurrent && !short_ones && !mixed && &g == &file.main()) continue;
      refuse("operator " + std::to_string(o.index) + " (" + o.name + ") works on stored integers " +
             (recurrent    ? "with a state"
              : short_ones ? "of 4 bits"
              : mixed      ? "and on float32"
                           : "in a graph inside another") +
             ", which are not computed as such: --dequantize makes the model a float32 one");
    }
  }
}

/// Notes inputs whose first length the file leaves open, and no option gives; warns of other open lengths.
void report_open_lengths(const tflite::context& k, model_facts& facts) {
  for (const int t : k.file.main().inputs) {
    const tflite_tensor& x = k.file.main().tensors[static_cast<std::size_t>(t)];
    const shape_t fixed = tflite::fixed_lengths(x);
    if (fixed.empty() || fixed[0] >= 0 || k.options.shapes.count(x.name) != 0) continue;
    facts.notes.push_back("input '" + x.name + "' has an open first length and is " + to_string(x.shape) +
                          " here; --input gives another shape");
  }
  const std::string open = tflite::open_inputs(k);
  if (!open.empty())
    facts.warnings.push_back("the file leaves lengths of its inputs open and has 1 in their place; add" + open +
                             " with the lengths that you need");
}

/// Warns of functions of the model beside the one that is read, the first subgraph.
void report_signatures(const tflite_file& file, model_facts& facts) {
  std::string taken;
  std::set<std::string> left_out;
  std::set<int> named;
  const auto* signatures = file.model->signature_defs();
  for (flatbuffers::uoffset_t i = 0; signatures != nullptr && i < signatures->size(); ++i) {
    const tfl::SignatureDef* s = signatures->Get(i);
    if (s == nullptr) continue;
    const std::string name = s->signature_key() == nullptr ? "" : printable(s->signature_key()->str());
    if (s->subgraph_index() != 0)
      left_out.insert("signature '" + name + "'");
    else if (taken.empty())
      taken = "signature '" + name + "'";
    named.insert(static_cast<int>(s->subgraph_index()));
  }
  for (int i = 1; i < static_cast<int>(file.model->subgraphs()->size()); ++i)
    if (named.count(i) == 0 && file.subgraphs.count(i) == 0) left_out.insert("subgraph " + std::to_string(i));
  if (left_out.empty()) return;
  std::string others;
  for (const std::string& other : left_out) others += (others.empty() ? "" : ", ") + other;
  facts.warnings.push_back("the file has several functions: " + (taken.empty() ? "its first subgraph" : taken) +
                           " is converted, and left out are " + shortened(others, 200) +
                           "; export each of them to a file of its own");
}

graph translated(const tflite_file& file, const tflite_options& options) {
  tflite::context k(file, options);
  graph& g = k.made.result();
  g.name = file.name;
  g.producer = file.producer;
  if (!options.dequantize) refuse_stored(file);
  for (const int t : file.main().inputs) k.known.add_input(t);
  for (const tflite_operator& o : file.main().operators) tflite::translate(k, o);
  k.made.set_owner("");
  for (const int t : file.main().outputs) g.outputs.push_back(k.known.port(t));
  k.states.finish();
  report_open_lengths(k, g.facts);
  report_signatures(file, g.facts);
  return std::move(g);
}

}

graph import_tflite(const std::byte* bytes, std::size_t size, const std::string& name, const tflite_options& options) {
  const tflite_file file = read_tflite(bytes, size, name);
  graph g = translated(tflite::with_outputs(file, options.outputs), options);
  const std::vector<std::string> warnings = std::move(g.facts.warnings), notes = std::move(g.facts.notes);
  g.facts = tflite_facts(file, bytes);
  g.facts.notes = notes;
  g.facts.warnings.insert(g.facts.warnings.end(), warnings.begin(), warnings.end());
  return g;
}

}
