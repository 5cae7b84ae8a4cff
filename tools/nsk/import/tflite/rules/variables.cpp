// SPDX-License-Identifier: MIT
#include "import/tflite/rules/variables.hpp"

#include <algorithm>

#include "errors.hpp"

namespace nsk::tool::tflite {

variable_id variables::of_variable(int graph, int tensor, const std::string& name, element type, const shape_t& shape,
                                   std::int64_t start) {
  const auto [found, is_new] = m_tensors.try_emplace({graph, tensor}, m_variables.size());
  if (is_new) {
    m_variables.push_back({graph == m_around.first ? name : m_emitter.names().unique(name)});
    if (start != 0) {
      m_emitter.limits().make(count_of(shape), "its state");
      array numbers(type, shape);
      for (std::int64_t i = 0; i < numbers.count(); ++i) numbers.set_integer(i, start);
      m_variables.back().initial = std::make_shared<const array>(std::move(numbers));
    }
  }
  if (m_around.initialising) refuse("it uses a variable tensor inside an initialiser");
  if (m_around.loops != 0)
    refuse(
        "its state is a variable tensor inside a loop, which runtimes do not keep. Export the loop's state as values "
        "that the loop carries, or as a variable that it reads and assigns");
  variable& m = m_variables[found->second];
  if (m.now == no_value) m.first = m.now = m_emitter.add_input(m.name, type, shape);
  return found->second;
}

variable_id variables::of_resource(const std::string& container, const std::string& name) {
  const auto [found, is_new] = m_resources.try_emplace(container + '\n' + name, m_variables.size());
  if (is_new) {
    m_variables.push_back({name.empty() ? "variable" : name});
    m_variables.back().resource = true;
  }
  return found->second;
}

value_id variables::current(variable_id id) {
  variable& m = m_variables[id];
  if (m.now != no_value) return m.now;
  if (!m.initial)
    refuse("the variable '" + m.name +
           "' is read before anything has given it a value. Export the model with the variable's initialiser");
  if (m_around.initialising) return m_emitter.constant(*m.initial);
  m.name = m_emitter.names().unique(m.name);
  return m.first = m.now = m_emitter.add_input(m.name, m.initial->type, m.initial->shape);
}

void variables::write(variable_id id, value_id v) {
  variable& m = m_variables[id];
  const value &after = m_emitter.at(v), &before = m.now != no_value ? m_emitter.at(m.now) : after;
  const bool fits = before.shape == after.shape && before.type == after.type &&
                    (!m.initial || (m.initial->shape == after.shape && m.initial->type == after.type));
  if (!fits)
    refuse("the variable '" + m.name + "' would change its type or shape to " + name_of(after.type) + " " +
           to_string(after.shape) + "; a state keeps both");
  m.now = v;
}

void variables::initialise(variable_id id, value_id v) {
  const std::shared_ptr<const array>& initial = m_emitter.at(v).constant;
  if (!initial) refuse("the initial value of the variable '" + m_variables[id].name + "' must be a constant");
  m_variables[id].initial = initial;
}

void variables::require_unused_resources() const {
  for (const variable& m : m_variables)
    if (m.resource && m.now != no_value)
      refuse("the variable '" + m.name + "' was read or assigned before. Export the model with its initialisers first");
}

values variables::now() const {
  values result;
  for (const variable& m : m_variables) result.push_back(m.now);
  return result;
}

void variables::restore(const values& before) {
  for (std::size_t i = 0; i < m_variables.size(); ++i) {
    const value_id was = i < before.size() ? before[i] : no_value;
    m_variables[i].now = was != no_value ? was : m_variables[i].first;
  }
}

void variables::select(value_id condition, const values& taken) {
  for (variable_id i = 0; i < m_variables.size(); ++i) {
    value_id a = i < taken.size() && taken[i] != no_value ? taken[i] : m_variables[i].first, b = m_variables[i].now;
    if (a == b) continue;
    if (a == no_value || b == no_value) {
      m_variables[i].now = no_value;
      (a == no_value ? a : b) = current(i);
    }
    m_variables[i].now = b;
    write(i, m_emitter.emit("Where", {condition, a, b}, {}, 1)[0]);
  }
}

void variables::finish() {
  const auto begins_with_zeros = [](const array& a) {
    return std::all_of(a.data.begin(), a.data.end(), [](std::byte b) { return b == std::byte{0}; });
  };
  graph& g = m_emitter.result();
  for (const variable& m : m_variables) {
    if (m.first == no_value) continue;
    value_id next = m.now;
    if (m_emitter.is_named(next) || m_emitter.at(next).constant) next = m_emitter.emit("Identity", {next}, {}, 1)[0];
    m_emitter.set_name(next, m_emitter.names().unique(m.name + ":next"));
    g.outputs.push_back(next);
    g.states.push_back({m_emitter.at(m.first).name, m_emitter.at(next).name,
                        m.initial && !begins_with_zeros(*m.initial) ? m.initial : nullptr});
  }
}

}
