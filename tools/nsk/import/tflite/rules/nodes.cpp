// SPDX-License-Identifier: MIT
#include "import/tflite/rules/nodes.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "import/tflite/file/constants.hpp"
#include "import/tflite/rules/operands.hpp"

namespace nsk::tool::tflite {
namespace {

using list = std::vector<std::int64_t>;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Integers between two limits, each of which may be infinite.
value_id limited(call& c, value_id v, double low, double high) {
  const auto limit = [&](double l) {
    array a(c.at(v).type, {});
    a.set_integer(0, static_cast<std::int64_t>(l));
    return c.constant(std::move(a));
  };
  if (low != -infinity) v = c.emit("Max", {v, limit(low)});
  if (high != infinity) v = c.emit("Min", {v, limit(high)});
  return v;
}

/// An activation, within two limits more.
value_id activated_within(call& c, value_id v, tfl::Activation a, double low, double high) {
  switch (a) {
    case tfl::Activation::NONE: break;
    case tfl::Activation::RELU: low = std::max(low, 0.0); break;
    case tfl::Activation::RELU_N1_TO_1: low = std::max(low, -1.0), high = std::min(high, 1.0); break;
    case tfl::Activation::RELU6: low = std::max(low, 0.0), high = std::min(high, 6.0); break;
    default:  // runtimes ignore a fused Tanh, or apply it
      c.fail("its fused activation " + std::to_string(static_cast<int>(a)) +
             " is not supported. Export it as an operator");
  }
  if (low == -infinity && high == infinity) return v;
  if (is_integer(c.at(v).type)) return limited(c, v, low, high);
  if (low == 0 && high == infinity) return c.emit("Relu", {v});
  return c.emit("Clip", {v, constant_number(c, low), constant_number(c, high)});
}

}

value_id constant_integers(call& c, const list& numbers) {
  return c.constant(make_ints({static_cast<std::int64_t>(numbers.size())}, numbers));
}

value_id constant_number(call& c, double v) { return c.constant(make_floats({}, {static_cast<float>(v)})); }

value_id transposed(call& c, value_id v, const list& order) { return c.emit("Transpose", {v}, {{"perm", order}}); }

value_id reshaped(call& c, value_id v, const shape_t& shape) {
  if (c.at(v).shape == shape) return v;
  return c.emit("Reshape", {v, constant_integers(c, shape)}, {{"allowzero", std::int64_t{1}}});
}

value_id cast(call& c, value_id v, element to) {
  static const std::map<element, std::int64_t> onnx_types = {
      {element::f32, 1}, {element::u8, 2},  {element::i8, 3},      {element::u16, 4},  {element::i16, 5},
      {element::i32, 6}, {element::i64, 7}, {element::boolean, 9}, {element::f64, 11}, {element::u32, 12}};
  const auto known = onnx_types.find(to);
  c.require(known != onnx_types.end(), "its element type is not supported");
  return c.emit("Cast", {v}, {{"to", known->second}});
}

value_id gathered(call& c, value_id v, std::int64_t axis, const list& positions) {
  return c.emit("Gather", {v, constant_integers(c, positions)}, {{"axis", axis}});
}

value_id sliced(call& c, value_id v, bool images, const list& starts, const list& stops, const list& steps) {
  list axes(starts.size()), ends = stops;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    axes[a] = axis_in(images, a);
    if (ends[a] < 0) ends[a] = std::numeric_limits<std::int32_t>::min();  // before the first element, not from the end
  }
  const value_id from = constant_integers(c, starts), to = constant_integers(c, ends);
  return c.emit("Slice", {v, from, to, constant_integers(c, axes), constant_integers(c, steps)});
}

value_id joined(call& c, const values& parts, std::int64_t axis) {
  return parts.size() == 1 ? parts[0] : c.emit("Concat", parts, {{"axis", axis}});
}

value_id activated(call& c, value_id v, tfl::Activation a) { return activated_within(c, v, a, -infinity, infinity); }

value_id saturated(call& c, value_id v, int t) {
  if (!is_quantized(c.tensor(t)) || c.is_stored(t)) return v;
  const auto [low, high] = quantized_range(c.tensor(t));
  return c.emit("Clip", {v, constant_number(c, low), constant_number(c, high)});
}

void finish(call& c, std::size_t i, value_id v, bool images, tfl::Activation a) {
  double low = -infinity, high = infinity;
  const tflite_tensor& t = c.tensor(c.output(i));
  if (is_quantized(t) && !c.is_stored(c.output(i))) std::tie(low, high) = quantized_range(t);
  c.bind(i, activated_within(c, v, a, low, high), images);
}

}
