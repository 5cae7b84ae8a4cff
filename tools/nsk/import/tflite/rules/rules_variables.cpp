// SPDX-License-Identifier: MIT
/// Rules for variables: resources that operators name, read, assign and initialise.
#include "graph/names.hpp"
#include "import/tflite/file/constants.hpp"
#include "import/tflite/rules/rules.hpp"
#include "import/tflite/rules/subgraphs.hpp"

namespace nsk::tool::tflite {
namespace {

variable_id resource_of(call& c, int t) {
  const auto& handles = c.all().known.here().handles;
  const auto found = handles.find(t);
  if (found == handles.end())
    c.fail("'" + c.tensor(t).name + "' does not come from a VAR_HANDLE, so the variable that it names is not known");
  return found->second;
}

void variable_handle(call& c) {
  c.require_operands(0, 0);
  const auto& o = c.options<tfl::VarHandleOptions>();
  const auto text = [](const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); };
  const std::string name = text(o.shared_name()), container = text(o.container());
  require_name(name + container, "the name of a variable");
  c.all().known.here().handles[c.output()] = c.all().states.of_resource(container, name);
}

/// Refuses a variable of stored integers whose tensors have several scales, where their meaning is computed: what is
/// kept from run to run are the integers.
void require_one_meaning(call& c, variable_id id, int t) {
  if (!is_quantized(c.tensor(t)) || c.is_stored(t)) return;
  const auto [first, is_new] = c.all().stored_as.try_emplace(id, &c.tensor(t));
  if (!is_new && !stored_alike(*first->second, c.tensor(t)))
    c.fail("'" + first->second->name + "' and '" + c.tensor(t).name +
           "' are stored in one variable with different scales or zero points. Convert it without --dequantize");
}

void read_variable(call& c) {
  c.require_operands(1, 1);
  const variable_id id = resource_of(c, c.input(0));
  require_one_meaning(c, id, c.output());
  const value_id v = c.all().states.current(id);
  c.is_stored(c.output()) ? c.all().known.bind_integers(c.output(), v, false) : c.bind(0, v);
}

void assign_variable(call& c) {
  c.require_operands(2, 2, 0);
  const variable_id id = resource_of(c, c.input(0));
  const int t = c.input(1);
  require_one_meaning(c, id, t);
  const value_id v = c.is_stored(t) ? c.all().known.integers(t, false) : c.plain(t);
  c.require(v != no_value, "what it assigns is a variable tensor of stored integers, which is not supported");
  c.all().around.initialising ? c.all().states.initialise(id, v) : c.all().states.write(id, v);
}

/// Initial values, before anything else has happened to the variables.
void call_once(call& c) {
  c.require_operands(0, 0, 0);
  surroundings& around = c.all().around;
  const int number = c.options<tfl::CallOnceOptions>().init_subgraph_index();
  if (!around.called_once.insert(number).second) return;
  c.require(
      around.conditional == 0 && !around.initialising,
      "it is inside a branch that depends on data, or inside another one. Export the model with its initialisers at "
      "the beginning");
  c.all().states.require_unused_resources();
  around.initialising = true;
  run_graph(c, number, {}, "its initialiser", "initialiser");
  around.initialising = false;
}

}

void add_variables(table& t) {
  t["VAR_HANDLE"] = {variable_handle};
  t["READ_VARIABLE"] = {read_variable};
  t["ASSIGN_VARIABLE"] = {assign_variable, without_results};
  t["CALL_ONCE"] = {call_once, without_results};
}

}
