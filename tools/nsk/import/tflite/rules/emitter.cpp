// SPDX-License-Identifier: MIT
#include "import/tflite/rules/emitter.hpp"

#include <memory>

namespace nsk::tool::tflite {
namespace {

constexpr int onnx_opset = 22;  // whose meaning the emitted nodes have

}

value_id emitter::add_input(const std::string& name, element type, const shape_t& shape) {
  value v;
  v.name = name;
  v.set(type, shape);
  const value_id id = m_graph.add(std::move(v));
  m_graph.inputs.push_back(id);
  m_named.insert(id);
  return id;
}

value_id emitter::add_constant(const std::string& name, array a) { return m_graph.add_constant(name, std::move(a)); }

value_id emitter::constant(array a) {
  m_folder.make(a.count(), "its tables");
  return add_constant(m_value_names.unique((m_owner.empty() ? "constant" : m_owner) + "/constant"), std::move(a));
}

values emitter::emit(const std::string& op, values inputs, attributes a, std::size_t results) {
  node n;
  constexpr const char* own = "netsuke.";  // operators that ONNX has not
  const bool is_own = op.rfind(own, 0) == 0;
  n.op = is_own ? op.substr(std::string(own).size()) : op;
  if (is_own) n.domain = "netsuke";
  const std::string owner = m_owner.empty() ? "outputs" : m_owner;
  n.name = !m_node_names.has(owner) ? owner : owner + "/" + n.op;
  n.version = is_own ? 1 : onnx_opset;
  n.inputs = std::move(inputs);
  n.attributes = std::move(a);
  for (std::size_t i = 0; i < results; ++i) {
    value v;
    v.name = m_value_names.unique(n.name + "/" + n.op + "/result");
    n.outputs.push_back(m_graph.add(std::move(v)));
  }
  if (m_folder.run(n)) {
    note_stored(n);
    return n.outputs;
  }
  n.name = m_node_names.unique(n.name);
  m_graph.nodes.push_back(n);
  return n.outputs;
}

value_id emitter::emit_kept(const std::string& op, values inputs, attributes a) {
  node n;
  n.op = op;
  n.version = onnx_opset;
  n.inputs = inputs;
  n.attributes = a;
  n.outputs = emit(op, std::move(inputs), std::move(a), 1);
  value& v = m_graph.values[static_cast<std::size_t>(n.outputs[0])];
  if (!v.constant) return n.outputs[0];
  v.constant = nullptr;
  n.name = m_node_names.unique(m_owner.empty() ? "outputs" : m_owner);
  m_graph.nodes.push_back(n);
  return n.outputs[0];
}

/// Remembers what a folded Transpose was made of, for those who want constants in the source's order.
void emitter::note_stored(const node& n) {
  if (n.op != "Transpose" || n.outputs[0] == no_value) return;
  const value& from = at(n.inputs[0]);
  if (from.stored || !is_named(n.inputs[0])) return;
  m_graph.values[static_cast<std::size_t>(n.outputs[0])].stored =
      std::make_shared<const stored_constant>(stored_constant{from.name, from.constant, n.integers("perm")});
}

void emitter::set_name(value_id v, const std::string& name) {
  m_named.insert(v);
  m_graph.values[static_cast<std::size_t>(v)].name = name;
}

}
