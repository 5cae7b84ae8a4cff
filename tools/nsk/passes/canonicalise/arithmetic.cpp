// SPDX-License-Identifier: MIT
#include "passes/canonicalise/arithmetic.hpp"
#include <algorithm>
#include <utility>
#include "passes/canonicalise/moves.hpp"

namespace nsk::tool::canonical {

shape_t broadcast_shape(const context& c, int a, int b) {
  shape_t shape = c.shape(a), other = c.shape(b);
  if (shape.size() < other.size()) std::swap(shape, other);
  for (std::size_t d = 0; d < other.size(); ++d) {
    std::int64_t& length = shape[shape.size() - other.size() + d];
    length = std::max(length, other[d]);
  }
  return shape;
}

int apply(context& c, int x, function fn, const std::string& suffix, double alpha, double beta, int result) {
  if (result == no_value) result = c.temporary(suffix, c.shape(x));
  post_operation post;
  post.fn = fn;
  post.alpha = alpha;
  post.beta = beta;
  c.emit(unary_params{}, {x}, result).post = post;
  return result;
}

int combine(context& c, binary_kind kind, int a, int b, const std::string& suffix, int result) {
  if (result == no_value) result = c.temporary(suffix, broadcast_shape(c, a, b));
  c.emit(binary_params{kind}, {a, b}, result);
  return result;
}

int combine(context& c, arithmetic_kind kind, int a, int b, const std::string& suffix, int result) {
  if (result == no_value) result = c.temporary(suffix, broadcast_shape(c, a, b), c.type(a));
  c.emit(arithmetic_params{kind}, {a, b}, result);
  return result;
}

int extreme_of(context& c, bool largest, int a, int b, const std::string& suffix, int result) {
  const element type = c.type(a);
  if (is_computed_integer(type))
    return combine(c, largest ? arithmetic_kind::max : arithmetic_kind::min, a, b, suffix, result);
  if (type == element::boolean)
    return combine(c, largest ? arithmetic_kind::bit_or : arithmetic_kind::bit_and, a, b, suffix, result);
  const shape_t shape = broadcast_shape(c, a, b);
  if (result == no_value) result = c.temporary(suffix, shape, type);
  const int less = c.temporary(suffix + "_less", shape, element::boolean);
  c.emit(compare_params{compare_kind::less}, {a, b}, less);
  c.emit(select_params{}, {less, largest ? b : a, largest ? a : b}, result);
  return result;
}

int reduced(context& c, reduce_kind kind, int x, const std::vector<int>& axes, const std::string& suffix) {
  shape_t shape = c.shape(x);
  for (int a : axes) shape[static_cast<std::size_t>(a)] = 1;
  const int result = c.temporary(suffix, shape);
  c.emit(reduce_parameters{kind, axes}, {x}, result);
  return result;
}

int integer_product(context& c, int left, int right, const shape_t& full) {
  const std::size_t rank = full.size();
  const shape_t batch(full.begin(), full.end() - 2);
  const std::int64_t matrices = count_of(batch);
  /// [batch..., a, b] as [matrices, a, b], repeated where other batch axes want it.
  const auto flattened = [&](int v, const char* suffix) {
    const shape_t shape = c.shape(v);
    const shape_t own(shape.begin(), shape.end() - 2);
    shape_t wide = batch;
    wide.insert(wide.end(), shape.end() - 2, shape.end());
    const bool repeats = count_of(own) != 1 && own != batch;
    if (repeats) {
      const int all = c.temporary(suffix, wide, c.type(v));
      c.emit(expand_parameters{}, {v}, all);
      v = all;
    }
    return reshaped(c, v, {count_of(own) == 1 ? 1 : matrices, shape[rank - 2], shape[rank - 1]});
  };
  const int product = c.temporary("products", {matrices, full[rank - 2], full[rank - 1]}, c.type(left));
  c.emit(integer_mat_mul_params{}, {flattened(left, "left"), flattened(right, "right")}, product);
  return reshaped(c, product, full);
}

}
