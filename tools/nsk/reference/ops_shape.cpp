// SPDX-License-Identifier: MIT
/// Operators that move elements without computing: reshapes, shapes as values, transposition, expansion.
#include <algorithm>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;

// Reshape and its like.

void infer_reshape(call& c) {
  c.require_inputs(2, 2);
  shape_t shape = c.integer_list(1);
  const i64 count = count_of(c.shape(0));
  const bool allow_zero = c.op().integer("allowzero", 0) != 0;
  std::size_t free_axis = shape.size();
  i64 known = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !allow_zero) {
      c.require(d < c.rank(0), "the new shape copies a dimension that the input does not have");
      shape[d] = c.shape(0)[d];
    }
    if (shape[d] == -1) {
      c.require(free_axis == shape.size(), "the new shape has more than one -1");
      free_axis = d;
    } else {
      c.require(shape[d] >= 0, "the new shape has a negative dimension");
      c.require(shape[d] == 0 || known <= (i64{1} << 40) / shape[d], "the new shape is larger than 2^40 elements");
      known *= shape[d];
    }
  }
  if (free_axis < shape.size()) {
    c.require(known != 0 && count % known == 0, "the new shape's -1 cannot be resolved");
    shape[free_axis] = count / known;
    known *= shape[free_axis];
  }
  if (known != count)
    c.fail("the new shape " + to_string(shape) + " has " + std::to_string(known) + " elements, the input " +
           std::to_string(count));
  c.declare(0, c.type(0), shape);
}

void infer_flatten(call& c) {
  c.require_inputs(1, 1);
  const i64 given = c.op().integer("axis", 1);
  const std::size_t rank = c.rank(0), axis = given == static_cast<i64>(rank) ? rank : c.axis(given, rank);
  c.declare(0, c.type(0), {count_between(c.shape(0), 0, axis), count_between(c.shape(0), axis, rank)});
}

void infer_squeeze(call& c) {
  c.require_inputs(1, 2);
  const std::vector<std::size_t> axes = axes_of(c, 1, c.rank(0));
  const bool all = !c.has(1) && !c.op().has("axes");
  shape_t shape;
  for (std::size_t d = 0; d < c.rank(0); ++d) {
    const bool named = std::find(axes.begin(), axes.end(), d) != axes.end(), one = c.shape(0)[d] == 1;
    c.require(!named || one, "an axis to remove is not 1 long");
    if (!(named || (all && one))) shape.push_back(c.shape(0)[d]);
  }
  c.declare(0, c.type(0), shape);
}

void infer_unsqueeze(call& c) {
  c.require_inputs(1, 2);
  const std::size_t added = c.has(1) ? static_cast<std::size_t>(c.data(1).count()) : c.op().integers("axes").size();
  c.require(added <= max_axes, "it adds more axes than a tensor can have");
  const std::vector<std::size_t> axes = axes_of(c, 1, c.rank(0) + added);
  shape_t shape;
  std::size_t from = 0;
  for (std::size_t d = 0; d < c.rank(0) + added; ++d)
    shape.push_back(std::find(axes.begin(), axes.end(), d) != axes.end() ? 1 : c.shape(0)[from++]);
  c.declare(0, c.type(0), shape);
}

// Shapes as values: these never read the input's elements.

std::pair<std::size_t, std::size_t> shape_range(const call& c) {
  const auto rank = static_cast<i64>(c.rank(0));
  const auto bound = [&](i64 v) { return static_cast<std::size_t>(std::clamp<i64>(v < 0 ? v + rank : v, 0, rank)); };
  const std::size_t first = bound(c.op().integer("start", 0)), last = bound(c.op().integer("end", rank));
  return {first, std::max(first, last)};
}

void infer_shape(call& c) {
  c.require_inputs(1, 1);
  const auto [first, last] = shape_range(c);
  c.declare(0, element::i64, {static_cast<i64>(last - first)});
}

void evaluate_shape(call& c) {
  const std::size_t first = shape_range(c).first;
  for (i64 i = 0; i < c.out(0).count(); ++i) c.out_integers()[i] = c.shape(0)[first + static_cast<std::size_t>(i)];
}

void infer_size(call& c) {
  c.require_inputs(1, 1);
  c.declare(0, element::i64, {});
}

void evaluate_size(call& c) { c.out_integers()[0] = count_of(c.shape(0)); }

// Transpose, Expand, Tile, DepthToSpace, SpaceToDepth: strides of the input in the output's order.

std::vector<std::size_t> permutation_of(const call& c) {
  const std::size_t rank = c.rank(0);
  std::vector<i64> given = c.op().integers("perm");
  if (given.empty())
    for (std::size_t d = rank; d-- > 0;) given.push_back(static_cast<i64>(d));
  c.require(given.size() == rank, "attribute 'perm' must name every axis");
  std::vector<std::size_t> permutation;
  for (i64 a : given) {
    permutation.push_back(c.axis(a, rank));
    c.require(std::count(permutation.begin(), permutation.end(), permutation.back()) == 1,
              "attribute 'perm' names an axis twice");
  }
  return permutation;
}

void infer_transpose(call& c) {
  c.require_inputs(1, 1);
  shape_t shape;
  for (std::size_t a : permutation_of(c)) shape.push_back(c.shape(0)[a]);
  c.declare(0, c.type(0), shape);
}

void evaluate_transpose(call& c) {
  const shape_t own = strides_of(c.shape(0));
  shape_t stride;
  for (std::size_t a : permutation_of(c)) stride.push_back(own[a]);
  copy_strided(c.data(0), c.out(0), c.out_shape(0), stride, 0);
}

void infer_expand(call& c) {
  c.require_inputs(2, 2);
  c.declare(0, c.type(0), broadcast(c, c.shape(0), c.integer_list(1)));
}

void evaluate_expand(call& c) {
  copy_strided(c.data(0), c.out(0), c.out_shape(0), broadcast_strides(c.shape(0), c.out_shape(0)), 0);
}

void infer_tile(call& c) {
  c.require_inputs(2, 2);
  const std::vector<i64> repeats = c.integer_list(1);
  c.require(repeats.size() == c.rank(0), "there must be one repetition per axis");
  shape_t shape = c.shape(0);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    c.require(repeats[d] >= 0 && repeats[d] <= (i64{1} << 20), "a repetition is negative or above 2^20");
    shape[d] *= repeats[d];
  }
  c.declare(0, c.type(0), shape);
}

void evaluate_tile(call& c) {
  const std::vector<i64> repeats = c.integer_list(1);
  const shape_t own = strides_of(c.shape(0));
  shape_t shape, stride;
  for (std::size_t d = 0; d < own.size(); ++d) {
    shape.insert(shape.end(), {repeats[d], c.shape(0)[d]});
    stride.insert(stride.end(), {0, own[d]});
  }
  copy_strided(c.data(0), c.out(0), shape, stride, 0);
}

i64 block_size(const call& c) {
  c.require_inputs(1, 1);
  c.require_rank(0, 4, 4);
  const i64 b = c.op().integer("blocksize", 0);
  c.require(b >= 1 && b <= 1024, "attribute 'blocksize' must be between 1 and 1024");
  return b;
}

std::string depth_mode(const call& c) {
  const std::string mode = c.op().text("mode", "DCR");
  c.require(mode == "DCR" || mode == "CRD", "attribute 'mode' must be DCR or CRD");
  return mode;
}

void infer_depth_to_space(call& c) {
  const i64 b = block_size(c);
  const shape_t& x = c.shape(0);
  c.require(x[1] % (b * b) == 0, "the channels cannot be divided by blocksize squared");
  depth_mode(c);
  c.declare(0, c.type(0), {x[0], x[1] / (b * b), x[2] * b, x[3] * b});
}

/// Channels of the input are [row in block][column in block][channel] in mode DCR, [channel][row][column] in CRD.
void evaluate_depth_to_space(call& c) {
  const i64 b = block_size(c);
  const shape_t& x = c.shape(0);
  const i64 channels = x[1] / (b * b), plane = x[2] * x[3];
  const bool crd = depth_mode(c) == "CRD";
  const i64 channel = plane * (crd ? b * b : 1), row = plane * b * (crd ? 1 : channels),
            column = plane * (crd ? 1 : channels);
  copy_strided(c.data(0), c.out(0), {x[0], channels, x[2], b, x[3], b}, {x[1] * plane, channel, x[3], row, 1, column},
               0);
}

void infer_space_to_depth(call& c) {
  const i64 b = block_size(c);
  const shape_t& x = c.shape(0);
  c.require(x[2] % b == 0 && x[3] % b == 0, "height and width cannot be divided by blocksize");
  depth_mode(c);
  c.declare(0, c.type(0), {x[0], x[1] * b * b, x[2] / b, x[3] / b});
}

/// The inverse: channels of the output are ordered as those of DepthToSpace's input.
void evaluate_space_to_depth(call& c) {
  const i64 b = block_size(c);
  const shape_t& x = c.shape(0);
  const i64 plane = x[2] * x[3];
  if (depth_mode(c) == "CRD")
    copy_strided(c.data(0), c.out(0), {x[0], x[1], b, b, x[2] / b, x[3] / b},
                 {x[1] * plane, plane, x[3], 1, x[3] * b, b}, 0);
  else
    copy_strided(c.data(0), c.out(0), {x[0], b, b, x[1], x[2] / b, x[3] / b},
                 {x[1] * plane, x[3], 1, plane, x[3] * b, b}, 0);
}

// Dropout as it is at inference, or where it drops nothing.

void infer_dropout(call& c) {
  c.require_inputs(1, 3);
  const auto drops = [&] { return !c.has(1) || c.scalar(1) != 0; };
  if (c.has(2))
    c.require(c.scalar(2) == 0 || !drops(),
              "training_mode is not supported. Export the model in inference mode (model.eval())");
  c.declare(0, c.type(0), c.shape(0));
  c.declare(1, element::boolean, c.shape(0));
}

void evaluate_dropout(call& c) {
  evaluate_copy(c);
  if (c.wants(1)) std::fill_n(c.out(1).as<std::uint8_t>(), c.out(1).count(), std::uint8_t{1});
}

}

void add_shape(table& t) {
  t["Reshape"] = {infer_reshape, evaluate_copy, 5};
  t["Flatten"] = {infer_flatten, evaluate_copy};
  t["Squeeze"] = {infer_squeeze, evaluate_copy};
  t["Unsqueeze"] = {infer_unsqueeze, evaluate_copy};
  t["Shape"] = {infer_shape, evaluate_shape};
  t["Size"] = {infer_size, evaluate_size};
  t["Transpose"] = {infer_transpose, evaluate_transpose};
  t["Expand"] = {infer_expand, evaluate_expand, 8};
  t["Tile"] = {infer_tile, evaluate_tile, 6};
  t["DepthToSpace"] = {infer_depth_to_space, evaluate_depth_to_space};
  t["SpaceToDepth"] = {infer_space_to_depth, evaluate_space_to_depth};
  t["Dropout"] = {infer_dropout, evaluate_dropout, 7};
}

}
