// SPDX-License-Identifier: MIT
/// Rules for complex numbers: spectra, their parts and magnitudes. A complex tensor is two values, real and imaginary
/// parts; operators that move elements move both.
#include "import/tflite/importer.hpp"

namespace nsk::tool {

bool tflite_importer::reads_complex(const tflite_operator& o) const {
  for (const int t : o.inputs)
    if (t >= 0 && tensor(t).data->type() == tfl::TensorType::COMPLEX64) return true;
  return false;
}

const tflite_importer::parts& tflite_importer::parts_of(int t) const {
  const auto found = m_scope.parts_of.find(t);
  if (found == m_scope.parts_of.end())
    fail("'" + tensor(t).name + "' is complex, and comes from no RFFT2D. Export the model with real numbers there");
  return found->second;
}

/// The value that `t` was bound to becomes one of its parts.
value_id tflite_importer::taken_part(int t, const char* part) {
  const value_id v = std::exchange(m_scope.forms_of[static_cast<std::size_t>(t)], {}).plain;
  std::string& name = m_graph.values[static_cast<std::size_t>(v)].name;
  if (name == tensor(t).name) name = m_value_names.unique(name + part);
  return v;
}

void tflite_importer::each_part(rule r) {
  static const std::set<std::string> movers = {"RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE"};
  if (movers.count(m_op->name) == 0)
    fail(
        "complex numbers may be moved (RESHAPE, SQUEEZE, EXPAND_DIMS, TRANSPOSE) and taken apart (COMPLEX_ABS, REAL, "
        "IMAG, CAST). Compute with their parts instead");
  const parts from = parts_of(input(0));
  forms& x = m_scope.forms_of[static_cast<std::size_t>(input(0))];
  m_in_part = true;
  x.plain = from.real;
  (this->*r)();
  parts& to = m_scope.parts_of[output()];
  to.real = taken_part(output(), ":real");
  x.plain = from.imaginary;
  (this->*r)();
  to.imaginary = taken_part(output(), ":imaginary");
  x = {};
  m_in_part = false;
}

void tflite_importer::real_spectrum() {
  require_operands(2, 2);
  const int x = input(0);
  const std::vector<std::int64_t> lengths = integers(input(1), "the lengths of the transform");
  require(type_of(x) == element::f32 && rank(x) >= 2 && lengths.size() == 2 && lengths[0] > 0 && lengths[1] > 0,
          "it takes pictures of real numbers and two positive lengths");
  require(tensor(output()).data->type() == tfl::TensorType::COMPLEX64, "its result must be complex");
  const auto transformed = [&](value_id v, std::int64_t length, std::size_t axis, bool half) {
    const value_id n = constant(make_ints({}, {length})),
                   a = constant(make_ints({}, {static_cast<std::int64_t>(axis)}));
    return emit("DFT", {v, n, a}, {{"onesided", std::int64_t{half}}});
  };
  shape_t with_parts = shape(x);
  with_parts.push_back(1);
  value_id y = transformed(reshaped(plain(x), with_parts), lengths[1], rank(x) - 1, true);
  if (lengths[0] != 1 || shape(x)[rank(x) - 2] != 1) y = transformed(y, lengths[0], rank(x) - 2, false);
  const values split = emit_many("Split", {y}, {{"axis", std::int64_t{-1}}, {"num_outputs", std::int64_t{2}}}, 2);
  shape_t result = at(y).shape;
  result.pop_back();
  m_in_part = true;
  parts& to = m_scope.parts_of[output()];
  bind(output(), reshaped(split[0], result), false);
  to.real = taken_part(output(), ":real");
  bind(output(), reshaped(split[1], result), false);
  to.imaginary = taken_part(output(), ":imaginary");
  m_in_part = false;
}

/// COMPLEX_ABS, REAL, IMAG, and CAST to real numbers.
void tflite_importer::part_of_complex() {
  require_operands(1, 1);
  require(reads_complex(*m_op) && type_of(output()) == element::f32, "it must turn complex numbers into float32");
  const parts p = parts_of(input(0));
  value_id y = m_op->name == "IMAG" ? p.imaginary : p.real;
  if (m_op->name == "COMPLEX_ABS") {
    const value_id squares = emit("Add", {emit("Mul", {p.real, p.real}), emit("Mul", {p.imaginary, p.imaginary})});
    y = emit("Sqrt", {squares});
  }
  bind(output(), at(y).name.empty() || m_bound.count(y) != 0 ? emit("Identity", {y}) : y, false);
}

}
