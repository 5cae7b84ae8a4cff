// SPDX-License-Identifier: MIT
/// Rules for complex numbers: spectra, their parts and magnitudes. A complex tensor is two values, real and imaginary
/// parts; operators that move elements move both.
#include "import/tflite/rules/complex.hpp"

#include <utility>

#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"

namespace nsk::tool::tflite {
namespace {

const complex_parts& parts_of(call& c, int t) {
  const auto& known = c.all().known.here().parts_of;
  const auto found = known.find(t);
  if (found == known.end())
    c.fail("'" + c.tensor(t).name + "' is complex, and comes from no RFFT2D. Export the model with real numbers there");
  return found->second;
}

/// The value that `t` was bound to becomes one of its parts.
value_id taken_part(call& c, int t, const char* part) {
  emitter& made = c.all().made;
  const value_id v = std::exchange(c.all().known.here().forms_of[static_cast<std::size_t>(t)], {}).plain;
  const std::string& name = c.at(v).name;
  if (name == c.tensor(t).name) made.set_name(v, made.names().unique(name + part));
  return v;
}

/// RFFT2D: half the spectrum along the last axis, then a whole transform along the axis before it.
void real_spectrum(call& c) {
  c.require_operands(2, 2);
  const int x = c.input(0);
  const std::vector<std::int64_t> lengths = integers(c, c.input(1), "the lengths of the transform");
  c.require(c.type(x) == element::f32 && c.rank(x) >= 2 && lengths.size() == 2 && lengths[0] > 0 && lengths[1] > 0,
            "it takes images of real numbers and two positive lengths");
  c.require(c.tensor(c.output()).data->type() == tfl::TensorType::COMPLEX64, "its result must be complex");
  const auto transformed = [&](value_id v, std::int64_t length, std::size_t axis, bool half) {
    const value_id n = c.constant(make_ints({}, {length})),
                   a = c.constant(make_ints({}, {static_cast<std::int64_t>(axis)}));
    return c.emit("DFT", {v, n, a}, {{"onesided", std::int64_t{half}}});
  };
  shape_t with_parts = c.shape(x);
  with_parts.push_back(1);
  value_id y = transformed(reshaped(c, c.plain(x), with_parts), lengths[1], c.rank(x) - 1, true);
  const bool is_one_row = lengths[0] == 1 && c.shape(x)[c.rank(x) - 2] == 1;  // its transform of length 1 is the row
  if (!is_one_row) y = transformed(y, lengths[0], c.rank(x) - 2, false);
  const values split = c.emit_many("Split", {y}, {{"axis", std::int64_t{-1}}, {"num_outputs", std::int64_t{2}}}, 2);
  shape_t result = c.at(y).shape;
  result.pop_back();
  scope& here = c.all().known.here();
  here.in_part = true;  // the complex output may be bound to float32
  complex_parts& to = here.parts_of[c.output()];
  c.bind(0, reshaped(c, split[0], result));
  to.real = taken_part(c, c.output(), ":real");
  c.bind(0, reshaped(c, split[1], result));
  to.imaginary = taken_part(c, c.output(), ":imaginary");
  here.in_part = false;
}

}

bool reads_complex(const call& c) {
  for (const int t : c.op().inputs)
    if (t >= 0 && c.tensor(t).data->type() == tfl::TensorType::COMPLEX64) return true;
  return false;
}

void translate_parts(call& c, const definition& rule) {
  if ((rule.properties & moves_complex) == 0)
    c.fail(
        "complex numbers may be moved (RESHAPE, SQUEEZE, EXPAND_DIMS, TRANSPOSE) and taken apart (COMPLEX_ABS, REAL, "
        "IMAG, CAST). Compute with their parts instead");
  scope& here = c.all().known.here();
  const complex_parts from = parts_of(c, c.input(0));
  forms& x = here.forms_of[static_cast<std::size_t>(c.input(0))];
  here.in_part = true;
  x.plain = from.real;
  rule.translate(c);
  complex_parts& to = here.parts_of[c.output()];
  to.real = taken_part(c, c.output(), ":real");
  x.plain = from.imaginary;
  rule.translate(c);
  to.imaginary = taken_part(c, c.output(), ":imaginary");
  x = {};
  here.in_part = false;
}

void part_of_complex(call& c) {
  c.require_operands(1, 1);
  c.require(reads_complex(c) && c.type(c.output()) == element::f32, "it must turn complex numbers into float32");
  const complex_parts p = parts_of(c, c.input(0));
  value_id y = c.name() == "IMAG" ? p.imaginary : p.real;
  if (c.name() == "COMPLEX_ABS") {
    const value_id squares =
        c.emit("Add", {c.emit("Mul", {p.real, p.real}), c.emit("Mul", {p.imaginary, p.imaginary})});
    y = c.emit("Sqrt", {squares});
  }
  c.bind(0, c.all().made.is_named(y) ? c.emit("Identity", {y}) : y);
}

void add_spectra(table& t) {
  t["RFFT2D"] = {real_spectrum};
  add_rows(t, {"COMPLEX_ABS", "REAL", "IMAG"}, {part_of_complex, takes_complex});
}

}
