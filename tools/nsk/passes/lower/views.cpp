// SPDX-License-Identifier: MIT
#include "passes/lower/views.hpp"
#include <algorithm>
#include <string>
#include "errors.hpp"

namespace nsk::tool {

axis_order identity_order(std::size_t rank) {
  axis_order order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<int>(i);
  return order;
}

axis_order channels_last_order(std::size_t rank) {
  axis_order order = identity_order(rank);
  if (rank >= 3) {
    order.erase(order.begin() + 1);
    order.push_back(1);
  }
  return order;
}

axis_order order_of(const view& v) {
  std::vector<int> wide;
  for (std::size_t i = 0; i < v.rank(); ++i)
    if (v.shape[i] != 1) wide.push_back(static_cast<int>(i));
  std::stable_sort(wide.begin(), wide.end(), [&](int a, int b) {
    return std::abs(v.stride[static_cast<std::size_t>(a)]) > std::abs(v.stride[static_cast<std::size_t>(b)]);
  });
  // axes of length 1 stand right before the next wider source axis, which keeps [N,C,1,1] and [N,1,H,W] in natural
  // orders
  axis_order order;
  std::vector<char> placed(v.rank(), 0);
  for (int a : wide) {
    for (int i = 0; i < a; ++i)
      if (!placed[static_cast<std::size_t>(i)] && v.shape[static_cast<std::size_t>(i)] == 1) {
        order.push_back(i);
        placed[static_cast<std::size_t>(i)] = 1;
      }
    order.push_back(a);
    placed[static_cast<std::size_t>(a)] = 1;
  }
  for (std::size_t i = 0; i < v.rank(); ++i)
    if (!placed[i]) order.push_back(static_cast<int>(i));
  return order;
}

std::vector<std::int64_t> dense_strides(const shape_t& shape, const axis_order& order) {
  std::vector<std::int64_t> stride(shape.size(), 1);
  std::int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[i]);
    stride[axis] = step;
    step *= shape[axis];
  }
  return stride;
}

bool is_dense(const view& v) {
  const std::vector<std::int64_t> dense = dense_strides(v.shape, order_of(v));
  for (std::size_t i = 0; i < v.rank(); ++i)
    if (v.shape[i] != 1 && v.stride[i] != dense[i]) return false;
  return true;
}

view transposed(const view& v, const std::vector<int>& permutation) {
  view result = v;
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    result.shape[i] = v.shape[static_cast<std::size_t>(permutation[i])];
    result.stride[i] = v.stride[static_cast<std::size_t>(permutation[i])];
  }
  return result;
}

view broadcast(const view& v, const shape_t& shape) {
  if (v.rank() > shape.size()) refuse("a tensor of " + std::to_string(v.rank()) + " axes is broadcast to fewer");
  view result = v;
  result.shape.insert(result.shape.begin(), shape.size() - v.rank(), 1);
  result.stride.insert(result.stride.begin(), shape.size() - v.rank(), 0);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (result.shape[i] == 1 && shape[i] != 1) {
      result.shape[i] = shape[i];
      result.stride[i] = 0;
    }
  }
  return result;
}

view phase_of(const view& v, int phase, int rows, int columns, const shape_t& shape) {
  view part = v;
  const std::size_t column = v.rank() - 1;
  part.offset += phase % columns * v.stride[column];
  part.stride[column] *= columns;
  if (v.rank() == 4) {
    part.offset += phase / columns * v.stride[2];
    part.stride[2] *= rows;
  }
  part.shape = shape;
  return part;
}

std::optional<view> reshaped(const view& v, const shape_t& shape) {
  view result;
  result.storage = v.storage;
  result.offset = v.offset;
  result.shape = shape;
  result.stride.assign(shape.size(), 1);
  // walk groups of axes with equal products; a group must be mergeable to be cut anew
  shape_t from;
  std::vector<std::int64_t> from_stride;
  for (std::size_t i = 0; i < v.rank(); ++i)
    if (v.shape[i] != 1) {
      from.push_back(v.shape[i]);
      from_stride.push_back(v.stride[i]);
    }
  std::size_t i = 0, j = 0;
  while (i < from.size()) {
    while (j < shape.size() && shape[j] == 1) ++j;
    if (j >= shape.size()) return std::nullopt;
    const std::size_t target = j;
    std::int64_t a = from[i], b = shape[j];
    while (a != b) {
      if (a < b) {
        if (++i >= from.size() || from_stride[i - 1] != from_stride[i] * from[i]) return std::nullopt;
        a *= from[i];
      } else {
        if (++j >= shape.size()) return std::nullopt;
        b *= shape[j];
      }
    }
    std::int64_t step = from_stride[i];
    for (std::size_t k = j + 1; k-- > target;) {
      result.stride[k] = step;
      step *= shape[k];
    }
    ++i;
    ++j;
  }
  return result;
}

std::optional<shape_t> common_refinement(const shape_t& a, const shape_t& b) {
  shape_t result;
  std::size_t i = 0, j = 0;
  std::int64_t left = 1, right = 1;  // what remains of the current lengths
  for (;;) {
    while (left == 1 && i < a.size()) left = a[i++];
    while (right == 1 && j < b.size()) right = b[j++];
    if (left == 1 && right == 1) return result;
    const std::int64_t part = std::min(left, right);
    if (part == 1 || left % part != 0 || right % part != 0) return std::nullopt;
    result.push_back(part);
    left /= part;
    right /= part;
  }
}

}
