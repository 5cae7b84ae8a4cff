// SPDX-License-Identifier: MIT
#pragma once
/// What lasts from run to run: variable tensors, and resources that operators read and assign. Both become states of
/// the graph.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>
#include "import/tflite/rules/emitter.hpp"

namespace nsk::tool::tflite {

/// Where the operator at hand stands: what is around it.
struct surroundings {
  int first = 0;              ///< the graph that is converted, which others are inside of
  int conditional = 0;        ///< branches on data
  int loops = 0;              ///< loops
  bool initialising = false;  ///< whether it is inside CALL_ONCE
  std::set<int> called_once;  ///< graphs that CALL_ONCE has run so far
  std::set<int> active;       ///< graphs, but the first one
  std::size_t placed = 0;     ///< bytes, about, of the operators of graphs inside so far
  std::size_t unrolled = 0;   ///< nodes, about, of layers that are computed one time step after the other
};

using variable_id = std::size_t;
inline constexpr variable_id no_variable = static_cast<variable_id>(-1);

class variables {
 public:
  variables(emitter& e, const surroundings& around) : m_emitter(e), m_around(around) {}

  /// The variable that is tensor `tensor` of graph `graph`, of this name, type and shape; every element
  /// begins with `start`. Refuses variables inside initialisers and loops.
  variable_id of_variable(int graph, int tensor, const std::string& name, element type, const shape_t& shape,
                          std::int64_t start);
  variable_id of_resource(const std::string& container, const std::string& name);

  /// What a variable holds after the operators so far; the graph gets an input for it where no operator has written it
  /// yet. Refuses resources without a value.
  value_id current(variable_id id);
  /// Refuses another type or shape than the variable has.
  void write(variable_id id, value_id v);
  /// Sets what a resource holds before the first run. Refuses values that are no constants.
  void initialise(variable_id id, value_id v);
  /// Refuses if an operator has read or assigned a resource.
  void require_unused_resources() const;

  /// What every variable holds.
  values now() const;
  /// Sets variables back; those that were read since then keep their inputs.
  void restore(const values& before);
  /// Variables hold what the branch that is taken leaves: `taken` where `condition` is true, what they hold now
  /// elsewhere.
  void select(value_id condition, const values& taken);
  /// Makes every variable that was read an output and a state of the graph.
  void finish();

 private:
  struct variable {
    std::string name;
    value_id first = no_value;  ///< what a run begins with: an input of the graph, made when read
    value_id now = no_value;    ///< what it holds after the operators so far
    bool resource = false;
    std::shared_ptr<const array> initial = nullptr;  ///< null: zeros
  };

  emitter& m_emitter;
  const surroundings& m_around;
  std::vector<variable> m_variables;
  std::map<std::pair<int, int>, variable_id> m_tensors;  ///< by graph and tensor
  std::map<std::string, variable_id> m_resources;        ///< by name
};

}
