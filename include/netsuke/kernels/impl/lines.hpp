// SPDX-License-Identifier: MIT
#pragma once
/// Functions along lines of floats: the one place where code of the elementwise functions stands.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/kernels/args.hpp>
#include <netsuke/math/functions.hpp>
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

/// The same for rows of sixteen, the width of most panels: without the tests of shorter rows SiLU takes a tenth less.
template <class F>
NSK_INLINE void map_sixteens(F f, const lines& from, const target& to, std::ptrdiff_t rows) {
  const float* line = from.data;
  float* out = to.data;
  for (; rows > 0; --rows, line += from.next, out += to.next)
    simd::unroll<16 / f32::lanes>(
        [&](auto v) NSK_INLINE_LAMBDA { simd::store(out + v * f32::lanes, f(simd::load(line + v * f32::lanes))); });
}

/// to = fn(from), row by row. prelu passes x through.
template <class Functions>
NSK_ONE_COPY inline void map_lines(const epilogue& e, const lines& from, const target& to, const extent& size) {
  math::visit<Functions>(e.fn, e.alpha, e.beta, [&](auto f) {
    if (size.count == 16) return map_sixteens(f, from, to, size.rows);
    for (std::ptrdiff_t r = 0; r < size.rows; ++r)
      map_line(f, from.data + r * from.next, to.data + r * to.next, size.count);
  });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
