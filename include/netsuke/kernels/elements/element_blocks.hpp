// SPDX-License-Identifier: MIT
#pragma once
/// Operands of any element type as dense blocks, so that what an operator computes is one loop over pointers, which
/// compilers turn into vectors.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/kernels/elements/element_lines.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Elements of a block, and its bytes.
inline constexpr std::ptrdiff_t block_elements = 256;
inline constexpr std::ptrdiff_t block_bytes = 8 * block_elements;

template <class T>
NSK_NOINLINE inline void move_elements_as(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from,
                                          std::ptrdiff_t from_stride, std::ptrdiff_t count) {
  const T first = element<T>(from, 0);
  if (from_stride == 0 && to_stride == 1)
    for (std::ptrdiff_t i = 0; i < count; ++i) put_element(to, i, first);
  else
    for (std::ptrdiff_t i = 0; i < count; ++i) put_element(to, i * to_stride, element<T>(from, i * from_stride));
}
/// to[i * to_stride] = from[i * from_stride] for `count` elements of a type.
NSK_NOINLINE inline void move_elements(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from,
                                       std::ptrdiff_t from_stride, std::ptrdiff_t count, dtype type) {
  visit_size(type, [&](auto x) { move_elements_as<decltype(x)>(to, to_stride, from, from_stride, count); });
}

/// One operand: lines of it are used where they are when they are dense, else brought together in a block.
class operand_blocks {
 public:
  explicit operand_blocks(const tensor_view& v)
      : m_data(v.data), m_type(v.type), m_size(static_cast<std::ptrdiff_t>(size_of(v.type))) {}

  /// Returns `count` elements from element `at` on, `stride` apart; at most block_elements, unless stride is 1.
  const std::byte* read(std::ptrdiff_t at, std::ptrdiff_t stride, std::ptrdiff_t count) {
    if (stride == 1) return m_data + at * m_size;
    if (stride != 0 || m_repeated != at || m_count < count)
      move_elements(m_block, 1, m_data + at * m_size, stride, count, m_type);
    m_repeated = stride == 0 ? at : -1;
    m_count = count;
    return m_block;
  }

 private:
  const std::byte* m_data;
  dtype m_type;
  std::ptrdiff_t m_size;
  std::ptrdiff_t m_repeated = -1, m_count = 0;  ///< which element fills how much of the block
  alignas(64) std::byte m_block[block_bytes];
};

/// Results: written where they belong when lines are dense, else by way of a block.
class result_blocks {
 public:
  explicit result_blocks(const tensor_view& v)
      : m_data(v.data), m_type(v.type), m_size(static_cast<std::ptrdiff_t>(size_of(v.type))) {}

  /// Where to write elements that belong `stride` apart from element `at` on.
  std::byte* begin(std::ptrdiff_t at, std::ptrdiff_t stride) { return stride == 1 ? m_data + at * m_size : m_block; }
  /// Brings `count` of them there.
  void end(std::ptrdiff_t at, std::ptrdiff_t stride, std::ptrdiff_t count) {
    if (stride != 1) move_elements(m_data + at * m_size, stride, m_block, 1, count, m_type);
  }

 private:
  std::byte* m_data;
  dtype m_type;
  std::ptrdiff_t m_size;
  alignas(64) std::byte m_block[block_bytes];
};

/// Cuts lines into pieces that are dense, or a block long, and calls f(operands, to, count) for each.
template <int Operands, class F>
struct piece_cutter {
  operand_blocks (&blocks)[Operands];
  result_blocks results;
  F f;

  void operator()(const element_line<Operands + 1>& l) {
    bool dense = true;
    for (const std::ptrdiff_t stride : l.stride) dense = dense && stride == 1;
    const std::ptrdiff_t length = dense ? l.count : block_elements;
    for (std::ptrdiff_t i = 0; i < l.count; i += length) {
      const std::ptrdiff_t count = length < l.count - i ? length : l.count - i, at = l.at[0] + i * l.stride[0];
      const std::byte* operands[Operands];
      for (int k = 0; k < Operands; ++k)
        operands[k] = blocks[k].read(l.at[k + 1] + i * l.stride[k + 1], l.stride[k + 1], count);
      f(operands, results.begin(at, l.stride[0]), count);
      results.end(at, l.stride[0], count);
    }
  }
};

/// Calls f(operands, to, count) for dense pieces of the lines of a tile: whole lines where everything is dense.
template <int Operands, class F>
NSK_INLINE void for_each_piece(const tensor_view& output, const tensor_view* const (&inputs)[Operands],
                               operand_blocks (&blocks)[Operands], const tile_range& t, F f) {
  const std::ptrdiff_t* strides[Operands + 1] = {output.stride};
  for (int k = 0; k < Operands; ++k) strides[k + 1] = inputs[k]->stride;
  for_each_line(output, strides, t, piece_cutter<Operands, F>{blocks, result_blocks(output), f});
}

/// The elements of a dense piece; booleans are bytes, true where they are not 0.
template <class T>
using stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
template <class T>
inline const stored<T>* elements_of(const std::byte* piece) {
  return reinterpret_cast<const stored<T>*>(piece);
}

/// to = the integers or booleans of a piece with at most 32 bits, of which there are at most block_elements.
template <class T>
NSK_NOINLINE inline void widen(const stored<T>* from, std::int32_t* to, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = static_cast<std::int32_t>(static_cast<T>(from[i]));
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
