// SPDX-License-Identifier: MIT
#pragma once
/// The network between the source model and the plan: one way to say each thing. Axis order is still the source's
/// (NCHW); weights are constants in double precision; BatchNormalization, Clip, Squeeze and similar operators are
/// removed. `canonicalise` makes it, `fuse` shrinks it, `lower` gives it memory layouts and turns it into steps.
#include <any>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <netsuke/format/params.hpp>
#include "graph/graph.hpp"

namespace nsk::tool {

/// What follows an operation's own result: y = f(x + residual) or, with activation_first, y = f(x) + residual.
struct post_operation {
  function fn = function::identity;
  double alpha = 0, beta = 0;
  bool activation_first = false;
  int residual = no_value;    ///< value of the output's shape, or broadcastable to it by size-1 axes
  std::vector<double> slope;  ///< prelu: one per output channel
  bool empty() const { return fn == function::identity && residual == no_value; }
};

/// Convolution of [N, C, spatial...] with one or two spatial axes. weights: [O][C / groups][kernel_h][kernel_w]; bias:
/// [O]. What its windows read behind the input follows from the shapes: window_overhang.
struct conv_parameters {
  window w;
  int groups = 1, outputs = 0;
  std::vector<double> weights, bias;
  std::int64_t whole_rows = 0;  ///< of the result of which this one is a band; 0: it is whole
};
/// x [..., K] times weights [K][N] plus bias [N].
struct dense_parameters {
  int depth = 0, outputs = 0;
  std::vector<double> weights, bias;
};
/// How bytes store a result.
struct stored_range {
  int zero = 0, low = 0, high = 255;
};
/// Convolution of stored integers, by the rule of docs/reference/quantisation.md; input and output are uint8. One bias
/// and scale per output channel. input_zero stands for 0 in the input; its part of the sums is in the bias. Where
/// residual_scale is not 0, the second input, uint8 of the output's shape, is added.
struct quantized_conv_parameters {
  window w;
  int groups = 1, outputs = 0, input_zero = 0;
  std::vector<std::int8_t> weights;
  std::vector<std::int32_t> bias;
  std::vector<float> scale;
  stored_range range;
  float residual_scale = 0;
  int residual_zero = 0;
  int weight_offset = 0;  ///< the weights of the source are so much larger
};
/// Sums of products of uint8, x, with int8 weights less the input's zero point, the second input, one float; int32, or
/// with `real` sum * (third input, one float, times scale) + bias in float32. Of images, or with `dense` of the last
/// axis of a tensor of any rank.
struct integer_conv_parameters {
  window w;
  int groups = 1, outputs = 0;
  bool dense = false, real = false;
  std::vector<std::int8_t> weights;  ///< [O][C / groups][kernel_h][kernel_w]
  std::vector<std::int32_t> sums;    ///< of the weights of each output channel
  std::vector<float> scale, bias;    ///< with `real`: one per output channel
};
/// What stands for each byte, by its bits.
struct byte_table_parameters {
  std::array<std::uint8_t, 256> table;
  std::vector<std::uint8_t> channels;  ///< in place of it a table for each position of `axis`, or nothing
  int axis = 0;
};
/// Per resampled axis: taps, and for each output position `taps` source positions with their weights.
struct resize_axis {
  int axis = 0, taps = 1;
  std::vector<std::int32_t> index;
  std::vector<float> weight;
};
struct resize_parameters {
  std::vector<resize_axis> axes;
};
/// Keeps the reduced axes with length 1.
struct reduce_parameters {
  reduce_kind kind = reduce_kind::mean;
  std::vector<int> axes;
};
struct transpose_parameters {
  std::vector<int> permutation;
};
/// To the output's shape, row-major. `channels_last` hints that a rank-4 result is an image.
struct reshape_parameters {
  bool channels_last = false;
};
struct slice_parameters {
  std::vector<std::int64_t> starts, steps;
};
struct concat_parameters {
  int axis = 0;
};
struct expand_parameters {};
/// Interleaves one value per phase of the output: input (i * columns + j) holds rows i, i + rows, ... and columns j, j
/// + columns, ...
struct interleave_parameters {
  int rows = 1, columns = 1;
};
/// Indices are one-dimensional, or with `elements` of the output's shape. With `runs` so many are moved that the data
/// is worth a copy in which the elements behind the axis are neighbours.
struct gather_parameters {
  int axis = 0;
  bool elements = false;
  bool runs = false;
};
/// Along the last axis.
struct layer_normalization_parameters {
  float epsilon = 1e-5f;
  bool centre = true;
  std::vector<float> scale, bias;
};
/// The recurrence of a layer. Inputs: products with the layer's inputs [batch, time steps, directions, gates * hidden],
/// initial h [batch, directions, hidden], initial c (lstm), lengths. Output [batch, time steps + final rows,
/// directions, hidden].
struct recurrent_parameters {
  recurrent_kind kind = recurrent_kind::lstm;
  int hidden = 0, directions = 1, reverse = 0;  ///< reverse: bit d for direction d
  bool lengths = false, input_forget = false, linear_before_reset = false;
  float clip = 0, cell_clip = 0;
  std::vector<recurrent_gate> gates;  ///< per direction
  std::vector<double> weights, bias;  ///< R [directions][gates * hidden][hidden]; bias of the product with h
  std::vector<float> peephole;        ///< [directions][3 * hidden], or nothing
};
/// offset + scale * z; the schema says what z is.
struct random_parameters {
  random_kind kind = random_kind::uniform;
  double scale = 1, offset = 0;
  std::uint32_t stream = 0;
};
/// Rows of x through trees; arrays as the schema describes them.
struct tree_parameters {
  tree_aggregate aggregate = tree_aggregate::sum;
  std::vector<std::int32_t> roots, nodes, targets;
  std::vector<float> thresholds, weights, base;
};
enum class pad_mode { constant, reflect, edge, wrap };
struct pad_parameters {
  pad_mode mode = pad_mode::constant;
  double value = 0;
  std::vector<std::int64_t> before, after;
};

/// The parameters of one operation: a struct of this file, or of format/params.hpp where the operation says no more
/// than a step. Operator files (ops/) and layout operations (passes/lower/layout.cpp) name the struct that they lower.
/// (A std::variant of all of them has symbols of a thousand characters.)
using operation_parameters = std::any;

struct operation {
  std::string name;         ///< source node(s)
  std::string source;       ///< description of the source node for messages
  std::vector<int> inputs;  ///< values
  int output = no_value;
  operation_parameters p = unary_params{};
  post_operation post;
  bool exact =
      false;  ///< its rounding is the source's: it is neither folded into another nor computed by another order

  /// Returns the parameters, null where they are of another type than P.
  template <class P>
  P* as() {
    return std::any_cast<P>(&p);
  }
  template <class P>
  const P* as() const {
    return std::any_cast<P>(&p);
  }
};

/// Whether two operations have weights, which are the same and are packed alike by one algorithm.
bool have_same_weights(const operation& a, const operation& b);

struct program_value {
  std::string name;
  element type = element::f32;
  shape_t shape;
  std::shared_ptr<const array> constant;
};

/// A value that the next run reads as `input`; the first run reads `initial`, a constant, or zeros.
struct program_state {
  int input = no_value, output = no_value, initial = no_value;
};

struct program {
  std::string name;
  std::vector<program_value> values;
  std::vector<operation> operations;  ///< topological order
  std::vector<int> inputs, outputs;
  std::vector<program_state> states;  ///< neither inputs nor outputs

  int add(program_value v) {
    values.push_back(std::move(v));
    return static_cast<int>(values.size()) - 1;
  }
  const shape_t& shape(int v) const { return values[static_cast<std::size_t>(v)].shape; }
  bool is_constant(int v) const { return v >= 0 && values[static_cast<std::size_t>(v)].constant != nullptr; }
  /// Whether something outside reads `v`: the caller, or the next run.
  bool is_output(int v) const;
  /// Operations that read `v`, as input or residual.
  std::vector<int> consumers(int v) const;
};

/// Rows and columns of zeros that the windows of a convolution read around its input; all 0 where every tap of every
/// window is inside.
struct overhang {
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;
  bool any() const { return top > 0 || left > 0 || bottom > 0 || right > 0; }
};

/// Returns how far windows `w` reach out of an input of shape `x` [N, C, spatial...], one or two spatial axes, when
/// they make an output of shape `y`. The shapes alone decide: pads that a model declares may never be read, and a
/// window may reach out where none is declared (a transposed convolution that is cut).
overhang window_overhang(const window& w, const shape_t& x, const shape_t& y);

}
