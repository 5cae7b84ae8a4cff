// SPDX-License-Identifier: MIT
/// Matrix products: Gemm and MatMul; determinants and inverses.
#include <algorithm>
#include <cmath>
#include "reference/gemm.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

struct matrix_sizes {
  std::int64_t m, n, k;
};

matrix_sizes gemm_sizes(call& c) {
  const shape_t &a = c.shape(0), &b = c.shape(1);
  const bool trans_a = c.op().integer("transA", 0) != 0, trans_b = c.op().integer("transB", 0) != 0;
  const std::int64_t k = a[trans_a ? 0 : 1];
  if (k != b[trans_b ? 1 : 0]) c.fail("the matrices' inner dimensions differ");
  return {a[trans_a ? 1 : 0], b[trans_b ? 0 : 1], k};
}

void infer_gemm(call& c) {
  c.require_inputs(2, 3);
  c.require_rank(0, 2, 2);
  c.require_rank(1, 2, 2);
  const matrix_sizes s = gemm_sizes(c);
  const shape_t shape{s.m, s.n};
  if (c.has(2)) c.require(broadcast(c, c.shape(2), shape) == shape, "C must be broadcastable to the product");
  c.require(c.type(0) == c.type(1) && (!c.has(2) || c.type(2) == c.type(0)), "all inputs must have the same type");
  c.declare(0, c.type(0), shape);
}

std::vector<double> transposed(const double* x, std::int64_t rows, std::int64_t columns) {
  std::vector<double> y(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) y[static_cast<std::size_t>(j * rows + i)] = x[i * columns + j];
  return y;
}

/// Y = alpha * A' * B' + beta * C.
void evaluate_gemm(call& c) {
  c.require_float(0);
  const matrix_sizes s = gemm_sizes(c);
  const double alpha = c.op().number("alpha", 1), beta = c.op().number("beta", 1);
  const double *a = c.floats(0), *b = c.floats(1);
  std::vector<double> transposed_a, transposed_b;
  if (c.op().integer("transA", 0) != 0) a = (transposed_a = transposed(a, s.k, s.m)).data();
  if (c.op().integer("transB", 0) != 0) b = (transposed_b = transposed(b, s.n, s.k)).data();
  double* y = c.out_floats();
  gemm(s.m, s.n, s.k, a, s.k, b, s.n, y, s.n);
  for (std::int64_t i = 0; i < s.m * s.n; ++i) y[i] *= alpha;
  if (!c.has(2) || beta == 0) return;
  for_each_offset(c.out_shape(0), broadcast_strides(c.shape(2), c.out_shape(0)),
                  [&](std::int64_t i, std::int64_t at) { y[i] += beta * c.floats(2)[at]; });
}

double work_of_gemm(call& c) {
  const matrix_sizes s = gemm_sizes(c);
  return as_work(s.m) * as_work(s.n) * as_work(s.k);
}

/// NumPy's matmul: vectors gain an axis that the result loses, leading axes are broadcast.
struct mat_mul_shapes {
  shape_t a, b, batch, result;
  explicit mat_mul_shapes(call& c) : a(c.shape(0)), b(c.shape(1)) {
    if (a.empty() || b.empty()) c.fail("scalars cannot be multiplied as matrices");
    const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
    if (vector_a) a.insert(a.begin(), 1);
    if (vector_b) b.push_back(1);
    if (a.back() != b[b.size() - 2]) c.fail("the matrices' inner dimensions differ");
    batch = broadcast(c, {a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
    result = batch;
    if (!vector_a) result.push_back(a[a.size() - 2]);
    if (!vector_b) result.push_back(b.back());
  }
};

void infer_mat_mul(call& c) {
  c.require_inputs(2, 2);
  c.require(c.type(0) == c.type(1), "both inputs must have the same type");
  c.require(c.type(0) != element::boolean, "the inputs must be numbers");
  c.declare(0, c.type(0), mat_mul_shapes(c).result);
}

void evaluate_mat_mul(call& c) {
  const mat_mul_shapes s(c);
  const std::int64_t m = s.a[s.a.size() - 2], k = s.a.back(), n = s.b.back();
  const shape_t a_stride = broadcast_strides({s.a.begin(), s.a.end() - 2}, s.batch),
                b_stride = broadcast_strides({s.b.begin(), s.b.end() - 2}, s.batch);
  for_each_offset(s.batch, a_stride, b_stride, [&](std::int64_t i, std::int64_t at_a, std::int64_t at_b) {
    const std::int64_t a_offset = at_a * m * k, b_offset = at_b * k * n;
    if (c.out(0).type == element::f64) {
      gemm(m, n, k, c.floats(0) + a_offset, k, c.floats(1) + b_offset, n, c.out_floats() + i * m * n, n);
      return;
    }
    const std::int64_t *a = c.integers(0) + a_offset, *b = c.integers(1) + b_offset;
    std::int64_t* y = c.out_integers() + i * m * n;
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t p = 0; p < k; ++p)
        for (std::int64_t col = 0; col < n; ++col)
          y[row * n + col] = plus(y[row * n + col], times(a[row * k + p], b[p * n + col]));
  });
}

double work_of_mat_mul(call& c) {
  const mat_mul_shapes s(c);
  return as_work(count_of(s.result)) * as_work(s.a.back());
}

template <bool Keeps>
void infer_square(call& c) {
  c.require_inputs(1, 1);
  c.require_float(0);
  const shape_t& x = c.shape(0);
  c.require(x.size() >= 2 && x[x.size() - 1] == x[x.size() - 2], "the matrices must be square");
  c.declare(0, c.type(0), Keeps ? x : shape_t(x.begin(), x.end() - 2));
}

/// Gauss's elimination with complete rows of [a | b], n columns each; returns the determinant of a. b becomes a^-1 b.
double eliminate(std::vector<double>& a, std::vector<double>& b, std::size_t n) {
  double determinant = 1;
  const auto row = [&](std::vector<double>& m, std::size_t r) {
    return m.begin() + static_cast<std::ptrdiff_t>(r * n);
  };
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t r = k + 1; r < n; ++r)
      if (std::abs(a[r * n + k]) > std::abs(a[best * n + k])) best = r;
    if (best != k) {
      std::swap_ranges(row(a, k), row(a, k + 1), row(a, best));
      std::swap_ranges(row(b, k), row(b, k + 1), row(b, best));
      determinant = -determinant;
    }
    const double pivot = a[k * n + k];
    determinant *= pivot;
    if (pivot == 0) continue;
    for (std::size_t r = 0; r < n; ++r) {
      const double factor = a[r * n + k] / pivot;
      for (std::size_t j = 0; r != k && j < n; ++j) {
        a[r * n + j] -= factor * a[k * n + j];
        b[r * n + j] -= factor * b[k * n + j];
      }
    }
  }
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t j = 0; j < n; ++j) b[r * n + j] /= a[r * n + r];
  return determinant;
}

template <bool Inverts>
void evaluate_matrices(call& c) {
  const shape_t& x = c.shape(0);
  const auto n = static_cast<std::size_t>(x.back());
  const std::int64_t count = count_of({x.begin(), x.end() - 2}), size = x.back() * x.back();
  for (std::int64_t m = 0; m < count; ++m) {
    std::vector<double> a(c.floats(0) + m * size, c.floats(0) + (m + 1) * size), b(a.size(), 0.0);
    for (std::size_t i = 0; i < n; ++i) b[i * n + i] = 1;
    const double determinant = eliminate(a, b, n);
    if (Inverts)
      std::copy(b.begin(), b.end(), c.out_floats() + m * size);
    else
      c.out_floats()[m] = determinant;
  }
}

double work_of_square(call& c) { return as_work(count_of(c.shape(0))) * as_work(c.shape(0).back()) * 2; }

}

void add_matrix(table& t) {
  t["Gemm"] = {infer_gemm, evaluate_gemm, 7, work_of_gemm};
  t["MatMul"] = {infer_mat_mul, evaluate_mat_mul, 1, work_of_mat_mul};
  t["Det"] = {infer_square<false>, evaluate_matrices<false>, 11, work_of_square};
  t["com.microsoft.Inverse"] = {infer_square<true>, evaluate_matrices<true>, 1, work_of_square};
}

}
