// SPDX-License-Identifier: MIT
/// Graphs inside: CALL, IF with a known condition becomes its branch, with another one both branches and a selection;
/// WHILE whose condition follows from constants becomes its bodies, one after the other.
#include <algorithm>
#include <utility>

#include "import/tflite/importer.hpp"

namespace nsk::tool {
namespace {

constexpr int most_iterations = 1024;
constexpr std::size_t most_placed = std::size_t{64} << 20;  // bytes, about, of what takes the place of graphs inside
constexpr std::size_t bytes_of_operator = 512, most_depth = 32;

/// Bytes that the operators of a graph take when it is put in the place of another operator, about.
std::size_t placed_bytes(const tflite_subgraph& g, const std::string& prefix) {
  std::size_t sum = bytes_of_operator;
  for (const tflite_operator& o : g.operators) {
    sum += bytes_of_operator + prefix.size();
    for (const int t : o.outputs) sum += g.tensors[static_cast<std::size_t>(t)].name.size() + prefix.size();
  }
  return sum;
}

}

tflite_importer::argument tflite_importer::argument_of(int t) {
  const auto resource = m_scope.handles.find(t);
  if (resource != m_scope.handles.end()) return {no_value, resource->second};
  return {plain(t), no_memory};
}

tflite_importer::arguments tflite_importer::operands_from(std::size_t first) {
  arguments result;
  for (std::size_t i = first; i < m_op->inputs.size(); ++i) result.push_back(argument_of(input(i)));
  return result;
}

/// Makes a result of a graph inside the result `t` of the operator at hand.
void tflite_importer::give(int t, const argument& a) {
  if (a.resource != no_memory)
    m_scope.handles[t] = a.resource;
  else
    bind(t, a.v, false);
}

tflite_importer::arguments tflite_importer::run_graph(int number, const arguments& given, const std::string& what,
                                                      const std::string& label) {
  const tflite_subgraph& g = m_file.subgraphs.at(number);
  const std::string prefix = operator_name(*m_op) + "/" + label + "/";
  if (given.size() != g.inputs.size())
    fail(what + " (subgraph " + std::to_string(number) + ") takes " + std::to_string(g.inputs.size()) +
         " values, but is given " + std::to_string(given.size()) + ". The file is damaged");
  if (number == 0 || !m_active.insert(number).second || m_active.size() > most_depth)
    fail(what + " (subgraph " + std::to_string(number) + ") runs itself, or more than " + std::to_string(most_depth) +
         " graphs one inside the other, which is not supported");
  m_placed += placed_bytes(g, prefix);
  if (m_placed > most_placed)
    fail("the graphs inside loops and branches would take more than " + std::to_string(most_placed >> 20) +
         " MiB when they are unrolled. Run the body of the loop as a model of its own, with its values as states");
  const tflite_operator* const operator_outside = m_op;
  scope outside = std::exchange(m_scope, scope(number, g, prefix));
  arguments results;
  try {
    for (std::size_t i = 0; i < given.size(); ++i) {
      const int t = g.inputs[i];
      if (given[i].resource != no_memory) {
        m_scope.handles[t] = given[i].resource;
        continue;
      }
      const value& v = at(given[i].v);
      if (is_open(t) && fits(t, v.shape)) m_scope.shapes[static_cast<std::size_t>(t)] = v.shape;
      if (v.shape != shape(t) || v.type != type_of(t))
        refuse(what + " (subgraph " + std::to_string(number) + ") takes '" + tensor(t).name + "' as " +
               name_of(type_of(t)) + " " + to_string(shape(t)) + ", but is given " + name_of(v.type) + " " +
               to_string(v.shape) + ". Values must keep their shapes from one iteration to the next");
      m_scope.forms_of[static_cast<std::size_t>(t)].plain = given[i].v;
    }
    for (const tflite_operator& o : g.operators) translate(o);
    for (const int t : g.outputs) results.push_back(argument_of(t));
  } catch (...) {
    m_scope = std::move(outside);
    m_op = operator_outside;
    throw;
  }
  m_scope = std::move(outside);
  m_op = operator_outside;
  m_active.erase(number);
  return results;
}

void tflite_importer::call() {
  const arguments results =
      run_graph(static_cast<int>(options<tfl::CallOptions>().subgraph()), operands_from(0), "its graph", "called");
  require(results.size() == m_op->outputs.size(), "it has another number of outputs than its graph");
  for (std::size_t i = 0; i < results.size(); ++i) give(output(i), results[i]);
}

value_id tflite_importer::scalar_condition(value_id v) {
  require(at(v).type == element::boolean && count_of(at(v).shape) == 1, "its condition must be one boolean");
  return reshaped(v, {});
}

void tflite_importer::require_same(const value_id a, const value_id b, const char* why) const {
  require(at(a).type == at(b).type && at(a).shape == at(b).shape, why);
}

std::vector<value_id> tflite_importer::memories_now() const {
  std::vector<value_id> result;
  for (const memory& m : m_memories) result.push_back(m.now);
  return result;
}

/// Sets memories back; those that were read since then keep their inputs.
void tflite_importer::restore_memories(const std::vector<value_id>& before) {
  for (std::size_t i = 0; i < m_memories.size(); ++i) {
    const value_id was = i < before.size() ? before[i] : no_value;
    m_memories[i].now = was != no_value ? was : m_memories[i].first;
  }
}

/// Memories hold what the branch that is taken leaves: `taken` in the one, what they hold now in the other.
void tflite_importer::select_memories(value_id condition, const std::vector<value_id>& taken) {
  for (memory_id i = 0; i < m_memories.size(); ++i) {
    value_id a = i < taken.size() && taken[i] != no_value ? taken[i] : m_memories[i].first, b = m_memories[i].now;
    if (a == b) continue;
    if (a == no_value || b == no_value) {
      m_memories[i].now = no_value;
      (a == no_value ? a : b) = current(i);
    }
    m_memories[i].now = b;
    write(i, emit("Where", {condition, a, b}));
  }
}

void tflite_importer::branch() {
  require(!m_op->inputs.empty(), "it has no condition. The file is damaged");
  const auto& o = options<tfl::IfOptions>();
  const value_id condition = plain(input(0));
  const value_id scalar = scalar_condition(condition);
  const arguments given = operands_from(1);
  const char* const sizes = "its branches have another number of outputs than it has. The file is damaged";
  if (at(scalar).constant) {
    const bool taken = at(scalar).constant->integer(0) != 0;
    const arguments results =
        run_graph(taken ? o.then_subgraph_index() : o.else_subgraph_index(), given, "its branch", "branch");
    require(results.size() == m_op->outputs.size(), sizes);
    for (std::size_t i = 0; i < results.size(); ++i) give(output(i), results[i]);
    return;
  }
  ++m_conditional;
  const std::vector<value_id> before = memories_now();
  const arguments a = run_graph(o.then_subgraph_index(), given, "its first branch", "then");
  const std::vector<value_id> taken = memories_now();
  restore_memories(before);
  const arguments b = run_graph(o.else_subgraph_index(), given, "its second branch", "else");
  --m_conditional;
  require(a.size() == m_op->outputs.size() && b.size() == a.size(), sizes);
  select_memories(scalar, taken);
  for (std::size_t i = 0; i < a.size(); ++i) {
    require(a[i].resource == b[i].resource, "its condition, which is computed at run time, chooses between variables");
    if (a[i].resource != no_memory) {
      give(output(i), a[i]);
      continue;
    }
    require_same(a[i].v, b[i].v,
                 "its branches give different shapes or types, and its condition is computed at run time");
    bind(output(i), emit("Where", {scalar, a[i].v, b[i].v}), false);
  }
}

void tflite_importer::loop() {
  const auto& o = options<tfl::WhileOptions>();
  arguments held = operands_from(0);
  require(held.size() == m_op->outputs.size(), "it has another number of inputs than of outputs. The file is damaged");
  ++m_loops;
  for (int iteration = 0;; ++iteration) {
    const arguments goes_on =
        run_graph(o.cond_subgraph_index(), held, "its condition", "condition_" + std::to_string(iteration));
    require(goes_on.size() == 1 && goes_on[0].v != no_value, "its condition must be one boolean. The file is damaged");
    const value_id condition = scalar_condition(goes_on[0].v);
    require(
        at(condition).constant != nullptr,
        "whether it goes on is computed at run time; loops are unrolled at conversion. Export it with a fixed number "
        "of iterations, or run its body as a model of its own, with its values as states");
    if (at(condition).constant->integer(0) == 0) break;
    if (iteration == most_iterations)
      fail("it has more than " + std::to_string(most_iterations) +
           " iterations, which is more than can be unrolled. Run its body as a model of its own, with its values as "
           "states");
    held = run_graph(o.body_subgraph_index(), held, "its body", "body_" + std::to_string(iteration));
    require(held.size() == m_op->outputs.size(), "its body has another number of outputs. The file is damaged");
  }
  --m_loops;
  for (std::size_t i = 0; i < held.size(); ++i) give(output(i), held[i]);
}

}
