// SPDX-License-Identifier: MIT
#pragma once
/// Cuts a tile of any rank into boxes of three loops that several strided operands share, with as few and as long loops
/// as the strides allow.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/tensor.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// One loop: how often, and how far each operand moves, in elements.
template <int Operands>
struct loop {
  std::ptrdiff_t length = 1;
  std::ptrdiff_t stride[Operands] = {};
};

/// Three nested loops, outer to inner, from `offset` on. Loops that are not needed have length 1 and are the outer
/// ones.
template <int Operands>
struct box {
  loop<Operands> of[3];
  std::ptrdiff_t offset[Operands] = {};
};

/// Returns whether `outer` continues where `inner` ends, for every operand.
template <int Operands>
inline bool joins(const loop<Operands>& outer, const loop<Operands>& inner) {
  for (int k = 0; k < Operands; ++k)
    if (outer.stride[k] != inner.stride[k] * inner.length) return false;
  return true;
}

/// Appends a loop inside those that are there: dropped when it has one round, joined with the one outside where
/// possible.
template <int Operands>
inline int nest(loop<Operands>* loops, int count, const loop<Operands>& inner) {
  if (inner.length == 1) return count;
  if (count > 0 && joins(loops[count - 1], inner)) {
    const std::ptrdiff_t length = loops[count - 1].length * inner.length;
    loops[count - 1] = inner;
    loops[count - 1].length = length;
    return count;
  }
  loops[count] = inner;
  return count + 1;
}

/// Joins what can be joined and moves the loops to the inner end.
template <int Operands>
inline void simplify(box<Operands>& b) {
  loop<Operands> kept[3];
  int count = 0;
  for (const loop<Operands>& l : b.of) count = nest(kept, count, l);
  for (int i = 0; i < 3; ++i) b.of[i] = i < 3 - count ? loop<Operands>{} : kept[i - (3 - count)];
}

/// Loop over dimension d of `shape`.
template <int Operands>
inline loop<Operands> loop_of(std::int32_t length, const std::ptrdiff_t* const (&strides)[Operands], int d) {
  loop<Operands> l;
  l.length = length;
  for (int k = 0; k < Operands; ++k) l.stride[k] = strides[k][d];
  return l;
}

/// Calls f(box) for boxes that cover the tile of an output of this shape. strides[k]: those of operand k, `rank` of
/// them.
template <int Operands, class F>
inline void for_each_box(const std::int32_t* shape, int rank, const std::ptrdiff_t* const (&strides)[Operands],
                         const tile_range& t, F&& f) {
  loop<Operands> lead[max_rank];
  int count = 0;
  for (int d = 0; d < rank - 2; ++d) count = nest(lead, count, loop_of(shape[d], strides, d));
  if (count == 0) lead[count++] = {};
  loop<Operands> pixels, channels = loop_of(t.channel_end - t.channel_begin, strides, rank - 1);
  if (rank > 1) pixels = loop_of(t.pixel_end - t.pixel_begin, strides, rank - 2);
  for (std::ptrdiff_t row = t.row_begin; row < t.row_end;) {
    box<Operands> b;
    for (int k = 0; k < Operands; ++k)
      b.offset[k] = t.pixel_begin * pixels.stride[k] + t.channel_begin * channels.stride[k];
    std::ptrdiff_t rest = row;
    for (int d = count - 1; d >= 0; --d) {
      for (int k = 0; k < Operands; ++k) b.offset[k] += rest % lead[d].length * lead[d].stride[k];
      rest /= lead[d].length;
    }
    const std::ptrdiff_t left = lead[count - 1].length - row % lead[count - 1].length,
                         rows = left < t.row_end - row ? left : t.row_end - row;
    b.of[0] = lead[count - 1];
    b.of[0].length = rows;
    b.of[1] = pixels;
    b.of[2] = channels;
    simplify(b);
    f(b);
    row += rows;
  }
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
