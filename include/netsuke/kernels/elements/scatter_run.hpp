// SPDX-License-Identifier: MIT
#pragma once
/// Updates of neighbours: loops in vectors, and without branches.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/copy_elements.hpp>
#include <netsuke/kernels/elements/element_lines.hpp>
#include <netsuke/kernels/elements/pointwise.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// What is there, combined with an update. Integers wrap.
template <scatter_kind Kind, class T>
NSK_INLINE T scattered(T there, T update) {
  if constexpr (Kind == scatter_kind::replace) return update;
  if constexpr (Kind == scatter_kind::max) return there > update ? there : update;
  if constexpr (Kind == scatter_kind::min) return there < update ? there : update;
  if constexpr (std::is_same_v<T, float>)
    return Kind == scatter_kind::add ? there + update : there * update;
  else
    return static_cast<T>(Kind == scatter_kind::add
                              ? static_cast<std::uint64_t>(there) + static_cast<std::uint64_t>(update)
                              : static_cast<std::uint64_t>(there) * static_cast<std::uint64_t>(update));
}

template <scatter_kind Kind, class T>
inline void combine_run(std::byte* to, const std::byte* from, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i)
    put_element(to, i, scattered<Kind>(element<T>(to, i), element<T>(from, i)));
}

NSK_INLINE void move_run(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes >= 16 && bytes <= 512)
    move_blocks(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

/// Lines of `size.count` neighbours that are combined with as many updates. Strides from line to line are in elements.
struct update_runs {
  std::byte* to;
  std::ptrdiff_t to_stride;
  const std::byte* from;
  std::ptrdiff_t from_stride;
  extent size;
};

template <class Op>
inline void combine_floats(const update_runs& u, Op op) {
  float* const to = reinterpret_cast<float*>(u.to);
  const float* const from = reinterpret_cast<const float*>(u.from);
  combine_rows(op, {to, u.to_stride, false}, {from, u.from_stride, false}, {to, u.to_stride}, u.size);
}
inline void combine_floats(scatter_kind kind, const update_runs& u) {
  switch (kind) {
    case scatter_kind::replace: break;
    case scatter_kind::add: return combine_floats(u, [](f32 x, f32 y) { return simd::add(x, y); });
    case scatter_kind::mul: return combine_floats(u, [](f32 x, f32 y) { return simd::mul(x, y); });
    case scatter_kind::max: return combine_floats(u, [](f32 x, f32 y) { return simd::max(x, y); });
    case scatter_kind::min: return combine_floats(u, [](f32 x, f32 y) { return simd::min(x, y); });
  }
}

template <class T>
inline void combine_integers(scatter_kind kind, std::byte* to, const std::byte* from, std::ptrdiff_t count) {
  switch (kind) {
    case scatter_kind::replace: break;
    case scatter_kind::add: return combine_run<scatter_kind::add, T>(to, from, count);
    case scatter_kind::mul: return combine_run<scatter_kind::mul, T>(to, from, count);
    case scatter_kind::max: return combine_run<scatter_kind::max, T>(to, from, count);
    case scatter_kind::min: return combine_run<scatter_kind::min, T>(to, from, count);
  }
}

NSK_NOINLINE inline void scatter_runs(scatter_kind kind, dtype type, const update_runs& u) {
  if (kind != scatter_kind::replace && type == dtype::float32) return combine_floats(kind, u);
  const auto size = static_cast<std::ptrdiff_t>(size_of(type));
  for (std::ptrdiff_t i = 0; i < u.size.rows; ++i) {
    std::byte* const to = u.to + i * u.to_stride * size;
    const std::byte* const from = u.from + i * u.from_stride * size;
    if (kind == scatter_kind::replace)
      move_run(to, from, static_cast<std::size_t>(u.size.count * size));
    else
      visit_type(type, [&](auto x) {
        using T = decltype(x);
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
          combine_integers<T>(kind, to, from, u.size.count);
      });
  }
}

/// Updates whose places are found before they are written.
inline constexpr std::ptrdiff_t update_block = 256;

/// A loop over updates, and its strides in elements of the output, the indices and the updates.
struct update_loop {
  std::ptrdiff_t count, to, index, update;
  /// Rounds [from, from + longest), as far as there are so many.
  NSK_INLINE update_loop part(std::ptrdiff_t from, std::ptrdiff_t longest) const {
    return {count - from < longest ? count - from : longest, to, index, update};
  }
};
struct update_loops {
  update_loop outer, inner;
};

/// places[k] = k * to + along * the position that the index k * stride says; returns whether one was clamped.
template <class I>
NSK_INLINE bool find_line(const std::byte* indices, std::ptrdiff_t stride, std::ptrdiff_t count, I length,
                          std::ptrdiff_t to, std::ptrdiff_t along, std::ptrdiff_t* places) {
  I changed = 0;
  for (std::ptrdiff_t k = 0; k < count; ++k) {
    const I index = element<I>(indices, k * stride), wrapped = index < 0 ? index + length : index,
            low = wrapped < 0 ? 0 : wrapped, position = low < length ? low : length - 1;
    changed |= position ^ wrapped;
    places[k] = k * to + static_cast<std::ptrdiff_t>(position) * along;
  }
  return changed != 0;
}
/// find_line() for two loops, outer * inner places, with a loop of its own for dense lines of indices.
template <class I>
NSK_NOINLINE inline bool find_places(const std::byte* indices, const update_loops& u, std::int64_t length,
                                     std::ptrdiff_t along, std::ptrdiff_t* places) {
  const auto positions = static_cast<I>(length);
  const std::ptrdiff_t stride = u.inner.index, count = u.inner.count, to = u.inner.to;
  bool changed = false;
  for (std::ptrdiff_t i = 0; i < u.outer.count; ++i, places += count) {
    const std::byte* const line = indices + i * u.outer.index * static_cast<std::ptrdiff_t>(sizeof(I));
    const bool clamped = stride == 1 && to == 0 && along == 1
                             ? find_line<I>(line, 1, count, positions, 0, 1, places)
                             : find_line<I>(line, stride, count, positions, to, along, places);
    changed = changed || clamped;
    if (u.outer.to != 0)
      for (std::ptrdiff_t k = 0; k < count; ++k) places[k] += i * u.outer.to;
  }
  return changed;
}

/// keep ? a : b without a branch, whose direction data would decide.
template <class T>
NSK_INLINE T chosen_of(bool keep, T a, T b) {
  using bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  bits x = 0, y = 0;
  std::memcpy(&x, &a, sizeof a);
  std::memcpy(&y, &b, sizeof b);
  y ^= (x ^ y) & (bits{0} - static_cast<bits>(keep));
  std::memcpy(&b, &y, sizeof b);
  return b;
}

/// Combines what is at the places of two loops with updates, one after the other.
template <scatter_kind Kind, class T>
NSK_NOINLINE inline void update_places(std::byte* to, const std::ptrdiff_t* places, const std::byte* from,
                                       const update_loops& u) {
  const std::ptrdiff_t size = sizeof(T), stride = u.inner.update * size, count = u.inner.count;
  for (std::ptrdiff_t i = 0; i < u.outer.count; ++i, places += count) {
    const std::byte* line = from + i * u.outer.update * size;
    for (std::ptrdiff_t k = 0; k < count; ++k, line += stride) {
      const T there = element<T>(to, places[k]), update = element<T>(line, 0);
      if constexpr (Kind == scatter_kind::max || Kind == scatter_kind::min)
        put_element(to, places[k],
                    chosen_of(Kind == scatter_kind::max ? there > update : there < update, there, update));
      else
        put_element(to, places[k], scattered<Kind>(there, update));
    }
  }
}

/// How many of at most `count` indices of type I count up from the first one.
template <class I>
NSK_NOINLINE inline std::ptrdiff_t count_up(const std::byte* indices, std::ptrdiff_t stride, std::ptrdiff_t count) {
  const I first = element<I>(indices, 0);
  std::ptrdiff_t run = 1;
  for (; run < count && element<I>(indices, run * stride) == first + static_cast<I>(run);) ++run;
  return run;
}

/// A line of updates, of which a mask chooses some.
struct chosen_updates {
  const std::byte* mask;
  std::ptrdiff_t mask_stride;
  const std::byte* from;
  std::ptrdiff_t from_stride, count;
};

NSK_NOINLINE inline std::ptrdiff_t count_chosen(const std::byte* mask, std::ptrdiff_t stride, std::ptrdiff_t count) {
  std::ptrdiff_t chosen = 0;
  if (stride == 1)
    for (std::ptrdiff_t k = 0; k < count; ++k) chosen += mask[k] != std::byte{0};
  else
    for (std::ptrdiff_t k = 0; k < count; ++k) chosen += mask[k * stride] != std::byte{0};
  return chosen;
}

/// Moves what is chosen together. An update that is not is moved too, to where the next one that is replaces it: so
/// there is no branch, and nothing is written behind the last.
template <class T>
NSK_NOINLINE inline void take_chosen(const chosen_updates& c, std::byte* to, std::ptrdiff_t to_stride) {
  const std::byte *mask = c.mask, *from = c.from;
  const std::ptrdiff_t size = sizeof(T), mask_stride = c.mask_stride, stride = c.from_stride * size,
                       to_bytes = to_stride * size;
  for (std::ptrdiff_t left = count_chosen(c.mask, c.mask_stride, c.count); left != 0;
       mask += mask_stride, from += stride) {
    const auto chosen = static_cast<std::ptrdiff_t>(*mask != std::byte{0});
    std::memcpy(to, from, sizeof(T));
    to += to_bytes & -chosen;
    left -= chosen;
  }
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
