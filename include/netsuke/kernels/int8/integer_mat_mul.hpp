// SPDX-License-Identifier: MIT
#pragma once
/// Products of matrices of integers. Sums wrap, so that their order means nothing.
#include <netsuke/core/hide_macros.hpp>
#include <type_traits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/element_blocks.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output [B, M, N] = a [B, M, K] times b [B, K, N]; int32 or int64, any strides, 0 where one matrix serves all B.
struct integer_mat_mul_args : integer_mat_mul_params {
  tensor_view a, b, output;
};

namespace impl {

/// Rows of the right matrix that are added at once, so that a line of sums is read and written once for all of them.
inline constexpr std::ptrdiff_t rows_at_once = 4;

/// sums[j] += the sum over r of factor[r] * rows[r][j].
template <class U>
NSK_NOINLINE inline void add_multiples(const U* const (&rows)[rows_at_once], const U (&factor)[rows_at_once], U* sums,
                                       std::ptrdiff_t columns) {
  const U *const a = rows[0], *const b = rows[1], *const c = rows[2], *const d = rows[3];
  const U f = factor[0], g = factor[1], h = factor[2], e = factor[3];
  for (std::ptrdiff_t j = 0; j < columns; ++j) sums[j] += f * a[j] + g * b[j] + h * c[j] + e * d[j];
}

template <class T>
inline void integer_product_tile(const integer_mat_mul_args& a, const tile_range& t) {
  using U = std::make_unsigned_t<T>;
  constexpr std::ptrdiff_t size = sizeof(T);
  const std::ptrdiff_t depth = a.a.shape[2], columns = t.channel_end - t.channel_begin;
  operand_blocks rows[rows_at_once] = {operand_blocks(a.b), operand_blocks(a.b), operand_blocks(a.b),
                                       operand_blocks(a.b)};
  alignas(64) U sums[block_elements];
  for (std::ptrdiff_t m = t.row_begin; m < t.row_end; ++m)
    for (std::ptrdiff_t r = t.pixel_begin; r < t.pixel_end; ++r)
      for (std::ptrdiff_t c = 0; c < columns; c += block_elements) {
        const std::ptrdiff_t count = columns - c < block_elements ? columns - c : block_elements,
                             column = t.channel_begin + c;
        for (std::ptrdiff_t j = 0; j < count; ++j) sums[j] = 0;
        for (std::ptrdiff_t k = 0; k < depth; k += rows_at_once) {
          const std::ptrdiff_t left = depth - k < rows_at_once ? depth - k : rows_at_once;
          const U* lines[rows_at_once];
          U factors[rows_at_once];
          for (std::ptrdiff_t i = 0; i < rows_at_once; ++i) {
            const std::ptrdiff_t at = i < left ? k + i : k;  // what is not there counts as a row times 0
            factors[i] =
                i < left
                    ? static_cast<U>(element<T>(a.a.data, m * a.a.stride[0] + r * a.a.stride[1] + at * a.a.stride[2]))
                    : U{0};
            lines[i] = elements_of<U>(
                rows[i].read(m * a.b.stride[0] + at * a.b.stride[1] + column * a.b.stride[2], a.b.stride[2], count));
          }
          add_multiples(lines, factors, sums, count);
        }
        move_elements(
            a.output.data + (m * a.output.stride[0] + r * a.output.stride[1] + column * a.output.stride[2]) * size,
            a.output.stride[2], reinterpret_cast<const std::byte*>(sums), 1, count, a.output.type);
      }
}

}

/// Computes a tile of the product.
template <class = void>
inline void integer_mat_mul(const integer_mat_mul_args& a, const tile_range& t, std::byte*) {
  if (a.output.type == dtype::int64) return impl::integer_product_tile<std::int64_t>(a, t);
  impl::integer_product_tile<std::int32_t>(a, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
