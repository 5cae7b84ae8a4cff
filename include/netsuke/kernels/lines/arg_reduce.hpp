// SPDX-License-Identifier: MIT
#pragma once
/// Position of the largest or smallest element along one dimension.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/element_lines.hpp>
#include <netsuke/simd/vec.hpp>
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
inline std::int64_t best_position(const std::byte* data, std::ptrdiff_t at, std::ptrdiff_t stride, std::int64_t length,
                                  Better better) {
  std::int64_t best = 0;
  T maximum = element<T>(data, at);
  for (std::int64_t i = 1; i < length; ++i) {
    const T x = element<T>(data, at + static_cast<std::ptrdiff_t>(i) * stride);
    if (!better(x, maximum)) continue;
    maximum = x;
    best = i;
  }
  return best;
}

/// The largest or smallest of at least f32::lanes floats next to each other, of which the first one is a number.
template <bool Largest>
inline float extreme_of(const float* line, std::ptrdiff_t length) {
  using simd::f32;
  const auto better = [](f32 x, f32 y) NSK_INLINE_LAMBDA { return Largest ? simd::max(x, y) : simd::min(x, y); };
  f32 best[4];  // a NaN gives way to what was there, so the first element goes to all lanes
  for (f32& b : best) b = simd::broadcast(line);
  std::ptrdiff_t i = 0;
  for (; i + 4 * f32::lanes <= length; i += 4 * f32::lanes)
    simd::unroll<4>([&](auto v)
                        NSK_INLINE_LAMBDA { best[v] = better(simd::load(line + i + v * f32::lanes), best[v]); });
  for (; i + f32::lanes <= length; i += f32::lanes) best[0] = better(simd::load(line + i), best[0]);
  best[0] = better(simd::load(line + length - f32::lanes), best[0]);
  const f32 all = better(better(best[0], best[1]), better(best[2], best[3]));
  return Largest ? simd::reduce_max(all) : simd::reduce_min(all);
}
/// The largest or smallest of integers next to each other, a loop that compilers turn into vectors.
template <bool Largest, class T>
inline T extreme_of(const T* line, std::ptrdiff_t length) {
  T best = line[0];
  for (std::ptrdiff_t i = 1; i < length; ++i) best = (Largest ? line[i] > best : line[i] < best) ? line[i] : best;
  return best;
}

/// Whether one of `Count` elements equals x.
template <int Count>
NSK_INLINE bool is_among(const float* line, float x) {
  const simd::f32 wanted = simd::splat(x);
  bool found = false;
  simd::unroll<Count / simd::f32::lanes>([&](auto v) NSK_INLINE_LAMBDA {
    found = simd::any(simd::equal(simd::load(line + v * simd::f32::lanes), wanted)) || found;
  });
  return found;
}
template <int Count, class T>
NSK_INLINE bool is_among(const T* line, T x) {
  int found = 0;
  for (int k = 0; k < Count; ++k) found |= line[k] == x ? 1 : 0;
  return found != 0;
}

/// best_position of elements next to each other: the extreme, then the first or last element that equals it.
template <bool Largest, class T>
inline std::int64_t best_of_line(const T* line, std::ptrdiff_t length, bool last) {
  constexpr int some = 16;
  if (!(line[0] == line[0])) return 0;
  const T best = extreme_of<Largest>(line, length);
  std::ptrdiff_t i = 0;
  if (last) {
    for (i = length - 1; !(line[i] == best);) --i;
    return i;
  }
  while (i + some <= length && !is_among<some>(line + i, best)) i += some;
  while (!(line[i] == best)) ++i;
  return i;
}

template <class T>
inline std::int64_t arg_reduce_line(const arg_reduce_args& a, std::ptrdiff_t at) {
  const std::ptrdiff_t stride = a.input.stride[a.axis];
  const std::int64_t length = a.input.shape[a.axis];
  if (stride == 1 && length >= 2 * simd::f32::lanes) {
    const T* const line = a.input.as<T>() + at;
    const auto count = static_cast<std::ptrdiff_t>(length);
    return a.kind == arg_reduce_kind::max ? best_of_line<true>(line, count, a.last)
                                          : best_of_line<false>(line, count, a.last);
  }
  if (a.kind == arg_reduce_kind::max)
    return a.last ? best_position<T>(a.input.data, at, stride, length, [](T x, T y) { return x >= y; })
                  : best_position<T>(a.input.data, at, stride, length, [](T x, T y) { return x > y; });
  return a.last ? best_position<T>(a.input.data, at, stride, length, [](T x, T y) { return x <= y; })
                : best_position<T>(a.input.data, at, stride, length, [](T x, T y) { return x < y; });
}
inline std::int64_t arg_reduce_line(const arg_reduce_args& a, std::ptrdiff_t at) {
  switch (a.input.type) {
    case dtype::float32: return arg_reduce_line<float>(a, at);
    case dtype::int32: return arg_reduce_line<std::int32_t>(a, at);
    case dtype::uint8: return arg_reduce_line<std::uint8_t>(a, at);
    case dtype::int8: return arg_reduce_line<std::int8_t>(a, at);
    default: return arg_reduce_line<std::int64_t>(a, at);
  }
}

}

/// output (int64) = position of the best element along `axis`, which has length 1 in the output; float32, int32, int64,
/// uint8 or int8, any strides.
template <class = void>
inline void arg_reduce(const arg_reduce_args& a, const tile_range& t, std::byte*) {
  const std::ptrdiff_t* strides[] = {a.output.stride, a.input.stride};
  impl::for_each_line(a.output, strides, t, [&](const impl::element_line<2>& l) {
    for (std::ptrdiff_t i = 0; i < l.count; ++i) {
      const std::ptrdiff_t at = l.at[1] + i * l.stride[1];
      impl::put_element(a.output.data, l.at[0] + i * l.stride[0], impl::arg_reduce_line(a, at));
    }
  });
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
