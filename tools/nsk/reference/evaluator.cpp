// SPDX-License-Identifier: MIT
#include "reference/evaluator.hpp"

#include "graph/cures.hpp"
#include "reference/run_node.hpp"

namespace nsk::tool {
namespace reference {

namespace {

/// Integers are computed in 64 bits; this brings them back to their declared width.
void wrap(array& a, element declared) {
  if (!is_integer(declared) || size_of(declared) == 8) return;
  array one(declared, {1});
  for (std::int64_t i = 0; i < a.count(); ++i) {
    one.set_integer(0, a.as<std::int64_t>()[i]);
    a.as<std::int64_t>()[i] = one.integer(0);
  }
}

/// Runs graphs: the main one, and the branches of If with the values around them in sight.
class runner {
 public:
  runner(const graph& g, const runner* outer)
      : m_graph(g), m_outer(outer), m_values(g.values.size()), m_uses(g.values.size(), 0) {
    for (const node& n : g.nodes)
      for (value_id v : n.inputs) use(v);
    for (const node& n : g.nodes)
      for (const auto& [key, a] : n.attributes)
        if (const auto* sub = std::get_if<std::shared_ptr<graph>>(&a))
          for (value_id v : (*sub)->captures) use(g.find((*sub)->values[static_cast<std::size_t>(v)].name));
    for (value_id v : g.outputs) use(v);
  }

  void set(value_id v, typed_array a) { slot(v) = std::move(a); }
  void observe_with(const evaluator::observer& o) { m_observe = o; }
  const std::optional<typed_array>& get(value_id v) const { return m_values[static_cast<std::size_t>(v)]; }

  /// Runs every node; values are dropped after their last use unless `keep_all`.
  void run(bool keep_all) {
    for (std::size_t v = 0; v < m_values.size(); ++v)
      if (m_graph.values[v].constant) m_values[v] = hold(*m_graph.values[v].constant);
    for (value_id v : m_graph.captures) slot(v) = captured(m_graph.values[static_cast<std::size_t>(v)].name);
    for (const node& n : m_graph.nodes) {
      run_node(n);
      if (!keep_all)
        for (value_id v : n.inputs) release(v);
    }
  }

 private:
  std::optional<typed_array>& slot(value_id v) { return m_values[static_cast<std::size_t>(v)]; }
  void use(value_id v) {
    if (v != no_value) ++m_uses[static_cast<std::size_t>(v)];
  }
  void release(value_id v) {
    if (v != no_value && --m_uses[static_cast<std::size_t>(v)] == 0) slot(v).reset();
  }

  std::optional<typed_array> captured(const std::string& name) const {
    for (const runner* r = m_outer; r != nullptr; r = r->m_outer) {
      const value_id v = r->m_graph.find(name);
      if (v != no_value && r->get(v)) return r->get(v);
    }
    refuse("a subgraph reads '" + name + "', which has no value");
  }

  void run_node(const node& n) {
    if (n.outputs.empty()) return;
    if (n.op == "If" && n.domain.empty()) return run_if(n);
    std::vector<const typed_array*> inputs;
    for (value_id v : n.inputs) inputs.push_back(v == no_value ? nullptr : &*slot(v));
    std::vector<typed_array> outputs = evaluate_node(m_graph, n, inputs);
    for (std::size_t i = 0; i < n.outputs.size(); ++i)
      if (n.outputs[i] != no_value) slot(n.outputs[i]) = std::move(outputs[i]);
    for (value_id v : n.outputs)
      if (v != no_value && m_observe) m_observe(m_graph.values[static_cast<std::size_t>(v)].name, slot(v)->data);
  }

  void run_if(const node& n) {
    if (n.inputs.empty() || n.inputs[0] == no_value) refuse(describe(m_graph, n) + ": the condition is missing");
    const graph& branch = *branch_of(m_graph, n, slot(n.inputs[0])->data);
    runner r(branch, this);
    r.run(false);
    for (std::size_t i = 0; i < n.outputs.size() && i < branch.outputs.size(); ++i)
      if (n.outputs[i] != no_value) slot(n.outputs[i]) = r.get(branch.outputs[i]);
  }

  const graph& m_graph;
  const runner* m_outer;
  std::vector<std::optional<typed_array>> m_values;
  std::vector<int> m_uses;
  evaluator::observer m_observe;
};

void check_operators(const graph& g) {
  for (const node& n : g.nodes) {
    require_known(g, n);
    for (const auto& [key, a] : n.attributes)
      if (const auto* sub = std::get_if<std::shared_ptr<graph>>(&a)) check_operators(**sub);
  }
}

}

typed_array hold(const array& a) { return {a.type, converted(a, held_as(a.type))}; }

const graph* branch_of(const graph& g, const node& n, const array& condition) {
  if (condition.count() != 1) refuse(describe(g, n) + ": the condition must hold one value");
  const auto found = n.attributes.find(condition.integer(0) != 0 ? "then_branch" : "else_branch");
  const auto* branch = found == n.attributes.end() ? nullptr : std::get_if<std::shared_ptr<graph>>(&found->second);
  if (branch == nullptr) refuse(describe(g, n) + ": a branch is missing. The file is damaged");
  if ((*branch)->outputs.size() < n.outputs.size())
    refuse(describe(g, n) + ": a branch has fewer outputs than the node");
  return branch->get();
}

void require_known(const graph& g, const node& n) {
  if (is_known_operator(n)) return;
  if (n.op.rfind("QLinear", 0) == 0)
    refuse(describe(g, n) +
           ": this operator on stored integers is not supported. Export the model with pairs of QuantizeLinear and "
           "DequantizeLinear, or convert the float32 model that it was made from");
  refuse(
      describe(g, n) +
      ": this operator is not supported. Replace it in the exporter by operators of docs/reference/operators.md, or " +
      cure_that_ends_before(g, n));
}

void infer_node(call& c) {
  find_operator(c.op())->infer(c);
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    if (!c.wants(i)) continue;
    if (!c.output(i).declared)
      c.fail("it has " + std::to_string(c.output_count()) +
             " outputs, more than the operator gives. The file is damaged");
    try {
      checked_count(c.out_shape(i), "output " + std::to_string(i));
    } catch (const error& e) {
      c.fail(e.what());
    }
  }
}

call make_call(const graph& g, const node& n) {
  call c(g, n);
  for (std::size_t i = 0; i < n.outputs.size(); ++i) c.output(i).wanted = i == 0 || n.outputs[i] != no_value;
  return c;
}

std::vector<typed_array> evaluate_node(const graph& g, const node& n, const std::vector<const typed_array*>& inputs) {
  call c = make_call(g, n);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] != nullptr) c.input(i) = {true, inputs[i]->type, inputs[i]->data.shape, &inputs[i]->data};
  infer_node(c);
  return evaluate_call(c);
}

double work_of(call& c) {
  const definition& d = *find_operator(c.op());
  return d.work == nullptr ? 0 : d.work(c);
}

std::vector<typed_array> evaluate_call(call& c) {
  bool empty = true;  // nothing is computed then: the lengths of empty tensors are no measure of work
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    if (!c.wants(i)) continue;
    c.out(i) = array(held_as(c.output(i).type), c.out_shape(i));
    empty = empty && c.out(i).data.empty();
  }
  if (!empty) find_operator(c.op())->evaluate(c);
  std::vector<typed_array> outputs(c.output_count());
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    if (!c.wants(i)) continue;
    wrap(c.out(i), c.output(i).type);
    outputs[i] = {c.output(i).type, std::move(c.out(i))};
  }
  return outputs;
}

}

array converted(const array& a, element t) {
  if (a.type == t) return a;
  array r(t, a.shape);
  const std::int64_t count = a.count();
  if (a.type == element::f32 && t == element::f64) {
    for (std::int64_t i = 0; i < count; ++i) r.as<double>()[i] = static_cast<double>(a.as<float>()[i]);
  } else if (is_float(a.type) || is_float(t)) {
    for (std::int64_t i = 0; i < count; ++i) r.set(i, a.number(i));
  } else {
    for (std::int64_t i = 0; i < count; ++i) r.set_integer(i, a.integer(i));
  }
  return r;
}

bool is_known_operator(const node& n) {
  return (n.op == "If" && n.domain.empty()) || reference::find_operator(n) != nullptr;
}

evaluator::evaluator(const graph& g) : m_graph(g) { reference::check_operators(g); }

std::map<std::string, array> evaluator::run(const std::map<std::string, array>& inputs, bool keep_all,
                                            const observer& observe) const {
  reference::runner r(m_graph, nullptr);
  r.observe_with(observe);
  for (value_id id : m_graph.inputs) {
    const value& v = m_graph.values[static_cast<std::size_t>(id)];
    const auto found = inputs.find(v.name);
    if (found == inputs.end()) misuse("input '" + v.name + "' is missing");
    const array& a = found->second;
    if (is_float(a.type) ? !is_float(v.type) : a.type != v.type)
      refuse("input '" + v.name + "' must be " + name_of(v.type) + ", not " + name_of(a.type));
    bool fits = !v.known_rank || a.shape.size() == v.shape.size();
    for (std::size_t d = 0; fits && d < v.shape.size(); ++d) fits = v.shape[d] < 0 || v.shape[d] == a.shape[d];
    if (!fits) refuse("input '" + v.name + "' must have shape " + to_string(v.shape) + ", not " + to_string(a.shape));
    r.set(id, {v.type, converted(a, reference::held_as(v.type))});
  }
  for (const auto& [name, a] : inputs) {
    bool known = false;
    for (value_id id : m_graph.inputs) known = known || m_graph.values[static_cast<std::size_t>(id)].name == name;
    if (!known) misuse("the model has no input '" + name + "'");
  }
  r.run(keep_all);

  std::map<std::string, array> results;
  const auto add = [&](value_id id) {
    const auto& held = r.get(id);
    const value& v = m_graph.values[static_cast<std::size_t>(id)];
    if (held) results[v.name] = is_float(held->type) ? held->data : converted(held->data, held->type);
  };
  for (value_id id : m_graph.outputs) add(id);
  for (std::size_t i = 0; keep_all && i < m_graph.values.size(); ++i)
    if (!m_graph.values[i].constant) add(static_cast<value_id>(i));
  return results;
}

}
