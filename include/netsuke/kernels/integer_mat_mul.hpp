// SPDX-License-Identifier: MIT
#pragma once
/// Products of matrices of integers. Sums wrap, so that their order means nothing.
#include <netsuke/core/hide_macros.hpp>
#include <type_traits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/impl/element_lines.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output [B, M, N] = a [B, M, K] times b [B, K, N]; int32 or int64, any strides, 0 where one matrix serves all B.
struct integer_mat_mul_args : integer_mat_mul_params {
  tensor_view a, b, output;
};

namespace impl {

/// A line of the output, `columns` long, gains `factor` times a line of the right matrix. Dense lines are a loop that
/// compilers turn into vectors.
template <class T>
inline void add_multiple(std::byte* to, std::ptrdiff_t to_step, const std::byte* from, std::ptrdiff_t from_step,
                         std::ptrdiff_t columns, T factor) {
  using U = std::make_unsigned_t<T>;
  const auto sum = [&](std::ptrdiff_t i, std::ptrdiff_t out, std::ptrdiff_t in) {
    const U product = static_cast<U>(factor) * static_cast<U>(element<T>(from, i * in));
    put_element(to, i * out, static_cast<T>(static_cast<U>(element<T>(to, i * out)) + product));
  };
  if (to_step == 1 && from_step == 1) {
    for (std::ptrdiff_t i = 0; i < columns; ++i) sum(i, 1, 1);
  } else {
    for (std::ptrdiff_t i = 0; i < columns; ++i) sum(i, to_step, from_step);
  }
}

template <class T>
inline void integer_product_tile(const integer_mat_mul_args& a, const tile_range& t) {
  constexpr std::ptrdiff_t size = sizeof(T);
  const std::ptrdiff_t columns = t.channel_end - t.channel_begin, to_step = a.output.stride[2];
  for (std::ptrdiff_t m = t.row_begin; m < t.row_end; ++m)
    for (std::ptrdiff_t r = t.pixel_begin; r < t.pixel_end; ++r) {
      const std::ptrdiff_t at = m * a.output.stride[0] + r * a.output.stride[1] + t.channel_begin * to_step;
      std::byte* const to = a.output.data + at * size;
      for (std::ptrdiff_t i = 0; i < columns; ++i) put_element(to, i * to_step, T{0});
      for (std::ptrdiff_t k = 0; k < a.a.shape[2]; ++k) {
        const T factor = element<T>(a.a.data, m * a.a.stride[0] + r * a.a.stride[1] + k * a.a.stride[2]);
        const std::ptrdiff_t from = m * a.b.stride[0] + k * a.b.stride[1] + t.channel_begin * a.b.stride[2];
        add_multiple(to, to_step, a.b.data + from * size, a.b.stride[2], columns, factor);
      }
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
