// SPDX-License-Identifier: MIT
/// Graphs inside: CALL, IF with a known condition becomes its branch, with another one both branches and a selection;
/// WHILE whose condition follows from constants becomes its bodies, one after the other.
#include <utility>

#include "import/tflite/file/constants.hpp"
#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/rules.hpp"
#include "import/tflite/rules/subgraphs.hpp"

namespace nsk::tool::tflite {
namespace {

constexpr int max_iterations = 1024;
constexpr std::size_t max_placed = std::size_t{64} << 20;  // bytes, about, of what takes the place of graphs inside
constexpr std::size_t bytes_of_operator = 512, max_depth = 32;

/// Bytes that the operators of a graph take when it is put in the place of another operator, about.
std::size_t placed_bytes(const tflite_subgraph& g, const std::string& prefix) {
  std::size_t sum = bytes_of_operator;
  for (const tflite_operator& o : g.operators) {
    sum += bytes_of_operator + prefix.size();
    for (const int t : o.outputs) sum += g.tensors[static_cast<std::size_t>(t)].name.size() + prefix.size();
  }
  return sum;
}

void count_bytes(call& c, std::size_t bytes) {
  c.all().around.placed += bytes;
  if (c.all().around.placed > max_placed)
    c.fail("the graphs inside loops and branches would take more than " + std::to_string(max_placed >> 20) +
           " MiB when they are unrolled. Run the body of the loop as a model of its own, with its values as states");
}

argument argument_of(tensors& known, int t) {
  const auto resource = known.here().handles.find(t);
  if (resource != known.here().handles.end()) return {no_value, resource->second};
  return {known.plain(t), no_variable, known.is_stored(t) ? known.integers(t, false) : no_value, &known.tensor(t)};
}

arguments operands_from(call& c, std::size_t first) {
  arguments result;
  for (std::size_t i = first; i < c.op().inputs.size(); ++i) result.push_back(argument_of(c.all().known, c.input(i)));
  return result;
}

/// Whether runtimes, which copy bytes, give a tensor the meaning that the other one had.
bool same_storage(const tflite_tensor& a, const tflite_tensor& b) {
  return is_quantized(a) == is_quantized(b) && (!is_quantized(a) || stored_alike(a, b));
}

void require_storage(const call& c, std::size_t output, const argument& a) {
  const tflite_tensor& t = c.tensor(c.output(output));
  if (!same_storage(*a.tensor, t))
    c.fail("'" + a.tensor->name + "' of its graph and its output '" + t.name +
           "' are stored with different scales or zero points. Quantise the model again");
}

/// Makes a result of a graph inside output `i` of the operator.
void give(call& c, std::size_t i, const argument& a) {
  if (a.resource != no_variable) {
    c.all().known.here().handles[c.output(i)] = a.resource;
    return;
  }
  require_storage(c, i, a);
  if (a.stored != no_value) return c.all().known.bind_integers(c.output(i), a.stored, false);
  c.bind(i, a.v);
}

/// Makes an argument input `t` of the graph at hand, which messages call `what`.
void take(context& k, int t, const argument& a, const std::string& what) {
  scope& here = k.known.here();
  if (a.resource != no_variable) {
    here.handles[t] = a.resource;
    return;
  }
  const value& v = k.made.at(a.v);
  k.known.accept(t, v.shape);
  if (v.shape != k.known.shape(t) || v.type != k.known.type(t))
    refuse(what + " (subgraph " + std::to_string(here.number) + ") takes '" + k.known.tensor(t).name + "' as " +
           name_of(k.known.type(t)) + " " + to_string(k.known.shape(t)) + ", but is given " + name_of(v.type) + " " +
           to_string(v.shape) + ". Values must keep their shapes from one iteration to the next");
  if (!same_storage(*a.tensor, k.known.tensor(t)))
    refuse(what + " (subgraph " + std::to_string(here.number) + ") takes '" + k.known.tensor(t).name +
           "' with another scale or zero point than it is given. Quantise the model again");
  forms& f = here.forms_of[static_cast<std::size_t>(t)];
  f.plain = a.v;
  f.stored = a.stored;
}

/// CALL, and STABLEHLO_COMPOSITE, whose graph is what its name means.
void call_graph(call& c) {
  const bool composite = c.name() == "STABLEHLO_COMPOSITE";
  const int number = composite ? c.options_beyond<tfl::StableHLOCompositeOptions>().decomposition_subgraph_index()
                               : static_cast<int>(c.options<tfl::CallOptions>().subgraph());
  const arguments results = run_graph(c, number, operands_from(c, 0), composite ? "its decomposition" : "its graph",
                                      composite ? "decomposition" : "called");
  c.require(results.size() == c.op().outputs.size(), "it has another number of outputs than its graph");
  for (std::size_t i = 0; i < results.size(); ++i) give(c, i, results[i]);
}

value_id scalar_condition(call& c, value_id v) {
  c.require(c.at(v).type == element::boolean && count_of(c.at(v).shape) == 1, "its condition must be one boolean");
  return reshaped(c, v, {});
}

void require_same(const call& c, value_id a, value_id b, const char* why) {
  c.require(c.at(a).type == c.at(b).type && c.at(a).shape == c.at(b).shape, why);
}

void branch(call& c) {
  c.require(!c.op().inputs.empty(), "it has no condition. The file is damaged");
  const auto& o = c.options<tfl::IfOptions>();
  const value_id condition = c.plain(c.input(0));
  const value_id scalar = scalar_condition(c, condition);
  const arguments given = operands_from(c, 1);
  const char* const sizes = "its branches have another number of outputs than it has. The file is damaged";
  if (c.at(scalar).constant) {
    const bool taken = c.at(scalar).constant->integer(0) != 0;
    const arguments results =
        run_graph(c, taken ? o.then_subgraph_index() : o.else_subgraph_index(), given, "its branch", "branch");
    c.require(results.size() == c.op().outputs.size(), sizes);
    for (std::size_t i = 0; i < results.size(); ++i) give(c, i, results[i]);
    return;
  }
  variables& states = c.all().states;
  ++c.all().around.conditional;
  const values before = states.now();
  const arguments a = run_graph(c, o.then_subgraph_index(), given, "its first branch", "then");
  const values taken = states.now();
  states.restore(before);
  const arguments b = run_graph(c, o.else_subgraph_index(), given, "its second branch", "else");
  --c.all().around.conditional;
  c.require(a.size() == c.op().outputs.size() && b.size() == a.size(), sizes);
  states.select(scalar, taken);
  for (std::size_t i = 0; i < a.size(); ++i) {
    c.require(a[i].resource == b[i].resource,
              "its condition, which is computed at run time, chooses between variables");
    if (a[i].resource != no_variable) {
      give(c, i, a[i]);
      continue;
    }
    for (const argument& result : {a[i], b[i]}) require_storage(c, i, result);
    require_same(c, a[i].v, b[i].v,
                 "its branches give different shapes or types, and its condition is computed at run time. Export each "
                 "branch as a model of its own");
    c.bind(i, c.emit("Where", {scalar, a[i].v, b[i].v}));
  }
}

void loop(call& c) {
  const auto& o = c.options<tfl::WhileOptions>();
  arguments held = operands_from(c, 0);
  c.require(held.size() == c.op().outputs.size(),
            "it has another number of inputs than of outputs. The file is damaged");
  ++c.all().around.loops;
  for (int iteration = 0;; ++iteration) {
    const arguments goes_on =
        run_graph(c, o.cond_subgraph_index(), held, "its condition", "condition_" + std::to_string(iteration));
    c.require(goes_on.size() == 1 && goes_on[0].v != no_value,
              "its condition must be one boolean. The file is damaged");
    const value_id condition = scalar_condition(c, goes_on[0].v);
    c.require(
        c.at(condition).constant != nullptr,
        "whether it goes on is computed at run time; loops are unrolled at conversion. Export it with a fixed number "
        "of iterations, or run its body as a model of its own, with its values as states");
    if (c.at(condition).constant->integer(0) == 0) break;
    if (iteration == max_iterations)
      c.fail("it has more than " + std::to_string(max_iterations) +
             " iterations, which is more than can be unrolled. Run its body as a model of its own, with its values as "
             "states");
    held = run_graph(c, o.body_subgraph_index(), held, "its body", "body_" + std::to_string(iteration));
    c.require(held.size() == c.op().outputs.size(), "its body has another number of outputs. The file is damaged");
  }
  --c.all().around.loops;
  for (std::size_t i = 0; i < held.size(); ++i) give(c, i, held[i]);
}

}

void count_placed(call& c, std::size_t operators) { count_bytes(c, operators * bytes_of_operator); }

arguments run_graph(call& c, int number, const arguments& given, const std::string& what, const std::string& label) {
  context& k = c.all();
  surroundings& around = k.around;
  const tflite_subgraph& g = k.file.subgraphs.at(number);
  const std::string prefix = k.known.operator_name(c.op()) + "/" + label + "/";
  if (given.size() != g.inputs.size())
    c.fail(what + " (subgraph " + std::to_string(number) + ") takes " + std::to_string(g.inputs.size()) +
           " values, but is given " + std::to_string(given.size()) + ". The file is damaged");
  if (number == k.file.first || !around.active.insert(number).second || around.active.size() > max_depth)
    c.fail(what + " (subgraph " + std::to_string(number) + ") runs itself, or more than " + std::to_string(max_depth) +
           " graphs one inside the other, which is not supported");
  count_bytes(c, placed_bytes(g, prefix));
  const std::string owner = k.made.owner();
  scope outside = k.known.enter(scope(number, g, prefix));
  arguments results;
  try {
    for (std::size_t i = 0; i < given.size(); ++i) take(k, g.inputs[i], given[i], what);
    for (const tflite_operator& o : g.operators) translate(k, o);
    for (const int t : g.outputs) results.push_back(argument_of(k.known, t));
  } catch (...) {
    // Messages of the operators around this one name tensors of their own graph. Nothing else is read behind an error.
    k.known.enter(std::move(outside));
    throw;
  }
  k.known.enter(std::move(outside));
  k.made.set_owner(owner);
  around.active.erase(number);
  return results;
}

void add_flow(table& t) {
  t["CALL"] = {call_graph, without_results};
  t["STABLEHLO_COMPOSITE"] = {call_graph, without_results};
  t["IF"] = {branch, without_results};
  t["WHILE"] = {loop, without_results};
}

}
