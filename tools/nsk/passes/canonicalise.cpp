// SPDX-License-Identifier: MIT
#include "passes/canonicalise.hpp"
#include <algorithm>

namespace nsk::tool {

program canonicalise(const graph& g) { return canonicaliser(g).run(); }

const std::unordered_map<std::string, canonicaliser::rule>& canonicaliser::rules() {
  using c = canonicaliser;
  static const std::unordered_map<std::string, rule> table = {
      {"Conv", &c::conv}, {"Gemm", &c::gemm}, {"MatMul", &c::mat_mul}, {"BatchNormalization", &c::batch_normalization},
      {"MaxPool", &c::pool}, {"AveragePool", &c::pool}, {"GlobalAveragePool", &c::global_pool}, {"GlobalMaxPool", &c::global_pool},
      {"Relu", &c::unary}, {"LeakyRelu", &c::unary}, {"Sigmoid", &c::unary}, {"HardSigmoid", &c::unary}, {"HardSwish", &c::unary},
      {"Tanh", &c::unary}, {"Exp", &c::unary}, {"Log", &c::unary}, {"Sqrt", &c::unary}, {"Reciprocal", &c::unary}, {"Neg", &c::unary},
      {"Abs", &c::unary}, {"Floor", &c::unary}, {"Ceil", &c::unary}, {"Round", &c::unary}, {"Erf", &c::unary}, {"Elu", &c::unary},
      {"Softplus", &c::unary}, {"Gelu", &c::unary}, {"Clip", &c::clip}, {"PRelu", &c::p_relu},
      {"Add", &c::binary}, {"Sub", &c::binary}, {"Mul", &c::binary}, {"Div", &c::binary}, {"Pow", &c::pow},
      {"Min", &c::variadic}, {"Max", &c::variadic}, {"Sum", &c::variadic}, {"Mean", &c::variadic},
      {"Softmax", &c::softmax}, {"LogSoftmax", &c::softmax},
      {"ReduceMean", &c::reduce}, {"ReduceSum", &c::reduce}, {"ReduceMax", &c::reduce}, {"ReduceMin", &c::reduce}, {"ReduceProd", &c::reduce},
      {"ReduceSumSquare", &c::reduce},
      {"Identity", &c::identity}, {"Dropout", &c::identity}, {"Cast", &c::cast},
      {"Reshape", &c::reshape}, {"Flatten", &c::reshape}, {"Squeeze", &c::reshape}, {"Unsqueeze", &c::reshape},
      {"Transpose", &c::transpose}, {"Slice", &c::slice}, {"Split", &c::split}, {"Concat", &c::concat}, {"Expand", &c::expand},
      {"Pad", &c::pad}, {"DepthToSpace", &c::depth_to_space}, {"SpaceToDepth", &c::space_to_depth},
      {"Resize", &c::resize}, {"Upsample", &c::resize},
  };
  return table;
}

program canonicaliser::run() {
  m_program.name = m_graph.name;
  m_map.assign(m_graph.values.size(), no_value);
  for (value_id v : m_graph.inputs) m_program.inputs.push_back(of(v));
  for (const node& n : m_graph.nodes) {
    const auto found = n.domain.empty() || n.domain == "ai.onnx" ? rules().find(n.op) : rules().end();
    if (found == rules().end()) {
      refuse_node(n, "the engine has no kernel for this operator. Replace it in the exporter by operators of docs/operators.md, or cut the "
                     "graph before it and compute it in the game");
    }
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      const value_id v = n.inputs[i];
      if (v == no_value) continue;
      const value& input = m_graph.values[static_cast<std::size_t>(v)];
      if (!input.constant && count_of(input.shape) == 0)
        refuse_node(n, "input '" + input.name + "' has no elements; cut the graph so that empty tensors are not computed");
      if (!input.constant && input.type != element::f32)
        refuse_node(n, "input '" + input.name + "' is " + name_of(input.type) + ", but activations are float32 only. Export the model in float32");
    }
    (this->*found->second)(n);
  }
  for (value_id v : m_graph.outputs) {
    if (m_graph.values[static_cast<std::size_t>(v)].type != element::f32)
      refuse("output '" + m_graph.values[static_cast<std::size_t>(v)].name + "' is " +
             name_of(m_graph.values[static_cast<std::size_t>(v)].type) + "; outputs are float32 only. Cut the graph before the operator that makes it");
    m_program.outputs.push_back(of(v));
  }
  return std::move(m_program);
}

int canonicaliser::of(value_id v) {
  int& slot = m_map[static_cast<std::size_t>(v)];
  if (slot == no_value) {
    const value& source = m_graph.values[static_cast<std::size_t>(v)];
    slot = m_program.add({source.name, source.type, source.shape, source.constant});
  }
  return slot;
}

int canonicaliser::in(const node& n, std::size_t i) { return present(n, i) ? of(n.inputs[i]) : no_value; }

std::vector<double> canonicaliser::numbers(const node& n, std::size_t i, const char* what) const {
  const value& v = m_graph.values[static_cast<std::size_t>(n.inputs[i])];
  if (!v.constant) refuse_node(n, std::string(what) + " ('" + v.name + "') is computed at run time; it must be a constant of the model");
  std::vector<double> values(static_cast<std::size_t>(v.constant->count()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = v.constant->number(static_cast<std::int64_t>(k));
  return values;
}

std::vector<std::int64_t> canonicaliser::integers(const node& n, std::size_t i, const char* what) const {
  const value& v = m_graph.values[static_cast<std::size_t>(n.inputs[i])];
  if (!v.constant) refuse_node(n, std::string(what) + " ('" + v.name + "') is computed at run time; it must be a constant of the model");
  std::vector<std::int64_t> values(static_cast<std::size_t>(v.constant->count()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = v.constant->integer(static_cast<std::int64_t>(k));
  return values;
}

operation& canonicaliser::emit(const node& n, operation_parameters p, std::vector<int> inputs, int result) {
  operation o;
  o.name = n.name;
  o.source = describe(m_graph, n);
  o.inputs = std::move(inputs);
  o.output = result == no_value ? of(n.outputs[0]) : result;
  o.p = std::move(p);
  m_program.operations.push_back(std::move(o));
  return m_program.operations.back();
}

int canonicaliser::temporary(const node& n, const std::string& suffix, shape_t shape) {
  return m_program.add({n.name + "#" + suffix, element::f32, std::move(shape), nullptr});
}

int canonicaliser::constant(const node& n, const std::string& suffix, shape_t shape, const std::vector<double>& values) {
  auto data = std::make_shared<array>(element::f32, shape);
  for (std::size_t i = 0; i < values.size(); ++i) data->set(static_cast<std::int64_t>(i), values[i]);
  return m_program.add({n.name + "#" + suffix, element::f32, std::move(shape), std::move(data)});
}

int canonicaliser::reshaped(const node& n, int v, shape_t shape) {
  if (m_program.shape(v) == shape) return v;
  const int result = temporary(n, "view" + std::to_string(m_program.values.size()), std::move(shape));
  emit(n, reshape_parameters{}, {v}, result);
  return result;
}

}
