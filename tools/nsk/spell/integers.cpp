// SPDX-License-Identifier: MIT
#include "spell/forms.hpp"

#include "graph/onnx_type.hpp"

namespace nsk::tool {
namespace {

/// Whether every number of a type is a float32.
bool is_held_by_float(element t) {
  return t == element::i8 || t == element::u8 || t == element::i16 || t == element::u16;
}

}

bool computes_integers(const graph& g, const node& n) {
  if (!n.domain.empty() || !n.reads(0)) return false;
  if (n.op != "MaxPool" && n.op != "Resize" && n.op != "Upsample") return false;
  const value& x = g.at(n.inputs[0]);
  return x.typed && is_held_by_float(x.type) && !x.constant;
}

void write_with_floats(speller& s) {
  const std::string mode = s.op().text("mode", "nearest");
  if (s.op().op != "MaxPool" && (mode == "cubic" || s.op().integer("antialias", 0) != 0))
    s.refuse("cubic and antialiased sizes of integers are not supported. Put a Cast to FLOAT in front of it");
  node n = s.op();
  n.name += "/" + n.op;
  n.inputs[0] = s.add("Cast", {s.in(0)}, {{"to", number_of(onnx_type::float32)}});
  n.outputs[0] = s.make_value(n.op.c_str());
  const value_id real = n.outputs[0];
  s.add(std::move(n));
  s.give(0, "Cast", {real}, {{"to", number_of(onnx_type_of(s.type(0)))}});
}

}
