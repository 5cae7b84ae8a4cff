// SPDX-License-Identifier: MIT
/// Operators of ONNX's opsets 1 to 6 as opset 7 has them, by the changes that onnx/docs/Changelog.md lists.
#include "spell/forms.hpp"

#include <algorithm>

#include "graph/onnx_type.hpp"

namespace nsk::tool {
namespace {

constexpr int first_with_numpy_broadcasting = 7, first_layer_normalization = 17;

bool is_one_of(const std::string& op, const std::vector<const char*>& names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return op == name; });
}

/// The second operand, whose axes stand at `axis` of the first one: at its end where that is not said.
void broadcast(speller& s, node& n) {
  const bool spreads = n.integer("broadcast", 0) != 0 || n.op == "PRelu";
  const shape_t a = s.shape(0), b = s.shape(1);
  n.attributes.erase("broadcast");
  if (a == b || b.empty()) return;
  if (!spreads)
    s.refuse("its inputs have different shapes, and its attribute broadcast is not set. The file is damaged");
  const auto rank = static_cast<std::int64_t>(a.size()), own = static_cast<std::int64_t>(b.size());
  std::int64_t axis = n.integer("axis", rank - own);
  if (n.op == "PRelu" && own == 1 && rank > 1) axis = b[0] == 1 ? rank - 1 : 1;  // one slope for each channel
  n.attributes.erase("axis");
  if (axis < 0) axis += rank;
  if (axis < 0 || axis + own > rank) s.refuse("its second input does not fit into its first one at that axis");
  shape_t shape = b;
  shape.resize(static_cast<std::size_t>(rank - axis), 1);
  if (shape != b) n.inputs[1] = s.add("Reshape", {s.in(1), s.integers(shape)});
}

/// Scales from the attributes of opset 1.
void upsample(speller& s, node& n) {
  const float height = n.number("height_scale", 1), width = n.number("width_scale", 1);
  if (s.shape(0).size() != 4) s.refuse("it takes images");
  n.inputs.push_back(s.floats({4}, {1, 1, height, width}));
  n.attributes.erase("height_scale");
  n.attributes.erase("width_scale");
  if (n.text("mode", "nearest") == "bilinear") n.attributes["mode"] = std::string("linear");
  n.version = 9;
}

void cast(speller& s, node& n) {
  const std::string to = n.text("to", "");
  for (std::int64_t t = 1; t <= number_of(onnx_type::bfloat16); ++t) {
    if (onnx_type_name(t) != to) continue;
    n.attributes["to"] = t;
    return;
  }
  s.refuse("its attribute to names no type");
}

/// `input` as often as `tiles` says, along `axis` alone.
void tile(speller& s, node& n) {
  const array &tiles = s.constant(1), &axis = s.constant(2);
  std::vector<std::int64_t> repeats(s.shape(0).size(), 1);
  const std::int64_t at = axis.count() == 1 ? axis.integer(0) : -1;
  if (tiles.count() != 1 || at < 0 || at >= static_cast<std::int64_t>(repeats.size()))
    s.refuse("its tiles and its axis must be one number each");
  repeats[static_cast<std::size_t>(at)] = tiles.integer(0);
  n.inputs = {s.in(0), s.integers(repeats)};
}

/// Attributes of opset 1 that are inputs, or have other names or other values, since.
void rename_first_attributes(speller& s, node& n) {
  if (n.op == "Concat") n.attributes.emplace("axis", std::int64_t{1});
  if (n.op == "Selu") n.attributes.emplace("alpha", 1.6732f), n.attributes.emplace("gamma", 1.0507f);
  if (n.op == "Upsample" && n.inputs.size() == 1) upsample(s, n);
  if (n.op == "Pad" && n.has("paddings")) n.attributes["pads"] = n.integers("paddings");
  n.attributes.erase("paddings");
  if (is_one_of(n.op, {"LpPool", "GlobalLpPool"}) && n.has("p"))
    if (std::get_if<float>(&n.attributes["p"]) != nullptr)
      n.attributes["p"] = static_cast<std::int64_t>(n.number("p", 2));
}

}

bool is_older(const graph&, const node& n) {
  if (!n.domain.empty()) return false;
  return n.version < first_with_numpy_broadcasting ||
         (n.op == "LayerNormalization" && n.version < first_layer_normalization);
}

void renew(speller& s) {
  node n = s.op();
  if (n.op == "LayerNormalization") {  // ONNX Runtime has it in every opset, with the meaning that ONNX gave it
    n.version = first_layer_normalization;
    return s.add(std::move(n));
  }
  const int version = n.version;
  n.version = first_with_numpy_broadcasting;
  for (const char* name : {"consumed_inputs", "is_test", "output_sequence"}) n.attributes.erase(name);
  if (is_one_of(n.op, {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less", "PRelu"}))
    broadcast(s, n);
  if (n.op == "Gemm") n.attributes.erase("broadcast");
  if (version < 6) {
    rename_first_attributes(s, n);
    if (n.op == "Cast") cast(s, n);
    if (n.op == "Tile") tile(s, n);
    if (n.op == "Reshape" && n.inputs.size() == 1) n.inputs.push_back(s.integers(n.integers("shape")));
    if (n.op == "Reshape") n.attributes.erase("shape");
  }
  s.add(std::move(n));
}

}
