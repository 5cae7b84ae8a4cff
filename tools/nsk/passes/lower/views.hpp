// SPDX-License-Identifier: MIT
#pragma once
/// Views: where the elements of a source tensor are. Axes are the source's; their strides tell the physical order, so
/// that a transposition, a slice or a broadcast changes numbers here and moves nothing.
#include <optional>
#include <vector>
#include "graph/array.hpp"

namespace nsk::tool {

struct view {
  int storage = -1;
  shape_t shape;
  std::vector<std::int64_t> stride;  ///< elements per axis; 0 repeats
  std::int64_t offset = 0;
  std::size_t rank() const { return shape.size(); }
};

using axis_order = std::vector<int>;  ///< source axis of each physical dimension, outermost first

/// Identity order: row-major in the source's own axes.
axis_order identity_order(std::size_t rank);
/// Batch, spatial axes, channels (axis 1) last.
axis_order channels_last_order(std::size_t rank);
/// Axes by falling stride; axes of length 1 keep their place among the source's axes.
axis_order order_of(const view& v);
/// Dense strides of `shape` laid out in `order`.
std::vector<std::int64_t> dense_strides(const shape_t& shape, const axis_order& order);

/// True when the view's elements fill [offset, offset + count) without a hole, in some order.
bool is_dense(const view& v);
/// Permutes axes: result axis i is axis permutation[i].
view transposed(const view& v, const std::vector<int>& permutation);
/// Broadcasts to `shape` (NumPy's rules) by strides of 0.
view broadcast(const view& v, const shape_t& shape);
/// Every `rows`-th row and `columns`-th column of a [N, C, H, W] or [N, C, W] view: those of phase (phase / columns,
/// phase % columns).
view phase_of(const view& v, int phase, int rows, int columns, const shape_t& shape);
/// The same elements in row-major order under another shape, or nothing when no strides express that.
std::optional<view> reshaped(const view& v, const shape_t& shape);
/// The coarsest shape that refines both (every length a product of its lengths), or nothing.
std::optional<shape_t> common_refinement(const shape_t& a, const shape_t& b);

}
