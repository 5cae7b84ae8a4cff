// SPDX-License-Identifier: MIT
#pragma once
/// Small valid plans, as starting points for invalid files and as networks to run.
#include "plan_builder.hpp"
#include <netsuke/format/scratch.hpp>
#include <netsuke/format/scratch.hpp>

namespace test {

/// Numbers in [-1, 1), the same on every machine.
struct noise {
  std::uint32_t state;
  explicit noise(std::uint32_t seed) : state(seed * 2654435761u + 12345u) {}
  float operator()() {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  std::vector<float> many(std::size_t n) {
    std::vector<float> v(n);
    for (float& x : v) x = (*this)();
    return v;
  }
};

/// Tensors of the convolutional sample, by index, and the unpacked weights.
struct cnn_sample {
  plan_spec plan;
  std::uint32_t x, stem, deep, wide, wide_left, wide_right, mean, flat, logits, y;
  std::vector<float> stem_matrix, stem_bias, deep_matrix, deep_bias, point_matrix, point_bias, dense_matrix, dense_bias;
  enum step : std::size_t { stem_step, deep_step, point_step, copy_step, mean_step, dense_step, softmax_step, steps };
};

/// x [1,8,8,3] -> 3x3 convolution with border -> depthwise 3x3 -> (1x1 convolution | itself) side by side -> mean ->
/// dense -> softmax. Every step has several tiles where it can.
inline cnn_sample make_cnn() {
  using format::Function;
  using format::Operator;
  cnn_sample s;
  noise random(7);
  plan_spec& p = s.plan;
  const std::uint32_t end = cnn_sample::steps;
  s.stem_matrix = random.many(27 * 16);
  s.stem_bias = random.many(16);
  s.deep_matrix = random.many(9 * 16);
  s.deep_bias = random.many(16);
  s.point_matrix = random.many(16 * 24);
  s.point_bias = random.many(24);
  s.dense_matrix = random.many(40 * 10);
  s.dense_bias = random.many(10);

  s.x = p.add_input("image", {1, 8, 8, 3}, end);
  s.stem = p.add_bordered("stem", {1, 8, 8, 16}, {1, 1, 1, 1}, 0, 1);
  s.deep = p.add_dense("deep", {1, 8, 8, 16}, 1, 3);
  s.wide = p.add_dense("wide", {1, 8, 8, 40}, 2, 4);
  const std::uint32_t wide_buffer = p.tensors[s.wide].buffer;
  s.wide_left = p.add_tensor("left", {1, 8, 8, 24}, wide_buffer);
  s.wide_right = p.add_tensor("right", {1, 8, 8, 16}, wide_buffer);
  for (const std::uint32_t part : {s.wide_left, s.wide_right}) p.tensors[part].strides = {8 * 8 * 40, 8 * 40, 40, 1};
  p.tensors[s.wide_right].offset = 24 * 4;
  s.mean = p.add_dense("mean", {1, 1, 1, 40}, 4, 5);
  s.flat = p.add_tensor("flat", {1, 40}, p.tensors[s.mean].buffer);
  s.logits = p.add_dense("logits", {1, 10}, 5, 6);
  s.y = p.add_output("scores", {1, 10}, 6, end);
  const std::uint32_t stem_weights = p.add_panels("stem.w", s.stem_matrix, s.stem_bias);
  const std::uint32_t deep_weights = p.add_panels("deep.w", s.deep_matrix, s.deep_bias);
  const std::uint32_t point_weights = p.add_panels("point.w", s.point_matrix, s.point_bias);
  const std::uint32_t dense_weights = p.add_panels("dense.w", s.dense_matrix, s.dense_bias);

  step_spec& stem = p.add_step(Operator::Conv2D, {s.x, stem_weights}, s.stem, "stem");
  stem.window = format::Window(3, 3, 1, 1, 1, 1, 1, 1);
  stem.epilogue = {Function::clip, 0.0f, 6.0f, false, -1, -1};
  stem.tile = {3, 0, 0};
  stem.scratch_bytes = 16 * 27 * 4;
  stem.macs = 8 * 8 * 16 * 27;
  step_spec& deep = p.add_step(Operator::DepthwiseConv2D, {s.stem, deep_weights}, s.deep, "deep");
  deep.window = format::Window(3, 3, 1, 1, 1, 1, 1, 1);
  deep.epilogue.function = Function::hard_swish;
  deep.tile = {2, 0, 0};
  deep.macs = 8 * 8 * 16 * 9;
  step_spec& point = p.add_step(Operator::Conv2D, {s.deep, point_weights}, s.wide_left, "point");
  point.epilogue = {Function::leaky_relu, 0.1f, 0.0f, false, -1, -1};
  point.tile = {0, 4, 16};
  point.macs = 8 * 8 * 16 * 24;
  p.add_step(Operator::Copy, {s.deep}, s.wide_right, "copy").tile = {1, 0, 0};
  step_spec& mean = p.add_step(Operator::Reduce, {s.wide}, s.mean, "mean");
  mean.tile = {0, 0, 16};
  step_spec& dense = p.add_step(Operator::FullyConnected, {s.flat, dense_weights}, s.logits, "dense");
  dense.macs = 400;
  p.add_step(Operator::Softmax, {s.logits}, s.y, "softmax").axis = 1;
  p.lane_bytes = 16 * 27 * 4 + 48;  // a multiple of 64
  p.lane_bytes = (p.lane_bytes + 63) / 64 * 64;
  return s;
}

/// h' = 0.5 * h + x, y = -h': a recurrence. The new state is written to the arena and copied, or with `in_place` over
/// the old one.
inline plan_spec make_recurrent(bool in_place, bool initial) {
  using format::Operator;
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, 6}, 3), h = p.add_state("h", {1, 6}, 3);
  const std::uint32_t half = p.add_constant("half", std::vector<float>{0.5f});
  const std::uint32_t all_half = p.add_tensor("half6", {1, 6}, p.tensors[half].buffer);
  p.tensors[all_half].strides = {0, 0};
  const std::uint32_t scaled = p.add_dense("scaled", {1, 6}, 0, 1);
  const std::uint32_t next = in_place ? h : p.add_dense("next", {1, 6}, 1, 3);
  const std::uint32_t y = p.add_output("y", {1, 6}, 2, 3);
  p.states[0].next = next;
  if (initial) {
    const std::uint32_t start = p.add_constant("start", std::vector<float>{1, 2, 3, 4, 5, 6});
    p.states[0].initial = static_cast<std::int32_t>(p.add_tensor("start6", {1, 6}, p.tensors[start].buffer));
  }
  p.add_step(Operator::Binary, {h, all_half}, scaled).binary = format::BinaryKind::mul;
  p.add_step(Operator::Binary, {scaled, x}, next).binary = format::BinaryKind::add;
  p.add_step(Operator::Unary, {next}, y).epilogue.function = format::Function::neg;
  return p;
}

/// A view of another shape in the same place.
inline std::uint32_t add_view(plan_spec& p, std::uint32_t of, std::vector<std::int32_t> shape,
                              std::vector<std::int64_t> strides, std::uint64_t offset = 0) {
  const std::uint32_t index = p.add_tensor("view", std::move(shape), p.tensors[of].buffer);
  p.tensors[index].strides = std::move(strides);
  p.tensors[index].offset = offset;
  p.tensors[index].type = p.tensors[of].type;
  return index;
}

/// The operators that the convolutional sample has not: Winograd, groups, pooling, resizing, arithmetic with
/// broadcasts, transposition, products of matrices, constants, several outputs; work in place, slopes and residuals.
inline plan_spec make_mixed() {
  using format::Function;
  using format::Operator;
  plan_spec p;
  noise random(3);
  const std::uint32_t end = 12;
  const std::uint32_t x = p.add_input("x", {1, 6, 6, 8}, end);
  const std::uint32_t wino = p.add_dense("wino", {1, 6, 6, 16}, 0, 5);
  const std::uint32_t grouped = p.add_dense("grouped", {1, 3, 3, 16}, 1, 4);
  const std::uint32_t pooled = p.add_dense("pooled", {1, 3, 3, 16}, 2, 3);
  const std::uint32_t resized = p.add_dense("resized", {1, 6, 6, 16}, 4, 7);
  const std::uint32_t transposed = p.add_dense("turned", {1, 16, 36}, 6, 8);
  const std::uint32_t panels = p.add_dense("panels", {1, 16 * 37}, 7, 8);
  const std::uint32_t product = p.add_dense("product", {1, 16, 16}, 8, 10);
  const std::uint32_t scores = p.add_output("scores", {1, 16, 16}, 9, end);
  const std::uint32_t norms = p.add_output("norms", {1, 1, 16}, 10, end);
  const std::uint32_t constant = p.add_output("constant", {2, 3}, 11, end);
  const std::uint32_t wino_weights = p.add_constant(
      "wino.w", random.many(static_cast<std::size_t>(nsk::winograd_floats(nsk::conv_algorithm::winograd4, 16, 8))));
  p.tensors[wino_weights].packing = format::Packing::winograd4;
  const std::uint32_t slope = p.add_constant("slope", random.many(16));
  const std::uint32_t group_weights =
      p.add_constant("group.w", random.many(static_cast<std::size_t>(2 * nsk::panel_floats(8, 9 * 8))));
  p.tensors[group_weights].packing = format::Packing::panels;
  const std::uint32_t index =
      p.add_constant("index", std::vector<std::int32_t>{0, 0, 0, 1, 0, 1, 1, 2, 1, 2, 2, 2}, format::DataType::int32);
  const std::uint32_t weight = p.add_constant(
      "weight", std::vector<float>{0.5f, 0.5f, 0.75f, 0.25f, 0.25f, 0.75f, 0.75f, 0.25f, 0.25f, 0.75f, 0.5f, 0.5f});

  step_spec& winograd = p.add_step(Operator::Conv2D, {x, wino_weights, slope}, wino, "winograd");
  winograd.window = format::Window(3, 3, 1, 1, 1, 1, 1, 1);
  winograd.algorithm = format::ConvAlgorithm::winograd4;
  winograd.epilogue = {Function::prelu, 0, 0, false, -1, 2};
  winograd.tile = {3, 0, 0};
  winograd.scratch_bytes = static_cast<std::uint64_t>(nsk::kernels::conv_2d_scratch_bytes(
      {6, 6, 8, 6, 6, 16, 1, {}, 0, {3, 3, 1, 1, 1, 1, 1, 1}, nsk::conv_algorithm::winograd4}));
  step_spec& groups = p.add_step(Operator::Conv2D, {wino, group_weights}, grouped, "groups");
  groups.window = format::Window(3, 3, 2, 2, 1, 1, 1, 1);
  groups.groups = 2;
  groups.scratch_bytes = 16 * 72 * 4;
  step_spec& pool = p.add_step(Operator::Pool2D, {wino}, pooled, "pool");
  pool.window = format::Window(3, 3, 2, 2, 1, 1, 1, 1);
  pool.pool = format::PoolKind::average;
  pool.count_include_pad = true;
  pool.pad_bottom = pool.pad_right = 1;
  pool.tile = {1, 2, 0};
  const std::uint32_t first_channel = add_view(p, pooled, {1, 3, 3, 16}, {144, 48, 16, 0});
  p.add_step(Operator::Binary, {grouped, first_channel}, grouped, "scale").binary = format::BinaryKind::mul;
  step_spec& resize = p.add_step(Operator::Resize2D, {grouped, index, weight, index, weight}, resized, "resize");
  resize.row_taps = resize.column_taps = 2;
  resize.scratch_bytes = static_cast<std::uint64_t>(nsk::kernels::resize_2d_scratch_bytes(2));
  resize.tile = {2, 3, 0};
  step_spec& act = p.add_step(Operator::Unary, {resized, wino}, resized, "act");
  act.epilogue = {Function::tanh, 0, 0, true, 1, -1};
  const std::uint32_t backwards = add_view(p, resized, {1, 16, 36}, {576, 1, -16}, 35 * 64);
  p.add_step(Operator::Copy, {backwards}, transposed, "turn").tile = {0, 5, 0};
  const std::uint32_t matrix = add_view(p, resized, {1, 36, 16}, {576, 16, 1});
  p.add_step(Operator::PackPanels, {matrix}, panels, "pack");
  step_spec& multiply = p.add_step(Operator::MatMul, {transposed, panels}, product, "multiply");
  multiply.shared_right = true;
  multiply.tile = {0, 4, 0};
  multiply.macs = 16 * 16 * 36;
  p.add_step(Operator::Softmax, {product}, scores, "softmax").axis = 1;
  step_spec& norm = p.add_step(Operator::Reduce, {product}, norms, "norms");
  norm.reduce = format::ReduceKind::sum_square;
  norm.epilogue.function = Function::sqrt;
  p.add_step(Operator::Fill, {}, constant, "fill").value = 2.5f;
  for (const step_spec& s : p.steps) p.lane_bytes = p.lane_bytes > s.scratch_bytes ? p.lane_bytes : s.scratch_bytes;
  return p;
}

/// Operators on integers, booleans and indices, and the normalisations.
inline plan_spec make_indices() {
  using format::DataType;
  using format::Operator;
  plan_spec p;
  noise random(4);
  const std::uint32_t end = 12;
  const std::uint32_t x = p.add_input("x", {2, 6, 8}, end);
  const std::uint32_t order = p.add_dense("order", {2, 3, 8}, 0, 1, DataType::int64);
  const std::uint32_t best = p.add_dense("best", {2, 3, 8}, 1, 2);
  const std::uint32_t position = p.add_dense("position", {2, 3, 1}, 2, 3, DataType::int64);
  const std::uint32_t wrapped = p.add_dense("wrapped", {2, 3, 1}, 3, 4, DataType::int64);
  const std::uint32_t picked = p.add_dense("picked", {2, 6, 6}, 4, 6);
  const std::uint32_t mask = p.add_dense("mask", {2, 6, 6}, 5, 6, DataType::boolean);
  const std::uint32_t chosen = p.add_dense("chosen", {2, 6, 6}, 6, 7);
  const std::uint32_t whole = p.add_dense("whole", {2, 6, 6}, 7, 8, DataType::int32);
  const std::uint32_t real = p.add_dense("real", {2, 6, 6}, 8, 9);
  const std::uint32_t normal = p.add_dense("normal", {2, 6, 6}, 9, 10);
  const std::uint32_t local = p.add_output("local", {2, 6, 6}, 10, end);
  const std::uint32_t kept = p.add_output("kept", {5, 3}, 11, end, DataType::int64);
  const std::uint32_t divisor = p.add_constant("divisor", std::vector<std::int64_t>{5}, DataType::int64);
  const std::uint32_t zero = p.add_constant("zero", std::vector<float>{0.25f});
  const std::uint32_t scale = p.add_constant("scale", random.many(6)), bias = p.add_constant("bias", random.many(6));

  p.add_step(Operator::TopK, {x}, order, "top").axis = 1;
  p.add_step(Operator::GatherElements, {x, order}, best, "best").axis = 1;
  step_spec& arg = p.add_step(Operator::ArgReduce, {best}, position, "arg");
  arg.axis = 2;
  arg.last = true;
  p.add_step(Operator::Arithmetic, {position, add_view(p, divisor, {2, 3, 1}, {0, 0, 0})}, wrapped, "mod").arithmetic =
      format::ArithmeticKind::mod;
  step_spec& gather = p.add_step(Operator::Gather, {x, add_view(p, wrapped, {6}, {1})}, picked, "gather");
  gather.axis = 2;
  gather.tile = {1, 2, 0};
  p.add_step(Operator::Compare, {picked, add_view(p, x, {2, 6, 6}, {48, 8, 1})}, mask, "less").compare =
      format::CompareKind::less;
  p.add_step(Operator::Select, {mask, picked, add_view(p, zero, {2, 6, 6}, {0, 0, 0})}, chosen, "select");
  p.add_step(Operator::Cast, {chosen}, whole, "to int");
  p.add_step(Operator::Cast, {whole}, real, "to float");
  step_spec& norm = p.add_step(Operator::LayerNormalization, {real, scale, bias}, normal, "layer norm");
  norm.epsilon = 1e-3f;
  norm.tile = {1, 3, 0};
  step_spec& lrn = p.add_step(Operator::LocalResponseNormalization, {normal}, local, "lrn");
  lrn.size = 3;
  lrn.alpha = 0.5f;
  lrn.beta = 0.75f;
  lrn.bias = 1;
  const std::uint32_t boxes = add_view(p, x, {1, 6, 4}, {48, 8, 1}), scores = add_view(p, x, {1, 2, 6}, {48, 1, 8}, 16);
  step_spec& nms = p.add_step(Operator::NonMaxSuppression, {boxes, scores}, kept, "nms");
  nms.most_per_class = 4;
  nms.iou_threshold = 0.4f;
  nms.score_threshold = -0.5f;
  nms.scratch_bytes = 64;
  p.lane_bytes = 64;
  return p;
}

}
