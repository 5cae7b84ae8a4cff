// SPDX-License-Identifier: MIT
#include "reference/operators.hpp"

#include <algorithm>
#include <cmath>

#include "graph/cures.hpp"

namespace nsk::tool::reference {

element held_as(element t) {
  if (is_float(t)) return element::f64;
  return t == element::boolean ? element::boolean : element::i64;
}

const operand& call::required(std::size_t i) const {
  if (!has(i)) fail("input " + std::to_string(i) + " is missing");
  return m_inputs[i];
}

const array& call::data(std::size_t i) const {
  const operand& o = required(i);
  if (o.data == nullptr) {
    fail("the shape of its output depends on the values of input " + std::to_string(i) + " ('" +
         m_graph.values[static_cast<std::size_t>(m_node.inputs[i])].name +
         "'), which are computed at run time; shapes must be known at conversion. " +
         cure_that_sets(m_graph, m_node.inputs[i]) + ", or " + cure_that_ends_before(m_graph, m_node));
  }
  return *o.data;
}

std::vector<std::int64_t> call::integer_list(std::size_t i) const {
  const array& a = data(i);
  std::vector<std::int64_t> list(static_cast<std::size_t>(a.count()));
  for (std::size_t k = 0; k < list.size(); ++k) list[k] = a.integer(static_cast<std::int64_t>(k));
  return list;
}

double call::scalar(std::size_t i) const {
  const array& a = data(i);
  if (a.count() != 1) fail("input " + std::to_string(i) + " must hold one value");
  return a.number(0);
}

std::int64_t call::integer_scalar(std::size_t i) const {
  const array& a = data(i);
  if (a.count() != 1 || a.type != element::i64) fail("input " + std::to_string(i) + " must hold one integer");
  return a.integer(0);
}

void call::declare(std::size_t i, element type, shape_t shape) {
  if (!wants(i)) return;
  m_outputs[i].declared = true;
  m_outputs[i].type = type;
  m_outputs[i].shape = std::move(shape);
}

std::string call::who() const {
  // Shapes as this call sees them: the graph may not know them yet.
  graph shown;
  node n = m_node;
  for (std::size_t i = 0; i < m_inputs.size(); ++i) {
    if (n.inputs[i] == no_value) continue;
    value v;
    v.set(m_inputs[i].type, m_inputs[i].shape);
    n.inputs[i] = shown.add(std::move(v));
  }
  return describe(shown, n);
}

void call::fail(const std::string& why) const { refuse(who() + ": " + why); }

void call::fail_on_data(const std::string& why) const { throw undefined_result(who() + ": " + why); }

void call::require_inputs(std::size_t minimum, std::size_t maximum) const {
  if (m_inputs.size() > maximum)
    fail("it has " + std::to_string(m_inputs.size()) + " inputs, at most " + std::to_string(maximum) + " are defined");
  for (std::size_t i = 0; i < minimum; ++i) required(i);
}

void call::require_float(std::size_t i) const {
  if (!is_float(type(i))) fail("input " + std::to_string(i) + " must be of a float type");
}

void call::require_rank(std::size_t i, std::size_t minimum, std::size_t maximum) const {
  if (rank(i) < minimum || rank(i) > maximum)
    fail("input " + std::to_string(i) + " must have " +
         (minimum == maximum ? std::to_string(minimum) : std::to_string(minimum) + " to " + std::to_string(maximum)) +
         " dimensions");
}

std::size_t call::axis(std::int64_t axis, std::size_t rank) const {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r)
    fail("axis " + std::to_string(axis) + " does not exist in " + std::to_string(rank) + " dimensions");
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

const table& operators() {
  static const table all = [] {
    table t;
    for (add_operators* add :
         {add_unary,         add_elementwise, add_convolution,   add_pooling,  add_matrix,
          add_normalization, add_shape,       add_slicing,       add_constant, add_selection,
          add_suppression,   add_unique,      add_reduction,     add_resize,   add_recurrent,
          add_random,        add_trees,       add_tree_ensemble, add_linear,   add_einsum,
          add_sample,        add_regions,     add_signal,        add_quantize, add_integer_products})
      add(t);
    return t;
  }();
  return all;
}

const definition* find_operator(const node& n) {
  const auto found = operators().find(n.domain.empty() ? n.op : n.domain + "." + n.op);
  return found != operators().end() && n.version >= found->second.since ? &found->second : nullptr;
}

void infer_same(call& c) {
  c.require_inputs(1, 1);
  c.declare(0, c.type(0), c.shape(0));
}

void infer_same_float(call& c) {
  infer_same(c);
  c.require_float(0);
}

double cubic_kernel(double a, double t) {
  t = std::fabs(t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

std::vector<std::size_t> axes_of(const call& c, std::size_t i, std::size_t rank) {
  const std::vector<std::int64_t> given = c.has(i) ? c.integer_list(i) : c.op().integers("axes");
  std::vector<std::size_t> axes;
  for (std::int64_t a : given) {
    axes.push_back(c.axis(a, rank));
    if (std::count(axes.begin(), axes.end(), axes.back()) != 1) c.fail("an axis is given twice");
  }
  return axes;
}

shape_t strides_of(const shape_t& shape) {
  shape_t stride(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) stride[d - 1] = stride[d] * shape[d];
  return stride;
}

shape_t broadcast_strides(const shape_t& from, const shape_t& to) {
  const shape_t own = strides_of(from);
  shape_t stride(to.size(), 0);
  for (std::size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1) stride[to.size() - from.size() + d] = own[d];
  return stride;
}

shape_t broadcast(const call& c, const shape_t& a, const shape_t& b) {
  shape_t result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 1; i <= result.size(); ++i) {
    const std::int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1)
      c.fail("shapes " + to_string(a) + " and " + to_string(b) + " cannot be broadcast together");
    result[result.size() - i] = x == 1 ? y : x;
  }
  return result;
}

}
