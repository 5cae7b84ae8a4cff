// SPDX-License-Identifier: MIT
#pragma once
/// Functions along lines of floats: the one place where code of the elementwise functions stands.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
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
      count, [&](std::ptrdiff_t i) NSK_INLINE_LAMBDA { simd::store(to + i, f(simd::load(from + i))); },
      [&](std::ptrdiff_t i, int n)
          NSK_INLINE_LAMBDA { simd::store_partial(to + i, n, f(simd::load_partial(from + i, n))); });
}

/// map_line() for rows of sixteen, the width of most panels: without the tests of shorter rows it takes a tenth less.
template <class F>
NSK_INLINE void map_sixteens(F f, const lines& from, const target& to, std::ptrdiff_t rows) {
  const float* line = from.data;
  float* out = to.data;
  for (; rows > 0; --rows, line += from.next, out += to.next)
    simd::unroll<16 / f32::lanes>(
        [&](auto v) NSK_INLINE_LAMBDA { simd::store(out + v * f32::lanes, f(simd::load(line + v * f32::lanes))); });
}

/// to = f(from) for Count vectors in lockstep; vector i is `from(i)` floats behind `line`, and its result `to(i)`
/// floats behind `out`.
template <int Count, class F, class From, class To>
NSK_INLINE void map_group(F f, const float* line, float* out, From from, To to) {
  f32 x[Count];
  simd::unroll<Count>([&](auto i) NSK_INLINE_LAMBDA { x[i] = simd::load(line + from(i)); });
  simd::map_in_lockstep(x, f);
  simd::unroll<Count>([&](auto i) NSK_INLINE_LAMBDA { simd::store(out + to(i), x[i]); });
}

/// to[i] = f(from[i]) from element `begin` on, vector by vector: what fills no group.
template <class F>
NSK_ONE_COPY inline void map_rest(F f, const float* from, float* to, std::ptrdiff_t begin, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = begin; i < count; i += f32::lanes) {
    const int n = count - i < f32::lanes ? static_cast<int>(count - i) : f32::lanes;
    simd::store_partial(to + i, n, f(simd::load_partial(from + i, n)));
  }
}

/// Rows under a long function. Rows of Columns, the width of one or two panels, share groups of vectors; with 0 columns
/// rows have any length.
template <int Columns, class F>
NSK_INLINE void map_long(F f, const lines& from, const target& to, const extent& size) {
  constexpr int together = simd::tuning::lockstep_vectors, vectors = Columns > 0 ? Columns / f32::lanes : together,
                rows = together > vectors ? together / vectors : 1, wide = together / rows;
  std::ptrdiff_t r = 0;
  for (; r + rows <= size.rows; r += rows) {
    const float* const line = from.data + r * from.next;
    float* const out = to.data + r * to.next;
    const auto place = [&](int i, std::ptrdiff_t next)
                           NSK_INLINE_LAMBDA { return i / wide * next + i % wide * f32::lanes; };
    std::ptrdiff_t i = 0;
    for (; i + wide * f32::lanes <= (Columns > 0 ? Columns : size.count); i += wide * f32::lanes)
      map_group<together>(
          f, line + i, out + i, [&](int k) NSK_INLINE_LAMBDA { return place(k, from.next); },
          [&](int k) NSK_INLINE_LAMBDA { return place(k, to.next); });
    if constexpr (Columns == 0) map_rest(f, line, out, i, size.count);
  }
  for (; r < size.rows; ++r) map_rest(f, from.data + r * from.next, to.data + r * to.next, 0, size.count);
}

/// to = fn(from), row by row. prelu passes x through.
template <class Kernels>
NSK_ONE_COPY inline void map_lines(const epilogue& e, const lines& from, const target& to, const extent& size) {
  math::visit<Kernels>(e.fn, e.alpha, e.beta, [&](auto f) {
    if constexpr (decltype(f)::is_long && simd::tuning::lockstep_vectors > 1) {
      if (size.count == 16) return map_long<16>(f, from, to, size);
      if (size.count == 32) return map_long<32>(f, from, to, size);
      map_long<0>(f, from, to, size);
    } else {
      if (size.count == 16) return map_sixteens(f, from, to, size.rows);
      for (std::ptrdiff_t r = 0; r < size.rows; ++r)
        map_line(f, from.data + r * from.next, to.data + r * to.next, size.count);
    }
  });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
