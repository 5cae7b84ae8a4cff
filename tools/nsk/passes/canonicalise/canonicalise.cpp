// SPDX-License-Identifier: MIT
#include "passes/canonicalise/canonicalise.hpp"
#include <algorithm>
#include "passes/canonicalise/canonicaliser.hpp"

namespace nsk::tool {

namespace {

constexpr double numbers_for_all = 1 << 25, numbers_per_held = 4;

}

canonicaliser::canonicaliser(const graph& g, const std::vector<state_link>& states)
    : m_graph(g),
      m_states(states),
      m_room(numbers_for_all + numbers_per_held * static_cast<double>(constant_elements(g))) {}

void canonicaliser::require_elements(value_id v, const std::string& what) const {
  if (v == no_value) return;
  const value& x = m_graph.values[static_cast<std::size_t>(v)];
  const std::int64_t count = count_of(x.shape);
  if (count > std::numeric_limits<std::int32_t>::max())
    refuse(what + ": '" + x.name + "' has the shape " + to_string(x.shape) +
           ", but a tensor of the engine has at most 2^31 - 1 elements. Export the model for smaller inputs");
  if (count == 0)
    refuse(what + ": '" + x.name + "' has the shape " + to_string(x.shape) +
           " and no elements; cut the graph so that empty tensors are not computed");
}

int canonicaliser::axis_of(const node& n, std::int64_t axis, std::size_t rank) const {
  const auto dims = static_cast<std::int64_t>(rank);
  if (axis < -dims || axis >= dims)
    refuse_node(n, "its axis " + std::to_string(axis) + " is outside the " + std::to_string(rank) + " dimensions");
  return static_cast<int>(axis < 0 ? axis + dims : axis);
}

std::vector<std::string> operators_with_rules() { return canonicaliser::operators(); }

program canonicalise(const graph& g, const std::vector<state_link>& states) { return canonicaliser(g, states).run(); }

const std::unordered_map<std::string, canonicaliser::rule>& canonicaliser::rules() {
  using c = canonicaliser;
  static const std::unordered_map<std::string, rule> table = {
      {"Conv", &c::conv},
      {"Gemm", &c::gemm},
      {"MatMul", &c::mat_mul},
      {"BatchNormalization", &c::batch_normalization},
      {"MaxPool", &c::pool},
      {"AveragePool", &c::pool},
      {"GlobalAveragePool", &c::global_pool},
      {"GlobalMaxPool", &c::global_pool},
      {"Relu", &c::unary},
      {"LeakyRelu", &c::unary},
      {"Sigmoid", &c::unary},
      {"HardSigmoid", &c::unary},
      {"HardSwish", &c::unary},
      {"Tanh", &c::unary},
      {"Exp", &c::unary},
      {"Log", &c::unary},
      {"Sqrt", &c::unary},
      {"Reciprocal", &c::unary},
      {"Neg", &c::unary},
      {"Abs", &c::unary},
      {"Floor", &c::unary},
      {"Ceil", &c::unary},
      {"Round", &c::unary},
      {"Erf", &c::unary},
      {"Elu", &c::unary},
      {"Softplus", &c::unary},
      {"Gelu", &c::unary},
      {"Sign", &c::unary},
      {"Sin", &c::unary},
      {"Cos", &c::unary},
      {"Tan", &c::tangent},
      {"Clip", &c::clip},
      {"PRelu", &c::p_relu},
      {"Selu", &c::selu},
      {"Celu", &c::celu},
      {"Mish", &c::mish},
      {"Swish", &c::swish},
      {"Softsign", &c::softsign},
      {"ThresholdedRelu", &c::thresholded_relu},
      {"Shrink", &c::shrink},
      {"Add", &c::binary},
      {"Sub", &c::binary},
      {"Mul", &c::binary},
      {"Div", &c::binary},
      {"Pow", &c::pow},
      {"Sum", &c::variadic},
      {"Mean", &c::variadic},
      {"Softmax", &c::softmax},
      {"LogSoftmax", &c::softmax},
      {"ReduceMean", &c::reduce},
      {"ReduceSum", &c::reduce},
      {"ReduceMax", &c::reduce},
      {"ReduceMin", &c::reduce},
      {"ReduceProd", &c::reduce},
      {"ReduceSumSquare", &c::reduce},
      {"ReduceL1", &c::reduce_of},
      {"ReduceL2", &c::reduce_of},
      {"ReduceLogSum", &c::reduce_of},
      {"ReduceLogSumExp", &c::reduce_of},
      {"LayerNormalization", &c::layer_normalization},
      {"RMSNormalization", &c::layer_normalization},
      {"InstanceNormalization", &c::instance_normalization},
      {"GroupNormalization", &c::group_normalization},
      {"LRN", &c::local_response_normalization},
      {"LpNormalization", &c::lp_normalization},
      {"MeanVarianceNormalization", &c::mean_variance_normalization},
      {"ConvTranspose", &c::conv_transpose},
      {"Pad", &c::pad},
      {"Resize", &c::resize},
      {"Upsample", &c::resize},
      {"Einsum", &c::einsum},
      {"GridSample", &c::grid_sample},
      {"DFT", &c::dft},
      {"STFT", &c::stft},
  };
  return table;
}

const std::unordered_map<std::string, canonicaliser::rule>& canonicaliser::typed_rules() {
  using c = canonicaliser;
  static const std::unordered_map<std::string, rule> table = {
      {"Identity", &c::identity},
      {"Dropout", &c::identity},
      {"Cast", &c::cast},
      {"CastLike", &c::cast},
      {"Reshape", &c::reshape},
      {"Flatten", &c::reshape},
      {"Squeeze", &c::reshape},
      {"Unsqueeze", &c::reshape},
      {"Transpose", &c::transpose},
      {"Slice", &c::slice},
      {"Split", &c::split},
      {"Concat", &c::concat},
      {"Expand", &c::expand},
      {"Tile", &c::tile},
      {"DepthToSpace", &c::depth_to_space},
      {"SpaceToDepth", &c::space_to_depth},
      {"Equal", &c::compare},
      {"Greater", &c::compare},
      {"GreaterOrEqual", &c::compare},
      {"Less", &c::compare},
      {"LessOrEqual", &c::compare},
      {"And", &c::logical},
      {"Or", &c::logical},
      {"Xor", &c::logical},
      {"Not", &c::logical_not},
      {"BitwiseAnd", &c::logical},
      {"BitwiseOr", &c::logical},
      {"BitwiseXor", &c::logical},
      {"Where", &c::where},
      {"Mod", &c::mod},
      {"Min", &c::extreme},
      {"Max", &c::extreme},
      {"Gather", &c::gather},
      {"GatherElements", &c::gather_elements},
      {"ArgMax", &c::arg_reduce},
      {"ArgMin", &c::arg_reduce},
      {"TopK", &c::top_k},
      {"IsNaN", &c::is_nan},
      {"IsInf", &c::is_inf},
      {"CumSum", &c::cum_sum},
      {"Scatter", &c::scatter_elements},
      {"ScatterElements", &c::scatter_elements},
      {"ScatterND", &c::scatter_nd},
      {"GatherND", &c::gather_nd},
      {"Trilu", &c::trilu},
      {"ReverseSequence", &c::reverse_sequence},
      {"OneHot", &c::one_hot},
      {"NonMaxSuppression", &c::non_max_suppression},
      {"RNN", &c::recurrent},
      {"GRU", &c::recurrent},
      {"LSTM", &c::recurrent},
      {"RandomNormal", &c::random},
      {"RandomNormalLike", &c::random},
      {"RandomUniform", &c::random},
      {"RandomUniformLike", &c::random},
      {"Multinomial", &c::multinomial},
      {"Bernoulli", &c::bernoulli},
      {"ai.onnx.ml.TreeEnsembleRegressor", &c::tree_regressor},
      {"ai.onnx.ml.TreeEnsembleClassifier", &c::tree_classifier},
      {"ai.onnx.ml.TreeEnsemble", &c::tree_ensemble},
      {"ai.onnx.ml.LinearRegressor", &c::linear_regressor},
      {"ai.onnx.ml.LinearClassifier", &c::linear_classifier},
      {"ai.onnx.ml.Scaler", &c::scaler},
      {"ai.onnx.ml.Normalizer", &c::normalizer},
  };
  return table;
}

std::vector<std::string> canonicaliser::operators() {
  std::vector<std::string> names;
  for (const auto* table : {&rules(), &typed_rules()})
    for (const auto& entry : *table) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  return names;
}

program canonicaliser::run() {
  m_program.name = m_graph.name;
  m_map.assign(m_graph.values.size(), no_value);
  for (value_id v : m_graph.inputs) {
    require_elements(v, "the model's inputs");
    m_program.inputs.push_back(of(v));
  }
  for (const node& n : m_graph.nodes) {
    for (value_id v : n.outputs) require_elements(v, "node '" + n.name + "' (" + n.op + ")");
    const bool standard = n.domain.empty() || n.domain == "ai.onnx";
    const auto typed = typed_rules().find(standard ? n.op : n.domain + "." + n.op), plain = rules().find(n.op);
    const bool any_type = typed != typed_rules().end();
    if (!any_type && (!standard || plain == rules().end())) {
      refuse_node(n,
                  "the engine has no kernel for this operator. Replace it in the exporter by operators of "
                  "docs/operators.md, or cut the "
                  "graph before it and compute it in the game");
    }
    const value* odd = odd_input(n);
    if (any_type)
      (this->*typed->second)(n);
    else if (odd == nullptr)
      (this->*plain->second)(n);
    else if (!integer_arithmetic(n))
      refuse_node(n, "input '" + odd->name + "' is " + name_of(odd->type) +
                         ", but this operator computes float32 only. Export the model in float32");
  }
  for (value_id v : m_graph.outputs) {
    require_elements(v, "the model's outputs");
    m_program.outputs.push_back(of(v));
  }
  separate_states();
  return std::move(m_program);
}

void canonicaliser::separate_states() {
  const auto take = [&](std::vector<int>& ports, const std::string& name) {
    const auto found = std::find_if(ports.begin(), ports.end(),
                                    [&](int v) { return m_program.values[static_cast<std::size_t>(v)].name == name; });
    if (found == ports.end()) refuse("'" + name + "' is no port of the model, so it cannot be a state");
    const int v = *found;
    ports.erase(found);
    return v;
  };
  for (const state_link& s : m_states) {
    const int input = take(m_program.inputs, s.input);
    const int output = take(m_program.outputs, s.output);
    int initial = no_value;
    if (s.initial) initial = m_program.add({s.input + "#initial", s.initial->type, s.initial->shape, s.initial});
    m_program.states.push_back({input, output, initial});
  }
}

const value* canonicaliser::odd_input(const node& n) const {
  const value* odd = nullptr;
  for (value_id v : n.inputs) {
    if (v == no_value) continue;
    const value& input = m_graph.values[static_cast<std::size_t>(v)];
    if (input.constant) continue;
    if (count_of(input.shape) == 0)
      refuse_node(n,
                  "input '" + input.name + "' has no elements; cut the graph so that empty tensors are not computed");
    if (input.type != element::f32 && odd == nullptr) odd = &input;
  }
  return odd;
}

value_id canonicaliser::output_of(const node& n, std::size_t i) const {
  if (i >= n.outputs.size() || n.outputs[i] == no_value)
    refuse_node(n, "its output " + std::to_string(i) + " has no name, though it is what the operator computes");
  return n.outputs[i];
}

int canonicaliser::of(value_id v) {
  int& slot = m_map[static_cast<std::size_t>(v)];
  if (slot == no_value) {
    const value& source = m_graph.values[static_cast<std::size_t>(v)];
    if (source.constant && source.constant->count() == 0)
      refuse("constant '" + source.name + "' has no elements; cut the graph so that empty tensors are not computed");
    slot = m_program.add({source.name, source.type, source.shape, source.constant});
  }
  return slot;
}

int canonicaliser::in(const node& n, std::size_t i) { return present(n, i) ? of(n.inputs[i]) : no_value; }

void canonicaliser::charge(const node& n, double count) {
  m_room -= count;
  if (m_room < 0)
    refuse_node(n,
                "its weights and tables, with those of the nodes before it, have more numbers than a model with so few "
                "constants may make (2^25, and 4 for each that it holds). Use fewer copies of one constant, or smaller "
                "sizes");
}

std::vector<double> canonicaliser::weights(const node& n, std::size_t i, const char* what) {
  constexpr double packed = 2;  // times as many floats, in the plan and in the file
  charge(n, packed * static_cast<double>(count_of(in_shape(n, i))));
  return numbers(n, i, what);
}

double canonicaliser::number(const node& n, std::size_t i, const char* what) {
  const std::vector<double> values = numbers(n, i, what);
  if (values.size() != 1)
    refuse_node(n, std::string(what) + " must be one number, not " + std::to_string(values.size()));
  return values[0];
}

/// The options that make a computed value a constant, where it follows from small inputs alone.
std::string canonicaliser::options_that_set(value_id v) const {
  constexpr std::int64_t small = 16;
  std::vector<char> needed(m_graph.values.size(), 0);
  needed[static_cast<std::size_t>(v)] = 1;
  for (std::size_t k = m_graph.nodes.size(); k-- > 0;) {
    const node& n = m_graph.nodes[k];
    const auto is_needed = [&](value_id o) { return o != no_value && needed[static_cast<std::size_t>(o)] != 0; };
    if (std::none_of(n.outputs.begin(), n.outputs.end(), is_needed)) continue;
    for (const value_id from : n.inputs)
      if (from != no_value) needed[static_cast<std::size_t>(from)] = 1;
  }
  std::string options;
  for (const value_id from : m_graph.inputs) {
    if (needed[static_cast<std::size_t>(from)] == 0) continue;
    const value& x = m_graph.values[static_cast<std::size_t>(from)];
    if (count_of(x.shape) > small) return "";
    options += " --set " + x.name + "=VALUE";
  }
  return options;
}

void canonicaliser::require_constant(const node& n, std::size_t i, const char* what) const {
  const value& v = m_graph.values[static_cast<std::size_t>(n.inputs[i])];
  if (v.constant) return;
  const std::string options = options_that_set(n.inputs[i]);
  refuse_node(n, std::string(what) + " ('" + v.name +
                     "'): computed at run time, but it must be a constant of the model" +
                     (options.empty() ? "" : ". It follows from small inputs alone: try" + options));
}

std::vector<double> canonicaliser::numbers(const node& n, std::size_t i, const char* what) {
  const value& v = m_graph.values[static_cast<std::size_t>(n.inputs[i])];
  require_constant(n, i, what);
  charge(n, static_cast<double>(v.constant->count()));
  std::vector<double> values(static_cast<std::size_t>(v.constant->count()));
  if (v.constant->type == element::f32)
    std::copy_n(v.constant->as<float>(), values.size(), values.begin());
  else
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = v.constant->number(static_cast<std::int64_t>(k));
  return values;
}

std::vector<std::int64_t> canonicaliser::integers(const node& n, std::size_t i, const char* what) {
  const value& v = m_graph.values[static_cast<std::size_t>(n.inputs[i])];
  require_constant(n, i, what);
  charge(n, static_cast<double>(v.constant->count()));
  std::vector<std::int64_t> values(static_cast<std::size_t>(v.constant->count()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = v.constant->integer(static_cast<std::int64_t>(k));
  return values;
}

std::int64_t canonicaliser::integer(const node& n, std::size_t i, const char* what) {
  const std::vector<std::int64_t> given = integers(n, i, what);
  if (given.size() != 1) refuse_node(n, std::string(what) + " must be one number, not " + std::to_string(given.size()));
  return given[0];
}

operation& canonicaliser::emit(const node& n, operation_parameters p, std::vector<int> inputs, int result) {
  operation o;
  o.name = n.name;
  o.source = describe(m_graph, n);
  o.inputs = std::move(inputs);
  o.output = result == no_value ? of(output_of(n)) : result;
  o.p = std::move(p);
  m_program.operations.push_back(std::move(o));
  return m_program.operations.back();
}

int canonicaliser::temporary(const node& n, const std::string& suffix, shape_t shape, element type) {
  double count = 1;
  for (const std::int64_t d : shape) count *= static_cast<double>(d);
  if (count > std::numeric_limits<std::int32_t>::max())
    refuse_node(n, "it needs a tensor of the shape " + to_string(shape) +
                       ", but those of the engine have at most 2^31 - 1 elements. Export the model for smaller inputs");
  return m_program.add({n.name + "#" + suffix, type, std::move(shape), nullptr});
}

int canonicaliser::constant_integers(const node& n, const std::string& suffix, shape_t shape, element type,
                                     const std::vector<std::int64_t>& values) {
  auto data = std::make_shared<array>(type, shape);
  for (std::size_t i = 0; i < values.size(); ++i) data->set_integer(static_cast<std::int64_t>(i), values[i]);
  return m_program.add({n.name + "#" + suffix, type, std::move(shape), std::move(data)});
}

int canonicaliser::apply(const node& n, int x, function fn, const std::string& suffix, double alpha, double beta,
                         int result) {
  if (result == no_value) result = temporary(n, suffix, m_program.shape(x));
  post_operation post;
  post.fn = fn;
  post.alpha = alpha;
  post.beta = beta;
  emit(n, unary_parameters{}, {x}, result).post = post;
  return result;
}

shape_t canonicaliser::broadcast_shape(int a, int b) const {
  shape_t shape = m_program.shape(a), other = m_program.shape(b);
  if (shape.size() < other.size()) std::swap(shape, other);
  for (std::size_t d = 0; d < other.size(); ++d) {
    std::int64_t& length = shape[shape.size() - other.size() + d];
    length = std::max(length, other[d]);
  }
  return shape;
}

int canonicaliser::combine(const node& n, binary_kind kind, int a, int b, const std::string& suffix, int result) {
  if (result == no_value) result = temporary(n, suffix, broadcast_shape(a, b));
  emit(n, binary_parameters{kind}, {a, b}, result);
  return result;
}

int canonicaliser::reduced(const node& n, reduce_kind kind, int x, const std::vector<int>& axes,
                           const std::string& suffix) {
  shape_t shape = m_program.shape(x);
  for (int a : axes) shape[static_cast<std::size_t>(a)] = 1;
  const int result = temporary(n, suffix, shape);
  emit(n, reduce_parameters{kind, axes}, {x}, result);
  return result;
}

int canonicaliser::constant(const node& n, const std::string& suffix, shape_t shape,
                            const std::vector<double>& values) {
  auto data = std::make_shared<array>(element::f32, shape);
  for (std::size_t i = 0; i < values.size(); ++i) data->set(static_cast<std::int64_t>(i), values[i]);
  return m_program.add({n.name + "#" + suffix, element::f32, std::move(shape), std::move(data)});
}

int canonicaliser::reshaped(const node& n, int v, shape_t shape) {
  if (m_program.shape(v) == shape) return v;
  const int result = temporary(n, "view" + std::to_string(m_program.values.size()), std::move(shape),
                               m_program.values[static_cast<std::size_t>(v)].type);
  emit(n, reshape_parameters{}, {v}, result);
  return result;
}

}
