// SPDX-License-Identifier: MIT
#include "passes/canonicalise/context.hpp"
#include <limits>
#include "errors.hpp"

namespace nsk::tool::canonical {
namespace {

constexpr double numbers_for_all = 1 << 25, numbers_per_held = 16;

}

context::context(const graph& g, bool bytes, const graph* bounds)
    : m_graph(g),
      m_bytes(bytes),
      m_bounds(bounds),
      m_map(g.values.size(), no_value),
      m_budget(numbers_for_all + numbers_per_held * static_cast<double>(constant_elements(g))) {
  m_program.name = g.name;
}

const shape_t& context::bound_shape(std::size_t i) const {
  const value_id at_bounds = m_bounds == nullptr ? no_value : m_bounds->find(input(i).name);
  return at_bounds == no_value ? in_shape(i) : m_bounds->at(at_bounds).shape;
}

value_id context::output_id(std::size_t i) const {
  if (!wants(i)) refuse("its output " + std::to_string(i) + " has no name, though it is what the operator computes");
  return op().outputs[i];
}

int context::of(value_id v) {
  int& slot = m_map[static_cast<std::size_t>(v)];
  if (slot == no_value) {
    const value& source = m_graph.values[static_cast<std::size_t>(v)];
    if (source.constant && source.constant->count() == 0)
      tool::refuse("constant '" + source.name +
                   "' has no elements. Choose outputs that do not need it (--output-value NAME)");
    slot = m_program.add({source.name, source.type, source.shape, source.constant});
  }
  return slot;
}

operation& context::emit(operation_parameters p, std::vector<int> inputs, int result) {
  operation o;
  o.name = op().name;
  o.source = describe(m_graph, op());
  o.inputs = std::move(inputs);
  o.output = result == no_value ? out() : result;
  o.p = std::move(p);
  m_program.operations.push_back(std::move(o));
  return m_program.operations.back();
}

int context::temporary(const std::string& suffix, shape_t shape, element type) {
  double count = 1;
  for (const std::int64_t d : shape) count *= static_cast<double>(d);
  if (count > std::numeric_limits<std::int32_t>::max())
    refuse("it needs a tensor of the shape " + to_string(shape) +
           ", but those of the engine have at most 2^31 - 1 elements. Export the model for smaller inputs");
  return m_program.add({op().name + "#" + suffix, type, std::move(shape), nullptr});
}

void context::charge(double count) {
  m_budget -= count;
  if (m_budget < 0)
    refuse(
        "its weights and tables, with those of the nodes before it, have more numbers than a model with so few "
        "constants may make (2^25, and 16 for each that it holds). Use fewer copies of one constant, or smaller "
        "sizes");
}

int context::axis(std::int64_t axis, std::size_t rank) const {
  const auto dims = static_cast<std::int64_t>(rank);
  if (axis < -dims || axis >= dims)
    refuse("its axis " + std::to_string(axis) + " is outside the " + std::to_string(rank) + " dimensions");
  return static_cast<int>(axis < 0 ? axis + dims : axis);
}

void context::refuse(const std::string& why) const { tool::refuse(describe(m_graph, op()) + ": " + why); }

}
