// SPDX-License-Identifier: MIT
#include "resolve/integers/dequantize.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "errors.hpp"
#include "graph/integer_range.hpp"
#include "graph/onnx_type.hpp"
#include "reference/evaluator.hpp"

namespace nsk::tool {
namespace {

std::pair<double, double> range_of(element t, const std::string& who) {
  const std::optional<integer_range> range = range_of_stored(t);
  if (!range) refuse(who + ": it stores " + name_of(t) + ", which --dequantize does not know");
  return {static_cast<double>(range->low), static_cast<double>(range->high)};
}

bool equal_numbers(const array& a, const array& b) {
  bool equal = a.count() == b.count();
  for (std::int64_t i = 0; equal && i < a.count(); ++i) equal = a.number(i) == b.number(i);
  return equal;
}

bool holds_only(const array& a, double number) {
  bool only = true;
  for (std::int64_t i = 0; only && i < a.count(); ++i) only = a.number(i) == number;
  return only;
}

}

void dequantizer::infer_own(node n) {
  const bool outside = std::exchange(m_own_arithmetic, true);
  m_infer(std::move(n));
  m_own_arithmetic = outside;
}

value_id dequantizer::placed(const node& n, const char* op, const std::string& suffix, std::vector<value_id> inputs,
                             const std::map<std::string, attribute>& attributes) {
  const value_id result = m_placer.new_value(n, suffix);
  node h = m_placer.helper(n, op, suffix, std::move(inputs), result, attributes, std::max(n.version, 13));
  h.name = at(result).name;
  infer_own(std::move(h));
  return result;
}

/// Constant input `i` in float32, with as many axes as a tensor of `shape` where it has one number per position of
/// `axis`; `otherwise` where it is absent.
value_id dequantizer::quantisation(const node& n, std::size_t i, const shape_t& shape, std::int64_t axis,
                                   double otherwise) {
  const std::string suffix = "input" + std::to_string(i);
  if (!n.reads(i)) return m_placer.new_constant(n, suffix, make_floats({}, {static_cast<float>(otherwise)}));
  const value& v = at(n.inputs[i]);
  if (!v.constant) refuse(describe(m_graph, n) + ": '" + v.name + "' is computed at run time; scales are constants");
  m_folds.make(v.constant->count(), describe(m_graph, n));
  array a = converted(*v.constant, element::f32);
  const std::size_t rank = shape.size();
  const auto position = static_cast<std::size_t>(counted_from_start(axis, rank));
  const std::int64_t count = a.count();
  if (a.shape.size() > 1 || (count != 1 && (position >= rank || shape[position] != count)))
    refuse(describe(m_graph, n) + ": '" + v.name + "' has the shape " + to_string(a.shape) +
           "; one number is supported, or one per position of an axis");
  a.shape = count == 1 ? shape_t{} : shape_t(rank, 1);
  if (count != 1) a.shape[position] = count;
  return m_placer.new_constant(n, suffix, std::move(a));
}

/// x as it would be stored.
value_id dequantizer::stored(const node& n, value_id x, std::size_t scale, std::size_t zero, value_id result) {
  if (!is_float(at(x).type)) refuse(describe(m_graph, n) + ": it stores what is no float");
  const shape_t shape = at(x).shape;
  const std::int64_t axis = n.op == "QuantizeLinear" ? n.integer("axis", 1) : 1;
  if (n.integer("block_size", 0) != 0) refuse(describe(m_graph, n) + ": blocks of a scale are not supported");
  const std::int64_t named = n.integer("output_dtype", 0);
  const element of_name = named == 0         ? element::u8
                          : is_narrow(named) ? element::string
                                             : element_of_onnx(named).value_or(element::string);
  const auto [low, high] = range_of(n.reads(zero) ? at(n.inputs[zero]).type : of_name, describe(m_graph, n));
  stored_numbers s{x, quantisation(n, scale, shape, axis, 1), quantisation(n, zero, shape, axis, 0), low, high};
  const value_id shifted = placed(n, "Add", "shifted", {placed(n, "Div", "scaled", {x, s.scale}), s.zero});
  infer_own(m_placer.helper(n, "Clip", "stored", {shifted, number(n, "least", low), number(n, "most", high)}, result,
                            {}, std::max(n.version, 13)));
  m_stored.emplace(result, s);
  return result;
}

value_id dequantizer::number(const node& n, const char* suffix, double v) {
  return m_placer.new_constant(n, suffix, make_floats({}, {static_cast<float>(v)}));
}

/// Input `i` as the real numbers that it stands for.
value_id dequantizer::real(const node& n, std::size_t i, std::size_t scale, std::size_t zero, std::int64_t axis) {
  const value& x = at(n.inputs[i]);
  const value_id id = n.inputs[i];
  const shape_t shape = x.shape;
  if (!is_float(x.type) && !x.constant)
    refuse(describe(m_graph, n) + ": '" + x.name + "' is " + name_of(x.type) +
           " and no result of this model; export it with float32 inputs");
  const value_id s = quantisation(n, scale, shape, axis, 1), z = quantisation(n, zero, shape, axis, 0);
  const std::string suffix = "real" + std::to_string(i);
  const auto found = m_stored.find(id);
  if (found != m_stored.end() && found->second.from != no_value &&
      equal_numbers(*at(found->second.scale).constant, *at(s).constant) &&
      equal_numbers(*at(found->second.zero).constant, *at(z).constant) && at(s).constant->count() == 1) {
    const double unit = at(s).constant->number(0), shift = at(z).constant->number(0);
    return placed(n, "Clip", suffix,
                  {found->second.from, number(n, "lowest", (found->second.low - shift) * unit),
                   number(n, "highest", (found->second.high - shift) * unit)});
  }
  if (!is_float(at(id).type)) m_folds.make(at(id).constant->count(), describe(m_graph, n));
  value_id y = is_float(at(id).type)
                   ? id
                   : m_placer.new_constant(n, suffix + "_wide", converted(*at(id).constant, element::f32));
  if (!holds_only(*at(z).constant, 0)) y = placed(n, "Sub", suffix + "_shifted", {y, z});
  return holds_only(*at(s).constant, 1) ? y : placed(n, "Mul", suffix, {y, s});
}

void dequantizer::give(const node& n, std::size_t i, value_id v) {
  if (n.gives(i)) m_infer(m_placer.helper(n, "Identity", "output" + std::to_string(i), {v}, n.outputs[i]));
}

void dequantizer::dequantize_product(const node& n) {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  const bool conv = n.op == "ConvInteger" || n.op == "QLinearConv", stores = n.op.rfind("QLinear", 0) == 0;
  const char* op = conv ? "Conv" : "MatMul";
  std::vector<value_id> inputs;
  for (const std::size_t i : {1, 2})
    if (stores && n.inputs[i] != no_value && count_of(at(n.inputs[i]).shape) != 1)
      refuse(describe(m_graph, n) + ": a scale or zero point for each row of its first input is not supported");
  if (stores)
    inputs = {real(n, 0, 1, 2, 1), real(n, 3, 4, 5, conv ? 0 : -1)};
  else
    inputs = {real(n, 0, none, 2, -2), real(n, 1, none, 3, conv ? 0 : -1)};
  if (conv && n.reads(8)) {  // of int32, in units of both scales
    const shape_t shape = at(n.inputs[8]).shape;
    const value_id unit = placed(n, "Mul", "unit", {quantisation(n, 1, {}, 0, 1), quantisation(n, 4, shape, 0, 1)});
    inputs.push_back(placed(n, "Mul", "bias", {quantisation(n, 8, shape, 0, 0), unit}));
  }
  const value_id product = placed(n, op, "product", inputs, conv ? n.attributes : std::map<std::string, attribute>());
  if (stores)
    stored(n, product, 6, 7, n.outputs[0]);
  else
    give(n, 0, product);
  m_stored.emplace(n.outputs[0], stored_numbers{});
}

bool dequantizer::replace(const node& n) {
  if (m_own_arithmetic || !n.domain.empty() || !n.gives(0)) return false;
  for (const value_id v : n.inputs)
    if (v != no_value && !at(v).typed) return false;
  const auto takes = [&](std::size_t count) {
    if (n.inputs.size() < count || std::count(n.inputs.begin(), n.inputs.begin() + static_cast<long>(count), no_value))
      refuse(describe(m_graph, n) + ": an input is missing. The file is damaged");
  };
  if (n.op == "QuantizeLinear") {
    takes(2);
    stored(n, n.inputs[0], 1, 2, n.outputs[0]);
  } else if (n.op == "DequantizeLinear") {
    takes(2);
    if (!is_float(at(n.inputs[0]).type)) return false;
    give(n, 0, real(n, 0, 1, 2, n.integer("axis", 1)));
  } else if (n.op == "DynamicQuantizeLinear") {
    takes(1);
    give(n, 0, n.inputs[0]);
    give(n, 1, number(n, "scale", 1));
    if (n.gives(2)) give(n, 2, m_placer.new_constant(n, "zero", array(element::u8, {})));
    m_stored.emplace(n.outputs[0], stored_numbers{});
  } else if (n.op == "MatMulInteger" || n.op == "ConvInteger" || n.op == "QLinearMatMul" || n.op == "QLinearConv") {
    takes(n.op.rfind("QLinear", 0) == 0 ? 8 : 2);
    dequantize_product(n);
  } else {
    follow_stored(n);
    return false;
  }
  return true;
}

/// What only moves stored numbers gives stored numbers; what computes with them would see that they are not rounded.
void dequantizer::follow_stored(const node& n) {
  const auto is_stored = [&](value_id v) { return v != no_value && m_stored.count(v) != 0; };
  if (std::none_of(n.inputs.begin(), n.inputs.end(), is_stored)) return;
  static const std::set<std::string> movers = {
      "Identity", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze",    "Slice",        "Split", "Concat",
      "MaxPool",  "Gather",  "Expand",    "Tile",    "Pad",     "DepthToSpace", "SpaceToDepth", "Relu"};
  if (n.op == "Cast" && n.inputs[0] != no_value && is_float(at(n.inputs[0]).type) &&
      (n.integer("to", 0) == 1 || n.integer("to", 0) == 10))
    return;
  if (movers.count(n.op) == 0)
    refuse(
        describe(m_graph, n) +
        ": it computes with stored integers, which are not rounded with --dequantize. Convert the float32 model that "
        "this one was made from");
  for (const value_id v : n.outputs)
    if (v != no_value) m_stored.emplace(v, stored_numbers{});
}

}
