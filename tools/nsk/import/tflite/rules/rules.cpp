// SPDX-License-Identifier: MIT
#include "import/tflite/rules/rules.hpp"

#include <algorithm>

#include "import/tflite/rules/complex.hpp"
#include "import/tflite/file/constants.hpp"

namespace nsk::tool::tflite {
namespace {

/// Operators that only move stored numbers would read them by another scale where their output has one of its own.
void require_stored_alike(const call& c) {
  const auto quantized = [&](int t) { return t >= 0 && is_quantized(c.tensor(t)); };
  for (const int x : c.op().inputs)
    for (const int y : c.op().outputs)
      if (quantized(x) && quantized(y) && !stored_alike(c.tensor(x), c.tensor(y)))
        c.fail("'" + c.tensor(x).name + "' and '" + c.tensor(y).name +
               "' are stored with different scales or zero points, though it only moves numbers. Quantise the model "
               "again");
}

/// The options that end the model before an operator of the first graph.
std::string ending_before(call& c) {
  std::string options;
  for (const int t : c.op().inputs)
    if (t >= 0 && c.tensor(t).bytes == nullptr) options += " --output-value " + c.tensor(t).name;
  const bool is_named = !options.empty() && c.all().known.here().number == c.all().file.first;
  return is_named ? "end the model before it (" + options.substr(1) + ") and compute the rest in the game"
                  : "choose outputs that do not need it (--output-value NAME)";
}

void apply(call& c) {
  const table& rules = c.op().custom ? custom_rules() : builtin_rules();
  const auto found = rules.find(c.name());
  if (found == rules.end())
    c.fail(std::string("this ") + (c.op().custom ? "custom " : "") +
           "operator is not supported. Replace it in the exporter by operators of docs/reference/operators.md, or " +
           ending_before(c));
  const definition& rule = found->second;
  c.require(!c.op().outputs.empty() || (rule.properties & without_results) != 0,
            "it has no outputs. The file is damaged");
  if ((rule.properties & moves_numbers) != 0) require_stored_alike(c);
  if (reads_complex(c) && (rule.properties & takes_complex) == 0)
    translate_parts(c, rule);
  else
    rule.translate(c);
}

table joined(std::initializer_list<void (*)(table&)> families) {
  table t;
  for (const auto add : families) add(t);
  return t;
}

}

const table& builtin_rules() {
  static const table all = joined({add_windows, add_elementwise, add_shapes, add_matrices, add_spectra, add_recurrent,
                                   add_lstm, add_variables, add_flow, add_suppression, add_scatter, add_volumes,
                                   add_integers, add_random, add_stablehlo});
  return all;
}

const table& custom_rules() {
  static const table all = joined({add_custom_windows, add_landmarks, add_detection});
  return all;
}

std::string open_inputs(const context& k, std::int64_t length, tflite_options* given) {
  std::string options;
  for (const int t : k.file.main().inputs) {
    const tflite_tensor& x = k.file.main().tensors[static_cast<std::size_t>(t)];
    const shape_t fixed = fixed_lengths(x);
    const bool open = std::any_of(fixed.begin() + !fixed.empty(), fixed.end(), [](std::int64_t d) { return d < 0; });
    if (!open || k.options.shapes.count(x.name) != 0) continue;
    shape_t shape = x.shape;
    for (std::size_t d = 1; d < shape.size(); ++d)
      if (fixed[d] < 0) shape[d] = length;
    options += " --input " + x.name + "=";
    for (std::size_t d = 0; d < shape.size(); ++d) options += (d == 0 ? "" : "x") + std::to_string(shape[d]);
    if (given != nullptr) given->shapes[x.name] = shape;
  }
  return options;
}

void translate(context& k, const tflite_operator& o) {
  k.made.set_owner(k.known.operator_name(o));
  call c(k, o);
  try {
    apply(c);
  } catch (const error& e) {
    throw error(e.code, c.who() + ": " + e.what());
  }
}

}
