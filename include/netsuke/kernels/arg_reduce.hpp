// SPDX-License-Identifier: MIT
#pragma once
/// Position of the largest or smallest element along one dimension.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/impl/element_lines.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Position of the best element along `axis`; the last one of equal ones where `last` is set.
struct arg_reduce_args : arg_reduce_params {
  tensor_view input, output;
};

namespace impl {

/// Position of the best of `length` elements; NaN is never better than anything.
template <class T, class Better>
inline std::int64_t best_position(const std::byte* data, std::ptrdiff_t at, std::ptrdiff_t step, std::int64_t length,
                                  Better better) {
  std::int64_t best = 0;
  T maximum = element<T>(data, at);
  for (std::int64_t i = 1; i < length; ++i) {
    const T x = element<T>(data, at + static_cast<std::ptrdiff_t>(i) * step);
    if (!better(x, maximum)) continue;
    maximum = x;
    best = i;
  }
  return best;
}

template <class T>
inline std::int64_t arg_reduce_line(const arg_reduce_args& a, std::ptrdiff_t at) {
  const std::ptrdiff_t step = a.input.stride[a.axis];
  const std::int64_t length = a.input.shape[a.axis];
  if (a.kind == arg_reduce_kind::max)
    return a.last ? best_position<T>(a.input.data, at, step, length, [](T x, T y) { return x >= y; })
                  : best_position<T>(a.input.data, at, step, length, [](T x, T y) { return x > y; });
  return a.last ? best_position<T>(a.input.data, at, step, length, [](T x, T y) { return x <= y; })
                : best_position<T>(a.input.data, at, step, length, [](T x, T y) { return x < y; });
}

}

/// output (int64) = position of the best element along `axis`, which has length 1 in the output; float32, int32 or
/// int64, any strides.
template <class = void>
inline void arg_reduce(const arg_reduce_args& a, const tile_range& t, std::byte*) {
  const std::ptrdiff_t* strides[] = {a.output.stride, a.input.stride};
  impl::for_each_line(a.output, strides, t, [&](const impl::element_line<2>& l) {
    for (std::ptrdiff_t i = 0; i < l.count; ++i) {
      const std::ptrdiff_t at = l.at[1] + i * l.step[1];
      impl::put_element(a.output.data, l.at[0] + i * l.step[0],
                        a.input.type == dtype::float32 ? impl::arg_reduce_line<float>(a, at)
                        : a.input.type == dtype::int32 ? impl::arg_reduce_line<std::int32_t>(a, at)
                                                       : impl::arg_reduce_line<std::int64_t>(a, at));
    }
  });
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
