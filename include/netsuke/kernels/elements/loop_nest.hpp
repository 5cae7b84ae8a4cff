// SPDX-License-Identifier: MIT
#pragma once
/// Cuts a tile of any rank into nests of three loops that several strided operands share, with as few and as long loops
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
struct loop_nest {
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
inline void simplify(loop_nest<Operands>& b) {
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

/// The nests of loops that cover the tile of an output of this shape. strides[k]: those of operand k, `rank` of them.
/// Apart from for_each_nest, so that there is one copy for each number of operands.
template <int Operands>
class nests_of_tile {
 public:
  NSK_NOINLINE nests_of_tile(const std::int32_t* shape, int rank, const std::ptrdiff_t* const (&strides)[Operands],
                             const tile_range& t)
      : m_row(t.row_begin), m_end(t.row_end) {
    for (int d = 0; d < rank - 2; ++d) m_count = nest(m_lead, m_count, loop_of(shape[d], strides, d));
    if (m_count == 0) m_lead[m_count++] = {};
    m_channels = loop_of(t.channel_end - t.channel_begin, strides, rank - 1);
    if (rank > 1) m_pixels = loop_of(t.pixel_end - t.pixel_begin, strides, rank - 2);
    for (int k = 0; k < Operands; ++k)
      m_offset[k] = t.pixel_begin * m_pixels.stride[k] + t.channel_begin * m_channels.stride[k];
  }

  /// Stores the next nest; returns false where there is none.
  NSK_NOINLINE bool next(loop_nest<Operands>& b) {
    if (m_row >= m_end) return false;
    for (int k = 0; k < Operands; ++k) b.offset[k] = m_offset[k];
    std::ptrdiff_t rest = m_row;
    for (int d = m_count - 1; d >= 0; --d) {
      for (int k = 0; k < Operands; ++k) b.offset[k] += rest % m_lead[d].length * m_lead[d].stride[k];
      rest /= m_lead[d].length;
    }
    const loop<Operands>& last = m_lead[m_count - 1];
    const std::ptrdiff_t left = last.length - m_row % last.length, rows = left < m_end - m_row ? left : m_end - m_row;
    b.of[0] = last;
    b.of[0].length = rows;
    b.of[1] = m_pixels;
    b.of[2] = m_channels;
    simplify(b);
    m_row += rows;
    return true;
  }

 private:
  loop<Operands> m_lead[max_rank];
  int m_count = 0;
  loop<Operands> m_pixels, m_channels;
  std::ptrdiff_t m_offset[Operands];
  std::ptrdiff_t m_row, m_end;
};

/// Calls f(nest) for them.
template <int Operands, class F>
NSK_INLINE void for_each_nest(const std::int32_t* shape, int rank, const std::ptrdiff_t* const (&strides)[Operands],
                              const tile_range& t, F&& f) {
  nests_of_tile<Operands> nests(shape, rank, strides, t);
  loop_nest<Operands> b;
  while (nests.next(b)) f(b);
}

/// The tile without the axis: it holds whole lines.
inline tile_range without_axis(const tensor_view& v, int axis, tile_range t) {
  if (axis == v.rank - 1) {
    t.channel_begin = 0;
    t.channel_end = 1;
  } else if (axis == v.rank - 2) {
    t.pixel_begin = 0;
    t.pixel_end = 1;
  } else {
    t.row_begin /= v.shape[axis];
    t.row_end /= v.shape[axis];
  }
  return t;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
