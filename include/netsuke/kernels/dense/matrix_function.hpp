// SPDX-License-Identifier: MIT
#pragma once
/// Determinants and inverses of small square matrices, one matrix per lane of a vector.
///
/// Order of operations, the same for every matrix whatever its lane: elimination column by column. The row with the
/// largest magnitude in the column comes up by comparing each row below with the pivot row, from the top, and swapping.
/// The determinant is the product of the pivots in their order, negated for each swap. The inverse is Gauss and
/// Jordan's: the pivot row is divided by the pivot, and all other rows lose their multiple of it.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/limits.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/lines/lanes.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// input [B, n, n] with n at most 16; output [B, 1, 1] (determinant) or [B, n, n] (inverse). float32, any strides.
struct matrix_function_args : matrix_function_params {
  tensor_view input, output;
};

/// Side of the largest matrix.
inline constexpr std::int64_t max_matrix_side = 16;
/// Lane scratch for matrices of n x n: two of them, in vectors as wide as any instruction set has.
inline constexpr std::int64_t matrix_function_scratch_bytes(std::int64_t n) {
  return n > max_matrix_side ? 0 : 2 * n * n * 64;
}

namespace impl {
using simd::f32;

/// Rows of one matrix per lane, in memory.
struct lane_matrix {
  float* data;
  int n;

  float* at(int row, int column) const { return data + std::ptrdiff_t{row * n + column} * f32::lanes; }
  f32 get(int row, int column) const { return simd::load(at(row, column)); }
  void set(int row, int column, f32 x) const { simd::store(at(row, column), x); }

  /// Swaps two rows from a column on, in the lanes of `m`.
  void swap_rows(int a, int b, int from, simd::mask m) const {
    for (int c = from; c < n; ++c) {
      const f32 x = get(a, c), y = get(b, c);
      set(a, c, simd::select(m, y, x));
      set(b, c, simd::select(m, x, y));
    }
  }
  /// Row r loses `factor` times row k, from a column on.
  void eliminate(int r, int k, int from, f32 factor) const {
    for (int c = from; c < n; ++c) set(r, c, simd::neg_fma(factor, get(k, c), get(r, c)));
  }
  void divide_row(int r, int from, f32 divisor) const {
    for (int c = from; c < n; ++c) set(r, c, simd::div(get(r, c), divisor));
  }
};

/// Which lanes have a larger magnitude in row r of column k than in the pivot row.
NSK_INLINE simd::mask exceeds_pivot(const lane_matrix& a, int r, int k) {
  return simd::less(simd::abs(a.get(k, k)), simd::abs(a.get(r, k)));
}

inline f32 determinant_of(const lane_matrix& a) {
  f32 product = simd::splat(1);
  for (int k = 0; k < a.n; ++k) {
    for (int r = k + 1; r < a.n; ++r) {
      const simd::mask m = exceeds_pivot(a, r, k);
      if (!simd::any(m)) continue;
      a.swap_rows(k, r, k, m);
      product = simd::select(m, simd::neg(product), product);
    }
    const f32 pivot = a.get(k, k), zero = simd::zero();
    product = simd::mul(product, pivot);
    for (int r = k + 1; r < a.n; ++r) {
      const f32 x = a.get(r, k);  // 0 / 0 where the whole column is 0: nothing is to be eliminated
      a.eliminate(r, k, k + 1, simd::select(simd::equal(x, zero), zero, simd::div(x, pivot)));
    }
  }
  return product;
}

/// `b`, which is the unit matrix, becomes the inverse of `a`; infinities and NaN where there is none.
inline void invert(const lane_matrix& a, const lane_matrix& b) {
  for (int k = 0; k < a.n; ++k) {
    for (int r = k + 1; r < a.n; ++r) {
      const simd::mask m = exceeds_pivot(a, r, k);
      if (!simd::any(m)) continue;
      a.swap_rows(k, r, k, m);
      b.swap_rows(k, r, 0, m);
    }
    const f32 pivot = a.get(k, k);
    a.divide_row(k, k + 1, pivot);
    b.divide_row(k, 0, pivot);
    for (int r = 0; r < a.n; ++r) {
      if (r == k) continue;
      const f32 factor = a.get(r, k);
      a.eliminate(r, k, k + 1, factor);
      b.eliminate(r, k, 0, factor);
    }
  }
}

}

/// Computes the matrices of one tile, which holds them whole. `scratch` as matrix_function_scratch_bytes says.
template <class = void>
inline void matrix_function(const matrix_function_args& a, const tile_range& t, std::byte* scratch) {
  using simd::f32;
  const int n = a.input.shape[2];
  float* const memory = reinterpret_cast<float*>(scratch);
  const impl::lane_matrix left{memory, n}, right{memory + std::ptrdiff_t{n * n} * f32::lanes, n};
  const auto from = [&](std::ptrdiff_t m, int r, int c) {
    return a.input.as<float>() + m * a.input.stride[0] + r * a.input.stride[1] + c * a.input.stride[2];
  };
  const auto to = [&](std::ptrdiff_t m, int r, int c) {
    return a.output.as<float>() + m * a.output.stride[0] + r * a.output.stride[1] + c * a.output.stride[2];
  };
  for (std::ptrdiff_t m = t.row_begin; m < t.row_end; m += f32::lanes) {
    const std::ptrdiff_t count = t.row_end - m;
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        left.set(r, c, impl::load_lanes(from(m, r, c), a.input.stride[0], count));
        right.set(r, c, simd::splat(r == c ? 1.0f : 0.0f));
      }
    if (a.kind == matrix_kind::determinant) {
      impl::store_lanes(to(m, 0, 0), a.output.stride[0], count, impl::determinant_of(left));
      continue;
    }
    impl::invert(left, right);
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) impl::store_lanes(to(m, r, c), a.output.stride[0], count, right.get(r, c));
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
