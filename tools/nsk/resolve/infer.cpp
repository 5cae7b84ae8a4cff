// SPDX-License-Identifier: MIT
#include "resolve/infer.hpp"

#include <algorithm>
#include <unordered_map>

#include "errors.hpp"
#include "resolve/resolver.hpp"
#include "reference/evaluator.hpp"
#include "reference/operators.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

/// Which nodes lead to an output: values are live when an output or a live node reads them.
class liveness {
 public:
  explicit liveness(const graph& g) : m_live(g.values.size(), false) {
    for (std::size_t i = 0; i < g.values.size(); ++i) m_ids.emplace(g.values[i].name, static_cast<value_id>(i));
    for (value_id v : g.outputs) mark(v);
    for (std::size_t i = g.nodes.size(); i-- > 0;) {
      const node& n = g.nodes[i];
      if (!is_live(n)) continue;
      for (value_id v : n.inputs) mark(v);
      for (const auto& [key, a] : n.attributes)
        if (const auto* sub = std::get_if<std::shared_ptr<graph>>(&a))
          for (value_id v : (*sub)->captures) mark_name((*sub)->values[static_cast<std::size_t>(v)].name);
    }
    for (value_id v : g.inputs) mark(v);
  }
  bool is_live(value_id v) const { return m_live[static_cast<std::size_t>(v)]; }
  bool is_live(const node& n) const {
    return std::any_of(n.outputs.begin(), n.outputs.end(), [&](value_id v) { return v != no_value && is_live(v); });
  }

 private:
  void mark(value_id v) {
    if (v != no_value) m_live[static_cast<std::size_t>(v)] = true;
  }
  void mark_name(const std::string& name) {
    const auto found = m_ids.find(name);
    if (found != m_ids.end()) mark(found->second);
  }
  std::vector<bool> m_live;
  std::unordered_map<std::string, value_id> m_ids;
};

void remove_dead_nodes(graph& g) {
  const liveness live(g);
  g.nodes.erase(std::remove_if(g.nodes.begin(), g.nodes.end(), [&](const node& n) { return !live.is_live(n); }),
                g.nodes.end());
}

/// Drops values that nobody uses and renumbers the rest; unused outputs of nodes become absent.
void remove_dead_values(graph& g) {
  const liveness live(g);
  std::vector<value_id> renumbered(g.values.size(), no_value);
  std::vector<value> kept;
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    if (!live.is_live(static_cast<value_id>(i))) continue;
    renumbered[i] = static_cast<value_id>(kept.size());
    kept.push_back(std::move(g.values[i]));
  }
  g.values = std::move(kept);
  const auto renumber = [&](std::vector<value_id>& list) {
    for (value_id& v : list)
      if (v != no_value) v = renumbered[static_cast<std::size_t>(v)];
  };
  for (node& n : g.nodes) {
    renumber(n.inputs);
    renumber(n.outputs);
  }
  renumber(g.inputs);
  renumber(g.outputs);
}

}

void resolver::run() {
  choose_outputs();
  bind_inputs();
  remove_dead_nodes(m_graph);
  for (std::size_t i = 0; i < m_graph.values.size(); ++i)
    m_ids.emplace(m_graph.values[i].name, static_cast<value_id>(i));
  for (const node& n : m_graph.nodes) m_node_names.insert(n.name);
  m_waiting.assign(std::make_move_iterator(m_graph.nodes.rbegin()), std::make_move_iterator(m_graph.nodes.rend()));
  m_graph.nodes.clear();
  while (!m_waiting.empty()) {
    node n = std::move(m_waiting.back());
    m_waiting.pop_back();
    if (is_control_flow(n))
      inline_body(n);
    else
      infer(std::move(n));
  }
  remove_dead_nodes(m_graph);
  remove_dead_values(m_graph);
  narrow_doubles();
  check_size();
  compare_declared();
}

/// The shapes that operators and inputs lead to hold. Where the model says something else of an output, both are named:
/// its exporter, or an edit, went wrong somewhere.
void resolver::compare_declared() {
  for (value_id id : m_graph.outputs) {
    const value& v = at(id);
    const auto found = m_graph.declared.find(v.name);
    if (found == m_graph.declared.end()) continue;
    const shape_t& stated = found->second;
    bool agrees = stated.size() == v.shape.size();
    for (std::size_t d = 0; agrees && d < v.shape.size(); ++d) agrees = stated[d] < 0 || stated[d] == v.shape[d];
    if (!agrees)
      m_graph.facts.warnings.push_back("output '" + v.name + "' is declared as " + to_string(stated) +
                                       ", but its operators make " + to_string(v.shape) + "; the latter holds");
  }
}

/// What the model computes in float64 becomes float32, but for its inputs. The reference goes on in double precision
/// either way, so a check tells where that matters.
void resolver::narrow_doubles() {
  const auto is_input = [&](value_id v) {
    return std::find(m_graph.inputs.begin(), m_graph.inputs.end(), v) != m_graph.inputs.end();
  };
  std::string first;
  for (std::size_t i = 0; i < m_graph.values.size(); ++i) {
    value& v = m_graph.values[i];
    if (v.type != element::f64 || is_input(static_cast<value_id>(i))) continue;
    v.type = element::f32;
    if (v.constant) v.constant = std::make_shared<const array>(converted(*v.constant, element::f32));
    if (!v.constant && first.empty()) first = v.name;
  }
  constexpr std::int64_t float32_of_onnx = 1, float64_of_onnx = 11;
  for (node& n : m_graph.nodes)
    if (n.op == "Cast" && n.integer("to", 0) == float64_of_onnx) n.attributes["to"] = float32_of_onnx;
  if (!first.empty())
    m_graph.facts.warnings.push_back("'" + first +
                                     "', and what is computed from it, is float64 in the model and float32 here");
}

void resolver::check_size() const {
  const auto check = [](std::size_t count, std::size_t most, const char* what) {
    if (count > most)
      refuse("the model has " + std::to_string(count) + " " + what + ", more than " + std::to_string(most) +
             ". Convert it in parts");
  };
  check(m_graph.nodes.size(), most_nodes, "nodes after folding");
  check(m_graph.inputs.size(), most_ports, "inputs");
  check(m_graph.outputs.size(), most_ports, "outputs");
}

void resolver::choose_outputs() {
  if (m_options.outputs.empty()) return drop_missing_outputs();
  std::vector<value_id> chosen;
  for (const std::string& name : m_options.outputs) {
    std::vector<std::string> known;
    value_id found = no_value;
    for (value_id v : m_graph.outputs) {
      known.push_back(at(v).name);
      if (at(v).name == name) found = v;
    }
    const std::vector<std::string>& missing = m_graph.missing_outputs;
    if (found == no_value && std::find(missing.begin(), missing.end(), name) != missing.end())
      refuse("--output-value names '" + name +
             "', which the model lists as an output but nothing in it produces. Its other outputs: " + quoted(known) +
             ". Export the model again, or choose one of those");
    if (found == no_value)
      misuse("--output-value names '" + name + "', which is no output of the model." + did_you_mean(name, known) +
             " Its outputs: " + quoted(known));
    if (std::find(chosen.begin(), chosen.end(), found) != chosen.end())
      misuse("--output-value names '" + name + "' twice");
    chosen.push_back(found);
  }
  for (const state_link& own : m_graph.states)
    if (const value_id v = m_graph.find(own.output); std::find(chosen.begin(), chosen.end(), v) == chosen.end())
      chosen.push_back(v);
  m_graph.outputs = std::move(chosen);
}

/// Outputs that the source lists and nothing produces are left out where there are others.
void resolver::drop_missing_outputs() {
  const std::vector<std::string>& missing = m_graph.missing_outputs;
  if (missing.empty()) return;
  if (m_graph.outputs.empty())
    refuse("the list of outputs names " + quoted(missing) +
           ", which nothing produces, and no other output. The file is damaged or was cut by hand");
  for (const std::string& name : missing)
    m_graph.facts.warnings.push_back("output '" + name +
                                     "' is left out: the model lists it, but nothing in it produces it");
}

void resolver::check_name(const std::string& name, const char* option) const {
  std::vector<std::string> known;
  for (value_id v : m_graph.inputs) known.push_back(m_graph.values[static_cast<std::size_t>(v)].name);
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  misuse(std::string(option) + " names '" + name + "', which is no input of the model." + did_you_mean(name, known) +
         " Its inputs: " + (known.empty() ? "none" : quoted(known)));
}

void resolver::bind_inputs() {
  for (const auto& [name, shape] : m_options.shapes) check_name(name, "--input");
  for (const auto& [name, number] : m_options.set) check_name(name, "--set");
  for (const state_link& own : m_graph.states)
    if (m_options.set.count(own.input) != 0)
      misuse("--set " + own.input + ": this is a state of the model, whose value changes from run to run.");
  bind_open_lengths();
  std::vector<value_id> kept;
  for (value_id id : m_graph.inputs) {
    value& v = at(id);
    const auto shape = m_options.shapes.find(v.name);
    if (shape != m_options.shapes.end()) bind_shape(v, shape->second);
    const auto number = m_options.set.find(v.name);
    if (number != m_options.set.end()) {
      set_constant(v, number->second);
      continue;
    }
    if (!v.is_static()) refuse_dynamic(v);
    checked_count(v.shape, "input '" + v.name + "'");
    kept.push_back(id);
  }
  m_graph.inputs = std::move(kept);
}

void resolver::bind_shape(value& v, const shape_t& shape) {
  bool fits = !v.known_rank || v.shape.size() == shape.size();
  for (std::size_t d = 0; fits && v.known_rank && d < shape.size(); ++d)
    fits = v.shape[d] < 0 || v.shape[d] == shape[d];
  if (!fits)
    misuse("--input " + v.name + ": shape " + to_string(shape) + " contradicts the model, whose input has shape " +
           source_shape_text(v));
  checked_count(shape, "--input " + v.name);
  v.shape = shape;
  v.known_rank = true;
}

void resolver::set_constant(value& v, double number) {
  shape_t shape = v.known_rank ? v.shape : shape_t();
  for (std::int64_t& d : shape) d = d < 0 ? 1 : d;
  m_folder.make(checked_count(shape, "--set " + v.name), "--set " + v.name);
  array a(v.type, shape);
  for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, number);
  v.shape = shape;
  v.known_rank = true;
  v.constant = std::make_shared<const array>(std::move(a));
}

void resolver::infer(node n) {
  require_same_shapes(n);
  if (dequantize(n)) return;
  if (reference::draws_numbers(n)) n.attributes[reference::random_stream] = m_streams++;
  if (n.op == "NonMaxSuppression" && n.domain.empty() && !m_folder.folds(n)) bound_suppression(n);
  if (!m_folder.run(n)) m_graph.nodes.push_back(std::move(n));
}

/// How many boxes a NonMaxSuppression keeps depends on data; its output gets as many rows as it can keep at most.
void resolver::bound_suppression(node& n) {
  const value* most = n.inputs.size() > 2 && n.inputs[2] != no_value ? &at(n.inputs[2]) : nullptr;
  if (most != nullptr && !most->constant)
    refuse(describe(m_graph, n) +
           ": max_output_boxes_per_class is computed at run time, but the size of the output is fixed at conversion");
  if (most != nullptr && most->constant->count() != 1)
    refuse(describe(m_graph, n) + ": max_output_boxes_per_class must be one number. The file is damaged");
  const shape_t scores = n.inputs.size() > 1 && n.inputs[1] != no_value ? at(n.inputs[1]).shape : shape_t();
  if (scores.size() != 3) return;  // inference says what is wrong
  const std::int64_t per_class =
      most == nullptr ? 0 : std::clamp<std::int64_t>(most->constant->integer(0), 0, scores[2]);
  n.attributes[reference::suppression_bound] = scores[0] * scores[1] * per_class;
}

void resolve(graph& g, const input_options& options) { resolver(g, options).run(); }

}
