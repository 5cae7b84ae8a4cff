// SPDX-License-Identifier: MIT
#include "import/tflite/import.hpp"

#include <algorithm>

#include "import/tflite/file/metadata.hpp"
#include "import/tflite/file/other_outputs.hpp"
#include "import/tflite/rules/rules.hpp"
#include "import/tflite/file/signatures.hpp"
#include "import/tflite/file/stored_uses.hpp"

namespace nsk::tool {
namespace {

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

/// Warns once of biases whose scales are not those of the sums that they are added to.
void report_biases(const tflite::context& k, model_facts& facts) {
  if (k.odd_biases.empty()) return;
  const std::size_t count = k.odd_biases.size();
  facts.warnings.push_back(
      "the scale of " + (count == 1 ? std::string("a bias") : std::to_string(count) + " biases") + " ('" +
      *k.odd_biases.begin() + (count == 1 ? "')" : "' and others)") +
      " is not that of its input times that of its weights; its integers are added to the sums as they are, as LiteRT "
      "adds them");
}

graph translated(const tflite_file& file, const tflite_options& options);

/// Throws the error that is being handled. Where the file leaves lengths open, and nothing gives them, the message has
/// options that do, with which the file is read if some are found.
[[noreturn]] void refuse_with_lengths(const tflite::context& k, const error& e) {
  if (tflite::open_inputs(k).empty()) throw;
  const std::string told = std::string(e.what()) + ". The file leaves lengths of its inputs open: try";
  for (const std::int64_t length : {512, 64, 16, 4096, 65536}) {
    tflite_options tried = k.options;
    const std::string options = tflite::open_inputs(k, length, &tried);
    try {
      static_cast<void>(translated(k.file, tried));
    } catch (const error&) {
      continue;
    }
    throw error(e.code, told + options + ", with the size that you need in place of " + std::to_string(length));
  }
  throw error(e.code, told + tflite::open_inputs(k) + " with the lengths that you need");
}

graph translated(const tflite_file& file, const tflite_options& options) {
  tflite::context k(file, options);
  graph& g = k.made.result();
  g.name = file.name;
  g.producer = file.producer;
  for (const int t : file.main().inputs) k.known.add_input(t);
  try {
    for (const tflite_operator& o : file.main().operators) tflite::translate(k, o);
  } catch (const error& e) {
    refuse_with_lengths(k, e);
  }
  k.made.set_owner("");
  for (const int t : file.main().outputs) g.outputs.push_back(k.known.port(t));
  k.states.finish();
  report_open_lengths(k, g.facts);
  tflite::report_signatures(file, g.facts);
  report_biases(k, g.facts);
  return std::move(g);
}

}

graph import_tflite(const std::byte* bytes, std::size_t size, const std::string& name, const tflite_options& options) {
  const tflite_file file = read_tflite(bytes, size, name, options.signature);
  tflite_file part = tflite::with_outputs(file, options.outputs);
  const std::string widened = tflite::prepare_stored(part, options.dequantize);
  graph g = translated(part, options);
  if (!widened.empty() && !options.dequantize) g.facts.notes.push_back(widened);
  const std::vector<std::string> warnings = std::move(g.facts.warnings), notes = std::move(g.facts.notes);
  g.facts = tflite_facts(file, bytes);
  g.facts.notes = notes;
  g.facts.warnings.insert(g.facts.warnings.end(), warnings.begin(), warnings.end());
  return g;
}

std::vector<std::string> tflite_operators() {
  std::vector<std::string> names;
  for (const tflite::table* rules : {&tflite::builtin_rules(), &tflite::custom_rules()})
    for (const auto& entry : *rules) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  return names;
}

}
