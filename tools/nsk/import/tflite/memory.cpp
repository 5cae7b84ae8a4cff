// SPDX-License-Identifier: MIT
/// What lasts from run to run: variable tensors, and resources that operators read and assign. Both become states.
#include <algorithm>

#include "import/names.hpp"
#include "import/tflite/importer.hpp"

namespace nsk::tool {

tflite_importer::memory_id tflite_importer::memory_of(int t) {
  const auto [found, is_new] = m_variables.try_emplace({m_scope.number, t}, m_memories.size());
  if (is_new) m_memories.push_back({m_scope.number == 0 ? tensor(t).name : m_value_names.unique(tensor(t).name)});
  require(!m_initialising, "it uses a variable tensor inside an initialiser");
  require(m_loops == 0,
          "its state is a variable tensor inside a loop, which runtimes do not keep. Export the loop's state as values "
          "that the loop carries, or as a variable that it reads and assigns");
  memory& m = m_memories[found->second];
  if (m.now != no_value) return found->second;
  value v;
  v.name = m.name;
  v.type = type_of(t);
  v.shape = shape(t);
  v.typed = v.known_rank = true;
  m.first = m.now = m_graph.add(std::move(v));
  m_graph.inputs.push_back(m.first);
  m_bound.insert(m.first);
  return found->second;
}

value_id tflite_importer::current(memory_id id) {
  memory& m = m_memories[id];
  if (m.now != no_value) return m.now;
  if (!m.initial)
    fail("the variable '" + m.name +
         "' is read before anything has given it a value. Export the model with the variable's initialiser");
  if (m_initialising) return constant(*m.initial);
  value v;
  v.name = m.name = m_value_names.unique(m.name);
  v.type = m.initial->type;
  v.shape = m.initial->shape;
  v.typed = v.known_rank = true;
  m.first = m.now = m_graph.add(std::move(v));
  m_graph.inputs.push_back(m.first);
  m_bound.insert(m.first);
  return m.now;
}

void tflite_importer::write(memory_id id, value_id v) {
  memory& m = m_memories[id];
  const value& before = m.now != no_value ? at(m.now) : at(v);
  const bool fits = before.shape == at(v).shape && before.type == at(v).type &&
                    (!m.initial || (m.initial->shape == at(v).shape && m.initial->type == at(v).type));
  if (!fits)
    fail("the variable '" + m.name + "' would change its type or shape to " + name_of(at(v).type) + " " +
         to_string(at(v).shape) + "; a state keeps both");
  m.now = v;
}

void tflite_importer::write_variable(int t, value_id v) {
  write(memory_of(t), v);
  m_scope.forms_of[static_cast<std::size_t>(t)] = {v, no_value, false};
}

void tflite_importer::finish_memories() {
  const auto begins_with_zeros = [](const array& a) {
    return std::all_of(a.data.begin(), a.data.end(), [](std::byte b) { return b == std::byte{0}; });
  };
  for (const memory& m : m_memories) {
    if (m.first == no_value) continue;
    value_id next = m.now;
    if (m_bound.count(next) != 0 || at(next).constant) next = emit("Identity", {next});
    m_bound.insert(next);
    value& v = m_graph.values[static_cast<std::size_t>(next)];
    v.name = m_value_names.unique(m.name + ":next");
    m_graph.outputs.push_back(next);
    m_graph.states.push_back(
        {at(m.first).name, v.name, m.initial && !begins_with_zeros(*m.initial) ? m.initial : nullptr});
  }
}

tflite_importer::memory_id tflite_importer::resource_of(int t) const {
  const auto found = m_scope.handles.find(t);
  if (found == m_scope.handles.end())
    fail("'" + tensor(t).name + "' does not come from a VAR_HANDLE, so the variable that it names is not known");
  return found->second;
}

void tflite_importer::variable_handle() {
  require_operands(0, 0);
  const auto& o = options<tfl::VarHandleOptions>();
  const auto text = [](const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); };
  const std::string name = text(o.shared_name()), container = text(o.container());
  require_name(name + container, "the name of a variable");
  const auto [found, is_new] = m_resources.try_emplace(container + '\n' + name, m_memories.size());
  if (is_new) {
    m_memories.push_back({name.empty() ? "variable" : name});
    m_memories.back().resource = true;
  }
  m_scope.handles[output()] = found->second;
}

void tflite_importer::read_variable() {
  require_operands(1, 1);
  bind(output(), current(resource_of(input(0))), false);
}

void tflite_importer::assign_variable() {
  require_operands(2, 2, 0);
  const memory_id id = resource_of(input(0));
  const value_id v = plain(input(1));
  if (!m_initialising) return write(id, v);
  if (!at(v).constant) fail("the initial value of the variable '" + m_memories[id].name + "' must be a constant");
  m_memories[id].initial = at(v).constant;
}

/// Initial values, before anything else has happened to the variables.
void tflite_importer::call_once() {
  require_operands(0, 0, 0);
  const int number = options<tfl::CallOnceOptions>().init_subgraph_index();
  if (!m_called_once.insert(number).second) return;
  require(
      m_conditional == 0 && !m_initialising,
      "it is inside a branch that depends on data, or inside another one. Export the model with its initialisers at "
      "the beginning");
  for (const memory& m : m_memories)
    if (m.resource && m.now != no_value)
      fail("the variable '" + m.name + "' was read or assigned before. Export the model with its initialisers first");
  m_initialising = true;
  run_graph(number, {}, "its initialiser", "initialiser");
  m_initialising = false;
}

}
