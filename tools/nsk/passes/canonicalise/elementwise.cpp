// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include "passes/canonicalise/canonicaliser.hpp"

namespace nsk::tool {

void canonicaliser::unary(const node& n) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  struct entry {
    function fn;
    double alpha, beta;
  };
  static const std::unordered_map<std::string, entry> table = {{"Relu", {function::clip, 0, infinity}},
                                                               {"LeakyRelu", {function::leaky_relu, 0.01, 0}},
                                                               {"Sigmoid", {function::sigmoid, 0, 0}},
                                                               {"HardSigmoid", {function::hard_sigmoid, 0.2, 0.5}},
                                                               {"HardSwish", {function::hard_swish, 0, 0}},
                                                               {"Tanh", {function::tanh, 0, 0}},
                                                               {"Exp", {function::exp, 0, 0}},
                                                               {"Log", {function::log, 0, 0}},
                                                               {"Sqrt", {function::sqrt, 0, 0}},
                                                               {"Reciprocal", {function::reciprocal, 0, 0}},
                                                               {"Neg", {function::neg, 0, 0}},
                                                               {"Abs", {function::abs, 0, 0}},
                                                               {"Floor", {function::floor, 0, 0}},
                                                               {"Ceil", {function::ceil, 0, 0}},
                                                               {"Round", {function::round, 0, 0}},
                                                               {"Erf", {function::erf, 0, 0}},
                                                               {"Elu", {function::elu, 1, 0}},
                                                               {"Softplus", {function::softplus, 0, 0}},
                                                               {"Gelu", {function::gelu, 0, 0}},
                                                               {"Sign", {function::sign, 0, 0}},
                                                               {"Sin", {function::sin, 0, 0}},
                                                               {"Cos", {function::cos, 0, 0}}};
  const entry& e = table.at(n.op);
  const std::string approximate = n.op == "Gelu" ? n.text("approximate", "none") : "none";
  if (approximate == "tanh") return gelu_by_tanh(n);
  if (approximate != "none") refuse_node(n, "attribute 'approximate' must be none or tanh");
  post_operation post;
  post.fn = e.fn;
  post.alpha = e.alpha;
  post.beta = e.beta;
  if (n.op == "LeakyRelu" || n.op == "HardSigmoid" || n.op == "Elu")
    post.alpha = n.number("alpha", static_cast<float>(e.alpha));
  if (n.op == "HardSigmoid") post.beta = n.number("beta", static_cast<float>(e.beta));
  emit(n, unary_parameters{}, {in(n, 0)}).post = post;
}

void canonicaliser::clip(const node& n) {
  const auto is_data = [&](std::size_t i) {
    return present(n, i) && m_graph.values[static_cast<std::size_t>(n.inputs[i])].constant == nullptr;
  };
  if (is_data(1) || is_data(2)) {
    int x = in(n, 0);
    if (present(n, 1)) x = combine(n, binary_kind::max, x, in(n, 1), "above");
    if (present(n, 2)) x = combine(n, binary_kind::min, x, in(n, 2), "below");
    emit(n, reshape_parameters{}, {x});
    return;
  }
  post_operation post;
  post.fn = function::clip;
  post.alpha = -std::numeric_limits<double>::infinity();
  post.beta = std::numeric_limits<double>::infinity();
  const bool old = n.version < 11;
  if (old && n.has("min")) post.alpha = n.number("min", 0);
  if (old && n.has("max")) post.beta = n.number("max", 0);
  if (!old && present(n, 1)) post.alpha = number(n, 1, "min");
  if (!old && present(n, 2)) post.beta = number(n, 2, "max");
  if (std::isnan(post.alpha) || std::isnan(post.beta)) refuse_node(n, "one of its bounds is not a number");
  emit(n, unary_parameters{}, {in(n, 0)}).post = post;
}

void canonicaliser::p_relu(const node& n) { emit(n, binary_parameters{binary_kind::prelu}, {in(n, 0), in(n, 1)}); }

void canonicaliser::binary(const node& n) {
  static const std::unordered_map<std::string, binary_kind> table = {
      {"Add", binary_kind::add}, {"Sub", binary_kind::sub}, {"Mul", binary_kind::mul}, {"Div", binary_kind::div}};
  emit(n, binary_parameters{table.at(n.op)}, {in(n, 0), in(n, 1)});
}

void canonicaliser::pow(const node& n) {
  const value& exponent = m_graph.values[static_cast<std::size_t>(n.inputs[1])];
  const double e = exponent.constant && exponent.constant->count() == 1 ? exponent.constant->number(0) : 0;
  const bool same_shape = in_shape(n, 0) == out_shape(n);
  if (same_shape && (e == 2 || e == 0.5)) {
    emit(n, unary_parameters{}, {in(n, 0)}).post.fn = e == 2 ? function::square : function::sqrt;
    return;
  }
  int right = in(n, 1);
  if (exponent.constant && exponent.type != element::f32)
    right = constant(n, "exponent", exponent.shape, numbers(n, 1, "the exponent"));
  emit(n, binary_parameters{binary_kind::pow}, {in(n, 0), right});
}

void canonicaliser::variadic(const node& n) {
  const binary_kind kind = n.op == "Min" ? binary_kind::min : n.op == "Max" ? binary_kind::max : binary_kind::add;
  const std::size_t count = n.inputs.size();
  const bool mean = n.op == "Mean" && count > 1;
  if (count == 1) return identity(n);
  int sum = in(n, 0);
  for (std::size_t i = 1; i < count; ++i) {
    const bool last = i + 1 == count && !mean;
    sum = combine(n, kind, sum, in(n, i), "partial" + std::to_string(i), last ? of(output_of(n)) : no_value);
  }
  if (mean) emit(n, binary_parameters{binary_kind::div}, {sum, constant(n, "count", {}, {static_cast<double>(count)})});
}

void canonicaliser::softmax(const node& n) {
  const shape_t x = in_shape(n, 0);
  const bool flattens = n.version < 13;  // until opset 13 all axes from `axis` on were one
  const std::int64_t wanted = n.integer("axis", flattens ? 1 : -1), rank = static_cast<std::int64_t>(x.size());
  const bool behind = x.empty() || (flattens && wanted == rank);
  const int axis = behind ? static_cast<int>(rank) : axis_of(n, wanted, x.size());
  softmax_parameters s{axis, n.op == "LogSoftmax"};
  const bool inside = axis < static_cast<int>(x.size());  // else a line of one element
  const bool one_axis = inside && std::all_of(x.begin() + axis + 1, x.end(), [](std::int64_t d) { return d == 1; });
  if (inside && (!flattens || one_axis)) {
    emit(n, s, {in(n, 0)});
    return;
  }
  const shape_t flat = {count_of({x.begin(), x.begin() + axis}), count_of({x.begin() + axis, x.end()})};
  const int view = reshaped(n, in(n, 0), flat), result = temporary(n, "flat", flat);
  s.axis = 1;
  emit(n, s, {view}, result);
  emit(n, reshape_parameters{}, {result});
}

void canonicaliser::reduce(const node& n) {
  static const std::unordered_map<std::string, reduce_kind> table = {
      {"ReduceMean", reduce_kind::mean}, {"ReduceSum", reduce_kind::sum},
      {"ReduceMax", reduce_kind::max},   {"ReduceMin", reduce_kind::min},
      {"ReduceProd", reduce_kind::prod}, {"ReduceSumSquare", reduce_kind::sum_square}};
  const shape_t& x = in_shape(n, 0);
  std::vector<std::int64_t> axes = present(n, 1) ? integers(n, 1, "axes") : n.integers("axes");
  if (axes.empty()) {
    if (n.integer("noop_with_empty_axes", 0) != 0 && n.op == "ReduceSumSquare")
      refuse_node(n, "it reduces no axis; replace it by its elementwise part");
    if (n.integer("noop_with_empty_axes", 0) != 0) return identity(n);
    for (std::size_t a = 0; a < x.size(); ++a) axes.push_back(static_cast<std::int64_t>(a));
  }
  reduce_parameters r;
  r.kind = table.at(n.op);
  shape_t kept = x;
  for (std::int64_t a : axes) {
    r.axes.push_back(axis_of(n, a, x.size()));
    kept[static_cast<std::size_t>(r.axes.back())] = 1;
  }
  if (kept == out_shape(n)) {
    emit(n, std::move(r), {in(n, 0)});
    return;
  }
  const int result = temporary(n, "kept", kept);
  emit(n, std::move(r), {in(n, 0)}, result);
  emit(n, reshape_parameters{}, {result});
}

/// ReduceL1, ReduceL2, ReduceLogSum and ReduceLogSumExp.
void canonicaliser::reduce_of(const node& n) {
  const shape_t& shape = in_shape(n, 0);
  std::vector<std::int64_t> given = present(n, 1) ? integers(n, 1, "axes") : n.integers("axes");
  if (given.empty() && n.integer("noop_with_empty_axes", 0) != 0)
    refuse_node(n, "it reduces no axis; replace it by its elementwise part");
  std::vector<int> axes;
  for (std::int64_t a : given) axes.push_back(axis_of(n, a, shape.size()));
  for (std::size_t a = 0; given.empty() && a < shape.size(); ++a) axes.push_back(static_cast<int>(a));
  int x = in(n, 0);
  if (n.op == "ReduceL1") x = reduced(n, reduce_kind::sum, apply(n, x, function::abs, "abs"), axes, "sum");
  if (n.op == "ReduceL2") x = apply(n, reduced(n, reduce_kind::sum_square, x, axes, "squares"), function::sqrt, "root");
  if (n.op == "ReduceLogSum") x = apply(n, reduced(n, reduce_kind::sum, x, axes, "sum"), function::log, "log");
  if (n.op == "ReduceLogSumExp") {
    // what is subtracted is finite, so that infinities neither cancel nor become NaN
    constexpr double most = std::numeric_limits<float>::max();
    const int top = apply(n, reduced(n, reduce_kind::max, x, axes, "max"), function::clip, "finite", -most, most);
    const int powers = apply(n, combine(n, binary_kind::sub, x, top, "shifted"), function::exp, "exp");
    const int log = apply(n, reduced(n, reduce_kind::sum, powers, axes, "sum"), function::log, "log");
    x = combine(n, binary_kind::add, log, top, "unshifted");
  }
  emit(n, reshape_parameters{}, {x});
}

void canonicaliser::identity(const node& n) {
  if (n.outputs.size() > 1 && n.outputs[1] != no_value) refuse_node(n, "the mask output of Dropout has no kernel");
  emit(n, reshape_parameters{}, {in(n, 0)});
}

}
