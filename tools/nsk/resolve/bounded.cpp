// SPDX-License-Identifier: MIT
#include "resolve/bounded.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "errors.hpp"
#include "graph/onnx_type.hpp"
#include "reference/operators.hpp"
#include "resolve/axes.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t max_rows = std::int64_t{1} << 24;  // float32 counts so far

/// Operators that compute each element from the elements at its place.
bool is_elementwise(const std::string& op) {
  static const std::set<std::string> names = [] {
    std::istringstream words(
        "Abs Acos Acosh Add And Asin Asinh Atan Atan2 Atanh Cast Ceil Celu Clip Cos Cosh Div Elu Equal "
        "Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu "
        "Less LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu "
        "Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Sum Swish Tan Tanh ThresholdedRelu Where "
        "Xor");
    return std::set<std::string>(std::istream_iterator<std::string>(words), {});
  }();
  return names.count(op) != 0;
}

}

bool bounded_rows::takes(const node& n) {
  return n.domain.empty() && (n.op == "NonZero" || n.op == "Compress" || n.op == "Unique" || n.op == "Range");
}

void bounded_rows::bound(node& n) {
  if (n.op == "Range") return bound_range(n);
  const bool compress = n.op == "Compress", unique = n.op == "Unique";
  const std::size_t condition = compress ? 1 : 0;
  if (n.inputs.size() <= condition || n.inputs[condition] == no_value || n.inputs[0] == no_value) return;
  const shape_t& x = at(n.inputs[0]).shape;
  const std::int64_t axis = n.has("axis") ? counted_from_start(n.integer("axis", 0), x.size()) : 0;
  if (axis < 0 || (n.has("axis") && axis >= static_cast<std::int64_t>(x.size()))) return;
  const bool along_axis = unique && n.has("axis");
  const std::int64_t rows = along_axis ? x[static_cast<std::size_t>(axis)] : count_of(at(n.inputs[condition]).shape);
  if (n.outputs.empty() || n.outputs[0] == no_value || rows == 0) return;  // inference says what is wrong
  if (rows > max_rows)
    refuse(describe(m_graph, n) + ": it may have " + std::to_string(rows) + " results, more than 2^24");
  n.attributes[reference::suppression_bound] = rows;
  m_filled[n.outputs[0]] = compress || unique ? axis : 1;
  if (unique)
    count_groups(n);
  else
    count_chosen(n, n.inputs[condition]);
}

void bounded_rows::require_bounds_used() const {
  for (const auto& [name, count] : m_bounds)
    if (m_used.count(name) == 0)
      misuse("--bound names '" + name + "', which is not the output of a Range whose length is computed at run time.");
}

/// A Range counts itself, in a second output that ONNX does not have.
void bounded_rows::bound_range(node& n) {
  if (n.outputs.empty() || n.outputs[0] == no_value) return;
  const auto given = m_bounds.find(at(n.outputs[0]).name);
  if (given == m_bounds.end())
    refuse(describe(m_graph, n) +
           ": its length is computed at run time, but shapes must be known at conversion. Say how long it can be at "
           "most: --bound " +
           at(n.outputs[0]).name + "=COUNT; an output '" + at(n.outputs[0]).name + ".count' then says how long it is");
  m_used.insert(given->first);
  n.attributes[reference::suppression_bound] = given->second;
  n.outputs.resize(1);
  n.outputs.push_back(m_placer.new_value(n, "count"));
  m_filled[n.outputs[0]] = 0;
  give_out(n, n.outputs[1]);
}

/// Adds the output NAME.count of a Unique: the largest group that an element is in, and 1.
void bounded_rows::count_groups(node& n) {
  constexpr std::size_t positions = 1, groups = 2, counts = 3;
  for (const std::size_t i : {positions, counts})
    if (i < n.outputs.size() && n.outputs[i] != no_value) m_filled[n.outputs[i]] = 0;
  n.outputs.resize(std::max(n.outputs.size(), groups + 1), no_value);
  if (n.outputs[groups] == no_value) n.outputs[groups] = m_placer.new_value(n, "groups");
  const value_id last = m_placer.new_value(n, "last"), count = m_placer.new_value(n, "count"),
                 one = m_placer.new_constant(n, "one", make_ints({}, {1}));
  node largest = node_placer::helper(n, "ReduceMax", "last", {n.outputs[groups]}, last),
       add = node_placer::helper(n, "Add", "count", {last, one}, count);
  largest.attributes["keepdims"] = std::int64_t{0};
  m_placer.place({add, largest});
  give_out(n, count);
}

/// Makes `count` the output NAME.count of `n`.
void bounded_rows::give_out(const node& n, value_id count) {
  at(count).name = at(n.outputs[0]).name + ".count";
  m_graph.outputs.push_back(count);
}

/// Adds the output NAME.count of `n`: how many elements of `mask` are not 0.
void bounded_rows::count_chosen(const node& n, value_id mask) {
  const value_id chosen = m_placer.new_value(n, "chosen"), numbers = m_placer.new_value(n, "numbers"),
                 sum = m_placer.new_value(n, "sum"), count = m_placer.new_value(n, "count");
  node to_boolean = node_placer::helper(n, "Cast", "chosen", {mask}, chosen),
       to_float = node_placer::helper(n, "Cast", "numbers", {chosen}, numbers),
       total = node_placer::helper(n, "ReduceSum", "sum", {numbers}, sum),
       to_integer = node_placer::helper(n, "Cast", "count", {sum}, count);
  to_boolean.attributes["to"] = number_of(onnx_type::boolean);
  to_float.attributes["to"] = number_of(onnx_type::float32);
  total.attributes["keepdims"] = std::int64_t{0};
  to_integer.attributes["to"] = number_of(onnx_type::int64);
  m_placer.place({to_integer, total, to_float, to_boolean});
  give_out(n, count);
}

/// Where filled rows of input 0 of `n` are in its output; refuses operators that the list does not have.
std::int64_t bounded_rows::axis_behind(const node& n, std::int64_t axis) {
  const std::size_t rank = at(n.inputs[0]).shape.size();
  if (n.op == "Transpose") {
    const std::vector<std::int64_t> order = n.integers("perm");
    if (order.empty()) return static_cast<std::int64_t>(rank) - 1 - axis;
    return std::find(order.begin(), order.end(), axis) - order.begin();
  }
  std::vector<std::int64_t> axes = n.integers("axes");
  if (axes.empty() && n.inputs.size() > 1 && n.inputs[1] != no_value && at(n.inputs[1]).constant)
    for (std::int64_t i = 0; i < at(n.inputs[1]).constant->count(); ++i)
      axes.push_back(at(n.inputs[1]).constant->integer(i));
  if (n.op == "Unsqueeze" || n.op == "Squeeze") {
    const std::size_t wide = n.op == "Unsqueeze" ? rank + axes.size() : rank;
    for (std::int64_t& a : axes) a = counted_from_start(a, wide);
    std::sort(axes.begin(), axes.end());
    if (n.op == "Unsqueeze") {
      for (const std::int64_t a : axes) axis += a <= axis ? 1 : 0;
      return axis;
    }
    if (!axes.empty() && std::find(axes.begin(), axes.end(), axis) == axes.end())
      return axis - std::count_if(axes.begin(), axes.end(), [&](std::int64_t a) { return a < axis; });
  }
  return -1;
}

void bounded_rows::follow(const node& n) {
  const auto filled = std::find_if(n.inputs.begin(), n.inputs.end(), [&](value_id v) { return is_filled(v); });
  if (filled == n.inputs.end()) return;
  const std::int64_t axis = m_filled.at(*filled);
  std::int64_t behind = -1;
  if (is_elementwise(n.op)) {
    std::int64_t from_end = 0;
    std::size_t rank = 0;
    bool same = true;
    for (const value_id v : n.inputs) {
      if (v == no_value) continue;
      rank = std::max(rank, at(v).shape.size());
      if (!is_filled(v)) continue;
      const std::int64_t mine = static_cast<std::int64_t>(at(v).shape.size()) - m_filled.at(v);
      same = same && (from_end == 0 || from_end == mine);
      from_end = mine;
    }
    behind = same ? static_cast<std::int64_t>(rank) - from_end : -1;
  } else if (n.op == "Gather" && filled == n.inputs.begin() + 1) {
    behind = axis + counted_from_start(n.integer("axis", 0), at(n.inputs[0]).shape.size());
  } else if (n.op == "Gather" && filled == n.inputs.begin() && n.inputs[1] != *filled) {
    const std::int64_t along = counted_from_start(n.integer("axis", 0), at(*filled).shape.size()),
                       more = static_cast<std::int64_t>(at(n.inputs[1]).shape.size()) - 1;
    behind = along == axis ? -1 : along < axis ? axis + more : axis;
  } else if (n.op == "GatherND" && filled == n.inputs.begin() + 1 &&
             axis + 1 < static_cast<std::int64_t>(at(*filled).shape.size())) {
    behind = axis;
  } else if (n.op == "Split" && filled == n.inputs.begin()) {
    behind = counted_from_start(n.integer("axis", 0), at(*filled).shape.size()) == axis ? -1 : axis;
  } else if ((n.op == "MatMul" || n.op == "Gemm") && filled == n.inputs.begin() && n.integer("transA", 0) == 0 &&
             axis + 1 < static_cast<std::int64_t>(at(*filled).shape.size()) &&
             std::none_of(n.inputs.begin() + 1, n.inputs.end(), [&](value_id v) { return is_filled(v); })) {
    behind = axis + std::max<std::int64_t>(0, static_cast<std::int64_t>(at(n.inputs[1]).shape.size()) -
                                                  static_cast<std::int64_t>(at(*filled).shape.size()));
  } else if (filled == n.inputs.begin()) {
    behind = axis_behind(n, axis);
  }
  if (behind < 0)
    refuse(describe(m_graph, n) + ": '" + at(*filled).name +
           "' has as many rows as there can be at most, and the filled ones behind the last would enter the result. "
           "Make '" +
           at(*filled).name + "' an output with --output-value, and compute the rest in the game");
  for (const value_id v : n.outputs)
    if (v != no_value) m_filled[v] = behind;
}

}
