// SPDX-License-Identifier: MIT
#pragma once
/// Functions along lines of floats: the one place where code of the elementwise functions stands.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <type_traits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/math/functions.hpp>
#include <netsuke/simd/lockstep.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {
using simd::f32;

/// Calls body(first element, elements) for vectors of a line: full ones with the constant f32::lanes, then what is
/// left.
template <class Whole, class Part>
NSK_INLINE void for_vectors(std::ptrdiff_t count, Whole whole, Part part) {
  std::ptrdiff_t i = 0;
  for (; i + 2 * f32::lanes <= count; i += 2 * f32::lanes) {
    whole(i);
    whole(i + f32::lanes);
  }
  if (i + f32::lanes <= count) {
    whole(i);
    i += f32::lanes;
  }
  if (i < count) part(i, static_cast<int>(count - i));
}

/// Rows of floats, `next` apart; or with `repeated` one float per row.
struct lines {
  const float* data;
  std::ptrdiff_t next;
  bool repeated;
};
/// Where rows of results go.
struct target {
  float* data;
  std::ptrdiff_t next;
};
/// How many rows, and floats in each.
struct extent {
  std::ptrdiff_t rows, count;
};

/// to[i] = f(from[i]); `to` may be `from`.
template <class F>
NSK_INLINE void map_line(F f, const float* from, float* to, std::ptrdiff_t count) {
  for_vectors(
      count, [&](std::ptrdiff_t i) { simd::store(to + i, f(simd::load(from + i))); },
      [&](std::ptrdiff_t i, int n) { simd::store_partial(to + i, n, f(simd::load_partial(from + i, n))); });
}

/// Vectors of a function that are computed in lockstep.
template <class F>
inline constexpr int vectors_together = F::is_long ? simd::tuning::lockstep_vectors : 1;

/// Count vectors in lockstep: vector i is read at from(i) and stored at to(i).
template <int Count, class F, class From, class To>
NSK_INLINE void map_group(const F& f, From from, To to) {
  if constexpr (Count == 1) {
    simd::store(to(0), f(simd::load(from(0))));
  } else {
    simd::group<f32, Count> x;
    simd::unroll<Count>([&](auto i) NSK_INLINE_LAMBDA { x.part[i] = simd::load(from(i)); });
    x = f(x);
    simd::unroll<Count>([&](auto i) NSK_INLINE_LAMBDA { simd::store(to(i), x.part[i]); });
  }
}

/// The same for rows of Columns, the widths of most panels: without the tests of other rows SiLU takes a tenth less.
template <int Columns, class F>
NSK_INLINE void map_short_rows(const F& f, const lines& from, const target& to, std::ptrdiff_t rows) {
  constexpr int vectors = Columns / f32::lanes, wanted = vectors_together<F>,
                together = wanted > vectors ? wanted / vectors : 1, each = wanted < vectors ? wanted : vectors;
  const float* line = from.data;
  float* out = to.data;
  const auto map = [&](auto count) NSK_INLINE_LAMBDA {
    constexpr int all = decltype(count)::value;
    simd::unroll<vectors / each>([&](auto part) NSK_INLINE_LAMBDA {
      const auto column = [&](int i) NSK_INLINE_LAMBDA { return (part * each + i % each) * f32::lanes; };
      map_group<all * each>(
          f, [&](int i) NSK_INLINE_LAMBDA { return line + i / each * from.next + column(i); },
          [&](int i) NSK_INLINE_LAMBDA { return out + i / each * to.next + column(i); });
    });
    line += all * from.next;
    out += all * to.next;
  };
  for (; rows >= together; rows -= together) map(std::integral_constant<int, together>{});
  if constexpr (together > 1)
    for (; rows > 0; --rows) map(std::integral_constant<int, 1>{});
}

/// The same for one row of any length.
template <class F>
NSK_INLINE void map_long_row(const F& f, const float* from, float* to, std::ptrdiff_t count) {
  constexpr int together = vectors_together<F>;
  if constexpr (together > 1)
    for (; count >= together * f32::lanes; count -= together * f32::lanes) {
      map_group<together>(
          f, [&](int i) NSK_INLINE_LAMBDA { return from + i * f32::lanes; },
          [&](int i) NSK_INLINE_LAMBDA { return to + i * f32::lanes; });
      from += together * f32::lanes;
      to += together * f32::lanes;
    }
  map_line(f, from, to, count);
}

/// to = fn(from), row by row. prelu passes x through.
template <class Functions>
NSK_ONE_COPY inline void map_lines(const epilogue& e, const lines& from, const target& to, const extent& size) {
  math::visit<Functions>(e.fn, e.alpha, e.beta, [&](auto f) {
    if (size.count == 16) return map_short_rows<16>(f, from, to, size.rows);
    if (size.count == 32) return map_short_rows<32>(f, from, to, size.rows);
    for (std::ptrdiff_t r = 0; r < size.rows; ++r)
      map_long_row(f, from.data + r * from.next, to.data + r * to.next, size.count);
  });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
