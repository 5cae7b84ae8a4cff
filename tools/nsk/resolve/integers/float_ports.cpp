// SPDX-License-Identifier: MIT
#include "resolve/integers/float_ports.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "errors.hpp"
#include "graph/integer_range.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_moves = 8;  // between a port and the operator that knows its scale

/// What the integers of a port mean.
struct meaning {
  element type;
  double scale;
  std::int64_t zero;
};

bool moves_elements(const node& n) {
  static const std::set<std::string> movers = {"Identity", "Reshape",   "Transpose", "Flatten",
                                               "Squeeze",  "Unsqueeze", "Slice",     "MaxPool"};
  return n.domain.empty() && movers.count(n.op) != 0 && n.outputs.size() == 1;
}
bool is_stored_operator(const node& n) {
  return n.op.rfind("QLinear", 0) == 0 || (n.op == "QGemm" && n.domain == "com.microsoft");
}

class port_maker {
 public:
  explicit port_maker(graph& g) : m_graph(g) {
    for (const value& v : g.values) m_names.insert(v.name);
    for (const state_link& s : g.states) m_states.insert({s.input, s.output});
  }

  bool run() {
    bool changed = false;
    for (value_id& v : m_graph.inputs) changed = (m_states.count(at(v).name) == 0 && make_input(v)) || changed;
    for (value_id& v : m_graph.outputs) changed = (m_states.count(at(v).name) == 0 && make_output(v)) || changed;
    m_graph.nodes.insert(m_graph.nodes.begin(), m_before.begin(), m_before.end());
    m_graph.nodes.insert(m_graph.nodes.end(), m_behind.begin(), m_behind.end());
    return changed;
  }

 private:
  value& at(value_id v) { return m_graph.at(v); }

  /// The meaning that a scale, and a zero point behind it, give to integers: inputs `i` and `i + 1` of a node.
  std::optional<meaning> meaning_of(const node& n, std::size_t i) {
    if (!n.reads(i)) return std::nullopt;
    const auto& scale = at(n.inputs[i]).constant;
    if (scale == nullptr || scale->count() != 1 || is_integer(scale->type) || !(scale->number(0) > 0))
      return std::nullopt;
    meaning m{element::u8, scale->number(0), 0};
    if (!n.reads(i + 1)) return m;
    const auto& zero = at(n.inputs[i + 1]).constant;
    if (zero == nullptr || zero->count() != 1 || !range_of_stored(zero->type)) return std::nullopt;
    m.type = zero->type;
    m.zero = zero->integer(0);
    return m;
  }
  /// What a node says of the integers `v` that it reads.
  std::optional<meaning> as_reader(const node& n, value_id v) {
    const bool whole = n.op == "DequantizeLinear" && n.domain.empty() && n.inputs[0] == v;
    if (whole) return meaning_of(n, 1);
    if (!is_stored_operator(n)) return std::nullopt;
    const bool is_list = n.op == "QLinearConcat";
    for (std::size_t i = is_list ? 2 : n.op == "QLinearWhere" ? 1 : 0; i < n.inputs.size(); i += 3)
      if (n.inputs[i] == v) return meaning_of(n, i + 1);
    return std::nullopt;
  }
  std::optional<meaning> as_maker(const node& n) {
    if (n.op == "QuantizeLinear" && n.domain.empty()) return meaning_of(n, 1);
    if (!is_stored_operator(n)) return std::nullopt;
    const bool two = n.op == "QLinearConv" || n.op == "QLinearMatMul" || n.op == "QLinearAdd" || n.op == "QLinearMul";
    return meaning_of(n, n.op == "QLinearConcat" ? 0 : n.op == "QGemm" || n.op == "QLinearWhere" ? 7 : two ? 6 : 3);
  }

  /// The meaning of `v`, by those that read and make it or what it is moved to and from.
  std::optional<meaning> find(value_id v, std::size_t moves) {
    for (const node& n : m_graph.nodes) {
      if (std::find(n.inputs.begin(), n.inputs.end(), v) != n.inputs.end())
        if (const auto m = as_reader(n, v)) return m;
      if (std::find(n.outputs.begin(), n.outputs.end(), v) != n.outputs.end())
        if (const auto m = as_maker(n)) return m;
    }
    if (moves == 0) return std::nullopt;
    for (const node& n : m_graph.nodes) {
      if (!moves_elements(n) || n.inputs.empty()) continue;
      const value_id other = n.inputs[0] == v ? n.outputs[0] : n.outputs[0] == v ? n.inputs[0] : no_value;
      if (other == no_value || (other != n.outputs[0] && at(other).constant != nullptr)) continue;
      if (const auto m = find(other, moves - 1)) return m;
    }
    return std::nullopt;
  }

  void require_no_captures(const std::string& name) {
    for (const node& n : m_graph.nodes)
      for (const std::string& captured : captured_names(n))
        if (captured == name)
          refuse("--float-io: '" + name + "' is read in a graph inside another. Convert the model without it");
  }

  /// A float32 value that takes the name of port `v`, which keeps its integers by another one.
  value_id replaced(value_id v, const meaning& m) {
    require_no_captures(at(v).name);
    value real = at(v);
    real.type = element::f32;
    real.typed = true;
    real.constant = nullptr;
    real.stored = nullptr;
    m_graph.facts.about["quantization." + real.name] =
        std::string(name_of(m.type)) + ", scale " + to_string(m.scale, 9) + ", zero point " + std::to_string(m.zero);
    at(v).name = unused(real.name + ":stored");
    return m_graph.add(std::move(real));
  }
  std::string unused(std::string name) {
    while (!m_names.insert(name).second) name += "_";
    return name;
  }
  value_id constant(const std::string& name, array a) { return m_graph.add_constant(unused(name), std::move(a)); }
  /// `port` is a copy: values are added meanwhile.
  node between(const char* op, value_id from, value_id to, const meaning& m, std::string port) {
    array zero(m.type, {});
    zero.set_integer(0, m.zero);
    const value_id scale = constant(port + ":scale", make_floats({}, {static_cast<float>(m.scale)})),
                   shift = constant(port + ":zero", std::move(zero));
    return node_of(op, port + "/" + op, {from, scale, shift}, to, 21);
  }

  bool make_input(value_id& v) {
    if (!range_of_stored(at(v).type) || !at(v).typed) return false;
    const auto m = find(v, max_moves);
    if (!m || m->type != at(v).type) return false;
    const value_id real = replaced(v, *m);
    m_before.push_back(between("QuantizeLinear", real, v, *m, at(real).name));
    m_inputs.insert(v);
    v = real;
    return true;
  }
  bool make_output(value_id& v) {
    const bool is_float = at(v).typed && !range_of_stored(at(v).type);
    if (is_float || at(v).constant != nullptr || m_inputs.count(v) != 0) return false;
    const auto m = find(v, max_moves);
    if (!m || (at(v).typed && at(v).type != m->type)) return false;
    const value_id stored = v, real = replaced(v, *m);
    m_behind.push_back(between("DequantizeLinear", stored, real, *m, at(real).name));
    v = real;
    return true;
  }

  graph& m_graph;
  std::set<std::string> m_names;
  std::set<std::string> m_states;  ///< ports of what the model keeps from run to run
  std::set<value_id> m_inputs;     ///< that were integers
  std::vector<node> m_before, m_behind;
};

}

void make_float_ports(graph& g) {
  if (!port_maker(g).run())
    refuse("--float-io: no input or output of the model is a quantised integer with one scale. Convert it without");
}

}
