// SPDX-License-Identifier: MIT
/// Products of matrices.
#include <algorithm>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

/// Numbers of a Gemm: alpha A B + beta C.
struct gemm_numbers {
  double alpha, beta;
  bool transpose_b;
};

/// Emits the layer of a constant B, whose weights take alpha, and whose bias takes beta C where `bias_is_c`.
void gemm_by_constant(context& c, const gemm_numbers& n, int x, bool bias_is_c, int result) {
  const shape_t& b = c.in_shape(1);
  const auto depth = static_cast<std::size_t>(b[n.transpose_b ? 1 : 0]),
             outputs = static_cast<std::size_t>(b[n.transpose_b ? 0 : 1]);
  const std::vector<double> source = weights(c, 1, "B");
  dense_parameters d;
  d.depth = static_cast<int>(depth);
  d.outputs = static_cast<int>(outputs);
  d.weights.resize(depth * outputs);
  for (std::size_t k = 0; k < depth; ++k)
    for (std::size_t o = 0; o < outputs; ++o)
      d.weights[k * outputs + o] = n.alpha * (n.transpose_b ? source[o * depth + k] : source[k * outputs + o]);
  d.bias.assign(outputs, 0.0);
  if (bias_is_c) {
    const std::vector<double> bias = numbers(c, 2, "C");
    for (std::size_t o = 0; o < outputs; ++o) d.bias[o] = n.beta * bias[bias.size() == 1 ? 0 : o];
  }
  c.emit(std::move(d), {x}, result);
}

/// Emits the product of computed A and B, times alpha.
void gemm_by_values(context& c, const gemm_numbers& n, int x, int result) {
  int right = c.in(1);
  if (n.transpose_b) right = transposed(c, right, {1, 0}, "transB");
  const int unscaled = n.alpha == 1 ? result : c.temporary("plain", c.out_shape());
  c.emit(mat_mul_params{}, {x, right}, unscaled);
  if (n.alpha != 1) combine(c, binary_kind::mul, unscaled, scalar(c, "alpha", n.alpha), "", result);
}

/// Emits the sum of a product and beta C.
void add_scaled_c(context& c, double beta, int product) {
  if (beta == 1) {
    c.emit(binary_params{binary_kind::add}, {product, c.in(2)});
    return;
  }
  const int scaled = c.temporary("beta", c.in_shape(2));
  c.emit(binary_params{binary_kind::mul}, {c.in(2), constant(c, "beta_value", {}, {beta})}, scaled);
  c.emit(binary_params{binary_kind::add}, {product, scaled});
}

void gemm(context& c) {
  const node& n = c.op();
  const gemm_numbers g{n.number("alpha", 1), n.number("beta", 1), n.integer("transB", 0) != 0};
  int x = c.in(0);
  if (n.integer("transA", 0) != 0) x = transposed(c, x, {1, 0}, "transA");
  const bool constant_b = c.input(1).constant != nullptr, adds = c.has(2) && g.beta != 0;
  // a constant C of one number, or of one for each column, is the bias of a layer
  const bool bias_is_c = adds && constant_b && c.input(2).constant != nullptr &&
                         (c.in_shape(2).empty() || c.in_shape(2).back() == count_of(c.in_shape(2)));
  const bool adds_after = adds && !bias_is_c;
  const int product = adds_after ? c.temporary("product", c.out_shape()) : c.out();
  if (constant_b)
    gemm_by_constant(c, g, x, bias_is_c, product);
  else
    gemm_by_values(c, g, x, product);
  if (adds_after) add_scaled_c(c, g.beta, product);
}

/// Determinants and inverses of the matrices in the last two axes.
void matrix_function(context& c) {
  const shape_t& x = c.in_shape(0);
  const std::size_t rank = x.size();
  if (rank < 2 || x[rank - 1] != x[rank - 2]) c.refuse("its matrices are not square");
  const std::int64_t n = x[rank - 1], count = count_of({x.begin(), x.end() - 2});
  constexpr std::int64_t max_side = 16;
  if (n > max_side)
    c.refuse("its matrices have " + std::to_string(n) + " rows; the kernel takes at most 16. Compute them in the game");
  const bool inverts = c.op().op == "Inverse";
  const matrix_kind kind = inverts ? matrix_kind::inverse : matrix_kind::determinant;
  const int result = c.temporary("matrices", {count, inverts ? n : 1, inverts ? n : 1});
  c.emit(matrix_function_params{kind}, {reshaped(c, c.in(0), {count, n, n})}, result);
  c.emit(reshape_parameters{}, {result});
}

void mat_mul(context& c) {
  const shape_t &a = c.in_shape(0), &b = c.in_shape(1), &out = c.out_shape();
  const bool floats = c.in_type(0) == element::f32, constant_b = c.input(1).constant != nullptr;
  if (!floats && !is_computed_integer(c.in_type(0))) c.refuse("MatMul has kernels for float32, int32 and int64");
  if (floats && constant_b && b.size() == 2 && !a.empty()) {
    dense_parameters d;
    d.weights = weights(c, 1, "B");
    d.depth = static_cast<int>(b[0]);
    d.outputs = static_cast<int>(b[1]);
    d.bias.assign(static_cast<std::size_t>(d.outputs), 0.0);
    c.emit(std::move(d), {c.in(0)});
    return;
  }
  if (a.empty() || b.empty()) c.refuse("MatMul of a scalar");
  // numpy's promotion of vectors, then both sides with equal numbers of batch axes
  shape_t full_a = a.size() == 1 ? shape_t{1, a[0]} : a, full_b = b.size() == 1 ? shape_t{b[0], 1} : b;
  const std::size_t rank = std::max(full_a.size(), full_b.size());
  full_a.insert(full_a.begin(), rank - full_a.size(), 1);
  full_b.insert(full_b.begin(), rank - full_b.size(), 1);
  shape_t full(rank);
  for (std::size_t i = 0; i + 2 < rank; ++i) full[i] = std::max(full_a[i], full_b[i]);
  full[rank - 2] = full_a[rank - 2];
  full[rank - 1] = full_b[rank - 1];
  const int left = reshaped(c, c.in(0), full_a), right = reshaped(c, c.in(1), full_b);
  if (c.in_type(0) != element::f32) {
    c.emit(reshape_parameters{}, {integer_product(c, left, right, full)});
    return;
  }
  if (full == out) {
    c.emit(mat_mul_params{}, {left, right});
    return;
  }
  const int product = c.temporary("product", full);
  c.emit(mat_mul_params{}, {left, right}, product);
  c.emit(reshape_parameters{}, {product});
}

}

void add_matrix(rule_table& t) {
  t["Gemm"] = {gemm};
  t["MatMul"] = {mat_mul, element_types::any};
  t["Det"] = {matrix_function};
  t["com.microsoft.Inverse"] = {matrix_function};
}

}
