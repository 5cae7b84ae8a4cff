// SPDX-License-Identifier: MIT
#pragma once
/// Moves nests of elements of any size: runs, splats, transposes, and whatever remains.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <netsuke/kernels/elements/loop_nest.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

enum copy_operand : int { copy_to, copy_from, copy_operands };
using copy_nest = loop_nest<copy_operands>;

/// Bytes that are moved at once.
template <int Bytes>
struct packet {
  std::byte b[Bytes];
};
template <int Bytes>
NSK_INLINE packet<Bytes> take(const std::byte* from) {
  packet<Bytes> x;
  std::memcpy(&x, from, Bytes);
  return x;
}
template <int Bytes>
NSK_INLINE void put(std::byte* to, const packet<Bytes>& x) {
  std::memcpy(to, &x, Bytes);
}
/// Moves Bytes to 2 * Bytes bytes by two moves that may overlap.
template <int Bytes>
NSK_INLINE void move_pair(std::byte* to, const std::byte* from, std::size_t bytes) {
  const packet<Bytes> first = take<Bytes>(from), last = take<Bytes>(from + bytes - Bytes);
  put(to, first);
  put(to + bytes - Bytes, last);
}
/// Moves 16 bytes or more by blocks, of which the last may overlap the one before.
NSK_INLINE void move_blocks(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t block = sizeof(float) * simd::f32::lanes;
  std::size_t i = 0;
  if constexpr (block > 16)
    for (; i + block <= bytes; i += block)
      simd::store(reinterpret_cast<float*>(to + i), simd::load(reinterpret_cast<const float*>(from + i)));
  for (; i + 16 <= bytes; i += 16) put(to + i, take<16>(from + i));
  if (i < bytes) put(to + bytes - 16, take<16>(from + bytes - 16));
}
/// Calls body(to, from) over the two outer loops, with pointers to elements.
template <class T, class Body>
NSK_INLINE void for_each_run(const copy_nest& b, T* to, const T* from, Body body) {
  const loop<copy_operands> outer = b.of[0],
                            middle = b.of[1];  // copies: the stores could change what a reference shows
  for (std::ptrdiff_t i = 0; i < outer.length; ++i) {
    T* t = to + i * outer.stride[copy_to];
    const T* f = from + i * outer.stride[copy_from];
    for (std::ptrdiff_t j = 0; j < middle.length; ++j, t += middle.stride[copy_to], f += middle.stride[copy_from])
      body(t, f);
  }
}
template <class T, class Move>
NSK_INLINE void for_each_bytes(const copy_nest& b, T* to, const T* from, Move move) {
  for_each_run(b, to, from,
               [&](T* t, const T* f) { move(reinterpret_cast<std::byte*>(t), reinterpret_cast<const std::byte*>(f)); });
}

/// Contiguous inner runs.
template <class T>
inline void copy_runs(const copy_nest& b, T* to, const T* from) {
  const std::size_t bytes = static_cast<std::size_t>(b.of[2].length) * sizeof(T);
  if (bytes > 512)
    for_each_bytes(b, to, from, [bytes](std::byte* t, const std::byte* f) { std::memcpy(t, f, bytes); });
  else if (bytes > 32)
    for_each_bytes(b, to, from, [bytes](std::byte* t, const std::byte* f) { move_blocks(t, f, bytes); });
  else if (bytes >= 16)
    for_each_bytes(b, to, from, [bytes](std::byte* t, const std::byte* f) { move_pair<16>(t, f, bytes); });
  else if (bytes >= 8)
    for_each_bytes(b, to, from, [bytes](std::byte* t, const std::byte* f) { move_pair<8>(t, f, bytes); });
  else if (bytes >= 4)
    for_each_bytes(b, to, from, [bytes](std::byte* t, const std::byte* f) { move_pair<4>(t, f, bytes); });
  else
    for_each_bytes(b, to, from, [bytes](std::byte* t, const std::byte* f) {
      for (std::size_t k = 0; k < bytes; ++k) t[k] = f[k];
    });
}

/// One element for a whole inner run.
template <class T>
inline void splat_runs(const copy_nest& b, T* to, const T* from) {
  const std::ptrdiff_t count = b.of[2].length;
  for_each_run(b, to, from, [count](T* t, const T* f) {
    const T value = *f;
    for (std::ptrdiff_t k = 0; k < count; ++k) t[k] = value;
  });
}

/// Element by element, along the last loop.
template <class T>
inline void copy_strided(const copy_nest& b, T* to, const T* from) {
  const std::ptrdiff_t count = b.of[2].length, to_stride = b.of[2].stride[copy_to],
                       from_stride = b.of[2].stride[copy_from];
  for_each_run(b, to, from, [=](T* t, const T* f) {
    for (std::ptrdiff_t k = 0; k < count; ++k) t[k * to_stride] = f[k * from_stride];
  });
}

/// A transposition of two loops: to[line * pitch + k] = from[k * stride + line].
struct transposition {
  std::ptrdiff_t lines, pitch;   ///< contiguous in the input
  std::ptrdiff_t count, stride;  ///< contiguous in the output
};

template <class T>
inline void transpose_elements(transposition x, T* to, const T* from, std::ptrdiff_t line_begin,
                               std::ptrdiff_t line_end, std::ptrdiff_t begin, std::ptrdiff_t end) {
  for (std::ptrdiff_t i = line_begin; i < line_end; ++i)
    for (std::ptrdiff_t k = begin; k < end; ++k) to[i * x.pitch + k] = from[k * x.stride + i];
}

/// Squares of 16 lines, so that every cache line that is read is used whole.
template <class T>
inline void transpose(const transposition& x, T* to, const T* from) {
  constexpr std::ptrdiff_t side = 64 / static_cast<std::ptrdiff_t>(sizeof(T));
  for (std::ptrdiff_t i = 0; i < x.lines; i += side)
    for (std::ptrdiff_t k = 0; k < x.count; k += 64)
      transpose_elements(x, to, from, i, i + side < x.lines ? i + side : x.lines, k,
                         k + 64 < x.count ? k + 64 : x.count);
}

/// One register square: lines [i, i + lanes) and elements [k, k + lanes).
NSK_INLINE void transpose_square(const transposition& x, float* to, const float* from, std::ptrdiff_t i,
                                 std::ptrdiff_t k) {
  using simd::f32;
  f32 square[f32::lanes];
  simd::unroll<f32::lanes>([&](auto r) NSK_INLINE_LAMBDA { square[r] = simd::load(from + (k + r) * x.stride + i); });
  simd::transpose(square);
  simd::unroll<f32::lanes>([&](auto r) NSK_INLINE_LAMBDA { simd::store(to + (i + r) * x.pitch + k, square[r]); });
}

/// Squares of registers, the last of a side overlapping the one before. The side that is farther apart in memory is
/// walked in long pieces, eight lines at a time: its lines may all compete for one place in the cache. The near side of
/// a piece stays cached.
inline void transpose_floats(transposition x, float* to, const float* from) {
  constexpr std::ptrdiff_t lanes = simd::f32::lanes;
  const auto square = [&](std::ptrdiff_t i, std::ptrdiff_t k) NSK_INLINE_LAMBDA {
    transpose_square(x, to, from, i + lanes <= x.lines ? i : x.lines - lanes,
                     k + lanes <= x.count ? k : x.count - lanes);
  };
  const auto piece = [](std::ptrdiff_t other) -> std::ptrdiff_t {
    return other <= 32 ? 128 : other <= 64 ? 64 : other <= 128 ? 32 : 16;
  };
  if (x.stride > x.pitch) {
    const std::ptrdiff_t side = piece(x.count);
    for (std::ptrdiff_t i0 = 0; i0 < x.lines; i0 += side)
      for (std::ptrdiff_t k = 0; k < x.count; k += lanes)
        for (std::ptrdiff_t i = i0; i < i0 + side && i < x.lines; i += lanes) square(i, k);
  } else {
    const std::ptrdiff_t side = piece(x.lines);
    for (std::ptrdiff_t k0 = 0; k0 < x.count; k0 += side)
      for (std::ptrdiff_t i = 0; i < x.lines; i += lanes)
        for (std::ptrdiff_t k = k0; k < k0 + side && k < x.count; k += lanes) square(i, k);
  }
}

/// Elements of each line that registers interleave at a time; 0 for elements of other sizes.
template <class T>
inline constexpr int zipped_at_once = sizeof(T) == 1                           ? 16
                                      : sizeof(T) == 4 && simd::f32::lanes > 1 ? simd::f32::lanes
                                                                               : 0;
/// Interleaves so many elements of each of Count lines, `stride` apart.
template <int Count>
NSK_INLINE void interleave(float* to, const float* from, std::ptrdiff_t stride) {
  simd::f32 line[Count];
  simd::unroll<Count>([&](auto i) NSK_INLINE_LAMBDA { line[i] = simd::load(from + i * stride); });
  simd::store_zipped(to, line);
}
template <int Count>
NSK_INLINE void interleave(std::uint8_t* to, const std::uint8_t* from, std::ptrdiff_t stride) {
  simd::zip_bytes(from, from + stride, to);
}

/// The elements of Count lines side by side (the shuffle of as many groups of channels, planes to pixels), for each
/// stride of `rest`; lines have at least zipped_at_once elements, and the last ones overlap those before.
template <int Count, class T>
inline void interleave_lines(const transposition& x, loop<copy_operands> rest, T* to, const T* from) {
  constexpr std::ptrdiff_t together = zipped_at_once<T>;
  const std::ptrdiff_t last = x.lines - together;
  for (; rest.length > 0; --rest.length, to += rest.stride[copy_to], from += rest.stride[copy_from]) {
    for (std::ptrdiff_t i = 0; i < last; i += together) interleave<Count>(to + Count * i, from + i, x.stride);
    interleave<Count>(to + Count * last, from + last, x.stride);
  }
}
/// Interleaves the lines where there is code for so many; returns whether there is.
template <class T>
inline bool interleave_lines(const transposition& x, const loop<copy_operands>& rest, T* to, const T* from) {
  if constexpr (zipped_at_once < T >> 0) {
    using unit = std::conditional_t<sizeof(T) == 1, std::uint8_t, float>;
    if (x.pitch != x.count || x.lines < zipped_at_once<T>) return false;
    const auto zip = [&](auto count) NSK_INLINE_LAMBDA {
      interleave_lines<decltype(count)::value>(x, rest, reinterpret_cast<unit*>(to),
                                               reinterpret_cast<const unit*>(from));
      return true;
    };
    if (x.count == 2) return zip(std::integral_constant<int, 2>{});
    if constexpr (sizeof(T) == 4) {
      if (x.count == 3) return zip(std::integral_constant<int, 3>{});
      if (x.count == 4) return zip(std::integral_constant<int, 4>{});
    }
  }
  return false;
}

/// Few elements, dense lines (planes to interleaved pixels): whole registers are stored, and the next line overwrites
/// what is too much.
inline void transpose_to_pixels(transposition x, float* to, const float* from) {
  using simd::f32;
  std::ptrdiff_t i = 0;
  for (; (i + f32::lanes) * x.pitch + f32::lanes <= x.lines * x.pitch; i += f32::lanes) {
    f32 square[f32::lanes];
    for (int r = 0; r < f32::lanes; ++r) square[r] = r < x.count ? simd::load(from + r * x.stride + i) : simd::zero();
    simd::transpose(square);
    simd::unroll<f32::lanes>([&](auto r) NSK_INLINE_LAMBDA { simd::store(to + (i + r) * x.pitch, square[r]); });
  }
  transpose_elements(x, to, from, i, x.lines, 0, x.count);
}

/// Few lines, dense in the input (interleaved pixels to planes): whole registers are loaded, and what is too much is
/// not stored.
inline void transpose_from_pixels(transposition x, float* to, const float* from) {
  using simd::f32;
  std::ptrdiff_t k = 0;
  for (; (k + f32::lanes) * x.stride + f32::lanes <= x.count * x.stride; k += f32::lanes) {
    f32 square[f32::lanes];
    simd::unroll<f32::lanes>([&](auto r) NSK_INLINE_LAMBDA { square[r] = simd::load(from + (k + r) * x.stride); });
    simd::transpose(square);
    for (int r = 0; r < f32::lanes; ++r)
      if (r < x.lines) simd::store(to + r * x.pitch + k, square[r]);
  }
  transpose_elements(x, to, from, 0, x.lines, k, x.count);
}

template <class T>
inline void transpose_nest(const transposition& x, T* to, const T* from) {
  [[maybe_unused]] float* t = reinterpret_cast<float*>(to);
  [[maybe_unused]] const float* f = reinterpret_cast<const float*>(from);
  constexpr std::ptrdiff_t lanes = simd::f32::lanes;
  if constexpr (sizeof(T) == 4 && lanes > 1) {
    if (x.lines >= lanes && x.count >= lanes) return transpose_floats(x, t, f);
    if (x.count < lanes && x.pitch == x.count) return transpose_to_pixels(x, t, f);
    if (x.lines < lanes && x.stride == x.lines) return transpose_from_pixels(x, t, f);
  }
  transpose(x, to, from);
}

/// Puts loops in the order of the output's memory.
inline void sort_by_output(copy_nest& b) {
  const auto far = [](const loop<copy_operands>& l) {
    const std::ptrdiff_t s = l.stride[copy_to] < 0 ? -l.stride[copy_to] : l.stride[copy_to];
    return l.length == 1 ? PTRDIFF_MAX : s;
  };
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2 - i; ++k)
      if (far(b.of[k]) < far(b.of[k + 1])) {
        const loop<copy_operands> l = b.of[k];
        b.of[k] = b.of[k + 1];
        b.of[k + 1] = l;
      }
  simplify(b);
}

/// Elements of a transposition that is too small for a loop of its own.
inline constexpr std::ptrdiff_t max_small_square = 16;

/// Many small transpositions (depth to space of few channels), `many` the loop over them: each element of all of them
/// in one loop.
template <class T>
inline void copy_small(copy_nest b, int many, T* to, const T* from) {
  const loop<copy_operands> last = b.of[many];
  b.of[many] = b.of[2];
  b.of[2] = last;
  copy_strided(b, to, from);
}

/// Copies one nest of elements of type T; `to` and `from` are the elements where it begins.
template <class T>
inline void copy_nest_elements(const copy_nest& b, T* to, const T* from) {
  const loop<copy_operands>& inner = b.of[2];
  if (inner.stride[copy_to] == 1 && inner.stride[copy_from] == 1) return copy_runs(b, to, from);
  if (inner.stride[copy_to] == 1 && inner.stride[copy_from] == 0) return splat_runs(b, to, from);
  if (inner.stride[copy_to] != 1) return copy_strided(b, to, from);
  for (int d = 1; d >= 0; --d) {
    if (b.of[d].stride[copy_from] != 1 || b.of[d].length == 1) continue;
    const loop<copy_operands>&lines = b.of[d], &rest = b.of[1 - d];
    if (lines.length * inner.length <= max_small_square && rest.length > max_small_square)
      return copy_small(b, 1 - d, to, from);
    const transposition x{lines.length, lines.stride[copy_to], inner.length, inner.stride[copy_from]};
    if (interleave_lines(x, rest, to, from)) return;
    for (std::ptrdiff_t i = 0; i < rest.length; ++i)
      transpose_nest(x, to + i * rest.stride[copy_to], from + i * rest.stride[copy_from]);
    return;
  }
  copy_strided(b, to, from);
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
