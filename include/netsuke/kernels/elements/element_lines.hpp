// SPDX-License-Identifier: MIT
#pragma once
/// The loop that the operators on any element type share: lines of a tile, with what each operand does along them.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <type_traits>
#include <netsuke/kernels/elements/loop_nest.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// A line of `count` elements. Operand k begins at element at[k] and goes on by stride[k].
template <int Operands>
struct element_line {
  std::ptrdiff_t count;
  std::ptrdiff_t at[Operands], stride[Operands];
};

/// Calls f(line) for the lines that cover a tile of an output of this shape. strides[k] are those of operand k.
template <int Operands, class F>
NSK_INLINE void for_each_line(const tensor_view& output, const std::ptrdiff_t* const (&strides)[Operands],
                              const tile_range& t, F&& f) {
  for_each_nest(output.shape, output.rank, strides, t, [&](const loop_nest<Operands>& b) {
    element_line<Operands> line;
    line.count = b.of[2].length;
    for (int k = 0; k < Operands; ++k) line.stride[k] = b.of[2].stride[k];
    for (std::ptrdiff_t i = 0; i < b.of[0].length; ++i)
      for (std::ptrdiff_t j = 0; j < b.of[1].length; ++j) {
        for (int k = 0; k < Operands; ++k) line.at[k] = b.offset[k] + i * b.of[0].stride[k] + j * b.of[1].stride[k];
        f(line);
      }
  });
}

/// Calls f(line), operand 0 the output, for lines of the first elements of lines along `axis`, which a tile has whole.
template <class F>
NSK_INLINE void for_whole_lines(const tensor_view& output, const tensor_view& input, int axis, tile_range t, F&& f) {
  const std::ptrdiff_t* strides[] = {output.stride, input.stride};
  tensor_view lines = output;
  lines.shape[axis] = 1;
  if (axis + 1 == output.rank) t.channel_end = 1;
  if (axis + 2 == output.rank) t.pixel_end = 1;
  if (axis + 2 < output.rank) t.row_end /= output.shape[axis];
  for_each_line(lines, strides, t, f);
}

/// Calls f(T{}) with the C++ type of an element type; nothing for float16.
template <class F>
NSK_INLINE void visit_type(dtype type, F&& f) {
  switch (type) {
    case dtype::float32: return f(float{});
    case dtype::int8: return f(std::int8_t{});
    case dtype::uint8: return f(std::uint8_t{});
    case dtype::boolean: return f(bool{});
    case dtype::int16: return f(std::int16_t{});
    case dtype::int32: return f(std::int32_t{});
    case dtype::int64: return f(std::int64_t{});
    case dtype::float16: break;
  }
}
/// Calls f(T{}) with an unsigned integer of the element's size, for operators that only move elements.
template <class F>
NSK_INLINE void visit_size(dtype type, F&& f) {
  switch (size_of(type)) {
    case 1: return f(std::uint8_t{});
    case 2: return f(std::uint16_t{});
    case 4: return f(std::uint32_t{});
    default: return f(std::uint64_t{});
  }
}

/// Reads and writes elements without assuming more of memory than bytes; a boolean is true where its byte is not 0.
template <class T>
inline T element(const std::byte* data, std::ptrdiff_t index) {
  if constexpr (std::is_same_v<T, bool>) {
    return data[index] != std::byte{0};
  } else {
    T value;
    std::memcpy(&value, data + index * static_cast<std::ptrdiff_t>(sizeof(T)), sizeof value);
    return value;
  }
}
template <class T>
inline void put_element(std::byte* data, std::ptrdiff_t index, T value) {
  if constexpr (std::is_same_v<T, bool>)
    data[index] = value ? std::byte{1} : std::byte{0};
  else
    std::memcpy(data + index * static_cast<std::ptrdiff_t>(sizeof(T)), &value, sizeof value);
}

/// Element `i` of an index tensor of type int32 or int64.
inline std::int64_t index_at(const tensor_view& indices, std::ptrdiff_t i) {
  return indices.type == dtype::int32 ? element<std::int32_t>(indices.data, i) : element<std::int64_t>(indices.data, i);
}
/// Position along an axis of `length`: negative ones count from the end, others outside are clamped. `outside` is set
/// then.
inline std::ptrdiff_t position_of(std::int64_t index, std::int64_t length, bool& outside) {
  if (index < 0 && index >= -length) index += length;
  outside = outside || index < 0 || index >= length;
  return static_cast<std::ptrdiff_t>(index < 0 ? 0 : index >= length ? length - 1 : index);
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
