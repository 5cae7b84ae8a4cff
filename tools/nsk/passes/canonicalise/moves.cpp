// SPDX-License-Identifier: MIT
#include "passes/canonicalise/moves.hpp"
#include <utility>

namespace nsk::tool::canonical {

void identity(context& c) { c.emit(reshape_parameters{}, {c.in(0)}); }

int reshaped(context& c, int v, shape_t shape) {
  if (c.shape(v) == shape) return v;
  const int result = c.temporary("view" + std::to_string(c.made().values.size()), std::move(shape), c.type(v));
  c.emit(reshape_parameters{}, {v}, result);
  return result;
}

int transposed(context& c, int v, const std::vector<int>& permutation, const std::string& suffix, int result) {
  shape_t shape;
  for (int a : permutation) shape.push_back(c.shape(v)[static_cast<std::size_t>(a)]);
  if (result == no_value) result = c.temporary(suffix, shape, c.type(v));
  c.emit(transpose_parameters{permutation}, {v}, result);
  return result;
}

int part(context& c, int x, std::size_t axis, std::int64_t from, std::int64_t length, const std::string& suffix) {
  shape_t shape = c.shape(x);
  if (length == shape[axis]) return x;
  slice_parameters s = whole_slice(shape.size());
  s.starts[axis] = from;
  shape[axis] = length;
  const int result = c.temporary(suffix, shape, c.type(x));
  c.emit(std::move(s), {x}, result);
  return result;
}

int appended(context& c, std::size_t axis, int a, int b, const std::string& suffix) {
  shape_t shape = c.shape(a);
  shape[axis] += c.shape(b)[axis];
  const int result = c.temporary(suffix, shape, c.type(a));
  c.emit(concat_parameters{static_cast<int>(axis)}, {a, b}, result);
  return result;
}

slice_parameters whole_slice(std::size_t rank) {
  return {std::vector<std::int64_t>(rank, 0), std::vector<std::int64_t>(rank, 1)};
}

}
