// SPDX-License-Identifier: MIT
/// Operations on any element type, those that compute or follow indices, and normalisations.
#include "errors.hpp"
#include "passes/lower/lowerer.hpp"

namespace nsk::tool {

bool lowerer::lower_typed(const operation& o) {
  const auto elementwise = [&](op kind) -> plan_step& {
    const std::vector<int> t = elementwise_tensors(o);
    return step(kind, o, {t.begin() + 1, t.end()}, t[0]);
  };
  if (o.as<cast_parameters>()) {
    elementwise(op::cast);
  } else if (const auto* c = o.as<compare_parameters>()) {
    elementwise(op::compare).compare = c->kind;
  } else if (o.as<select_parameters>()) {
    elementwise(op::select);
  } else if (const auto* a = o.as<arithmetic_parameters>()) {
    elementwise(op::arithmetic).arithmetic = a->kind;
  } else if (const auto* g = o.as<gather_parameters>()) {
    lower_gather(o, *g);
  } else if (const auto* r = o.as<arg_reduce_parameters>()) {
    plan_step& s = lower_along(o, op::arg_reduce, r->axis);
    s.arg_reduce = r->kind;
    s.last = r->last;
  } else if (const auto* k = o.as<top_k_parameters>()) {
    lower_along(o, op::top_k, k->axis).smallest = k->smallest;
  } else if (const auto* n = o.as<non_max_suppression_parameters>()) {
    lower_suppression(o, *n);
  } else if (const auto* l = o.as<layer_normalization_parameters>()) {
    lower_layer_normalization(o, *l);
  } else if (const auto* p = o.as<local_response_normalization_parameters>()) {
    lower_local_response_normalization(o, *p);
  } else if (const auto* q = o.as<recurrent_parameters>()) {
    lower_recurrent(o, *q);
  } else if (const auto* d = o.as<random_parameters>()) {
    lower_random(o, *d);
  } else if (const auto* e = o.as<tree_parameters>()) {
    lower_trees(o, *e);
  } else {
    return false;
  }
  return true;
}

/// A step whose result lies as its input does and differs from it in the length of one axis.
plan_step& lowerer::lower_along(const operation& o, op kind, int axis) {
  const view x = place_of(o.inputs[0]);
  if (x.rank() > static_cast<std::size_t>(max_rank)) refuse(o.source + ": it has more than six dimensions");
  const axis_order order = order_of(x);
  const view y = allocate(o.output, order);
  ask_dense(y);
  const int input = tensor(x, order, name_of_value(o.inputs[0]), false),
            output = tensor(y, order, name_of_value(o.output), false);
  plan_step& s = step(kind, o, {input}, output);
  for (std::size_t d = 0; d < order.size(); ++d)
    if (order[d] == axis) s.axis = static_cast<int>(d);
  bind(o.output, y);
  return s;
}

void lowerer::lower_gather(const operation& o, const gather_parameters& g) {
  const view x = place_of(o.inputs[0]), indices = place_of(o.inputs[1]);
  if (x.rank() > static_cast<std::size_t>(max_rank)) refuse(o.source + ": it has more than six dimensions");
  const axis_order order = order_of(x);
  const view y = allocate(o.output, order);
  ask_dense(y);
  const int data = tensor(x, order, name_of_value(o.inputs[0]), false);
  const int index = tensor(indices, g.elements ? order : axis_order{0}, name_of_value(o.inputs[1]), false);
  plan_step& s = step(g.elements ? op::gather_elements : op::gather, o, {data, index},
                      tensor(y, order, name_of_value(o.output), false));
  for (std::size_t d = 0; d < order.size(); ++d)
    if (order[d] == g.axis) s.axis = static_cast<int>(d);
  bind(o.output, y);
}

void lowerer::lower_suppression(const operation& o, const non_max_suppression_parameters& n) {
  const std::vector<int> axes = {0, 1, 2};
  const view y = allocate(o.output, identity_order(2));
  ask_dense(y);
  const int boxes = tensor(place_of(o.inputs[0]), axes, name_of_value(o.inputs[0]), false),
            scores = tensor(place_of(o.inputs[1]), axes, name_of_value(o.inputs[1]), false);
  plan_step& s = step(op::non_max_suppression, o, {boxes, scores}, tensor(y, {0, 1}, name_of_value(o.output), false));
  s.most_per_class = n.most_per_class;
  s.iou_threshold = n.iou_threshold;
  s.score_threshold = n.score_threshold;
  s.center_point_box = n.center_point_box;
  bind(o.output, y);
}

void lowerer::lower_layer_normalization(const operation& o, const layer_normalization_parameters& l) {
  const int last = static_cast<int>(m_program.shape(o.output).size()) - 1;
  const view x = place_of(o.inputs[0]);
  ask_innermost(x, static_cast<std::size_t>(last));
  const view y = allocate(o.output, order_of(x));
  std::vector<int> t;
  const int axis = joint_tensors({y, x}, {name_of_value(o.output), name_of_value(o.inputs[0])}, t, last);
  const int rank = static_cast<int>(m_plan.tensor(t[0]).shape.size());
  if (axis + 1 != rank) {  // the engine normalises along the last dimension
    const auto turn = [&](plan_tensor& p) {
      const auto at = static_cast<std::ptrdiff_t>(axis);
      const std::int32_t length = p.shape[static_cast<std::size_t>(axis)];
      const std::int64_t stride = p.strides[static_cast<std::size_t>(axis)];
      p.shape.erase(p.shape.begin() + at);
      p.strides.erase(p.strides.begin() + at);
      p.shape.push_back(length);
      p.strides.push_back(stride);
    };
    for (int i : t) turn(m_plan.tensor(i));
    ask_dense(y);
  }
  const int scale = constant_floats(o.name + "#scale", l.scale), bias = constant_floats(o.name + "#bias", l.bias);
  plan_step& s = step(op::layer_normalization, o, {t[1], scale, bias}, t[0]);
  s.epsilon = l.epsilon;
  s.centre = l.centre;
  bind(o.output, y);
}

/// Numbers belong to elements in the source's order, so its axes are kept as they are.
void lowerer::lower_random(const operation& o, const random_parameters& r) {
  const std::size_t rank = m_program.shape(o.output).size();
  if (rank > static_cast<std::size_t>(max_rank)) refuse(o.source + ": it has more than six dimensions");
  const axis_order order = identity_order(rank);
  const view y = allocate(o.output, order, true);
  ask_dense(y);
  plan_step& s = step(op::random, o, {}, tensor(y, order, name_of_value(o.output), false));
  s.random = r.kind;
  s.scale = static_cast<float>(r.scale);
  s.offset = static_cast<float>(r.offset);
  s.stream = r.stream;
  bind(o.output, y);
}

void lowerer::lower_trees(const operation& o, const tree_parameters& t) {
  const view x = place_of(o.inputs[0]), y = allocate(o.output, identity_order(2), true);
  ask_dense(y);
  const int input = tensor(x, {0, 1}, name_of_value(o.inputs[0]), false),
            output = tensor(y, {0, 1}, name_of_value(o.output), false);
  const std::vector<int> inputs = {input,
                                   constant_ints(o.name + "#roots", t.roots),
                                   constant_ints(o.name + "#nodes", t.nodes),
                                   constant_floats(o.name + "#thresholds", t.thresholds),
                                   constant_ints(o.name + "#targets", t.targets),
                                   constant_floats(o.name + "#weights", t.weights),
                                   constant_floats(o.name + "#base", t.base)};
  step(op::tree_ensemble, o, inputs, output).aggregate = t.aggregate;
  bind(o.output, y);
}

void lowerer::lower_local_response_normalization(const operation& o, const local_response_normalization_parameters& l) {
  const view x = with_innermost(place_of(o.inputs[0]), 1, o);
  const axis_order order = channels_last_order(x.rank());
  std::vector<int> axes(order.begin(), order.end());
  if (x.rank() == 2) axes = {0, 1};
  if (x.rank() > static_cast<std::size_t>(max_rank)) refuse(o.source + ": it has more than six dimensions");
  const view y = allocate(o.output, order, true);
  const int input = tensor(x, axes, name_of_value(o.inputs[0]), false);
  plan_step& s = step(op::local_response_normalization, o, {input}, tensor(y, axes, name_of_value(o.output)));
  s.size = l.size;
  s.alpha = l.alpha;
  s.beta = l.beta;
  s.bias = l.bias;
  bind(o.output, y);
}

}
