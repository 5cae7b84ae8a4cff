// SPDX-License-Identifier: MIT
#pragma once
/// A function of one byte, as its 256 values, or one for each channel.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/element_blocks.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = table[input], by the bits of the input; uint8 or int8. By channels, each position of the last dimension has
/// a table of its own.
struct byte_table_args {
  tensor_view input, output;
  const std::uint8_t* table;
  bool by_channels;
};

namespace impl {

NSK_ONE_COPY inline void look_up_bytes(const std::uint8_t* table, const std::uint8_t* from, std::uint8_t* to,
                                       std::ptrdiff_t count) {
  constexpr std::ptrdiff_t lanes = simd::bytes::lanes;
  std::ptrdiff_t i = 0;
  for (; i + lanes <= count; i += lanes) simd::store_bytes(to + i, simd::look_up(table, simd::load_bytes(from + i)));
  if (i < count)
    simd::store_first_bytes(to + i, simd::look_up(table, simd::load_first_bytes(from + i, count - i)), count - i);
}

}

namespace impl {

/// Four at a time: bytes that are read before others are written wait for no store.
inline void look_up_pixel(const std::uint8_t* table, const std::uint8_t* from, std::uint8_t* to, std::ptrdiff_t count) {
  std::ptrdiff_t i = 0;
  for (; i + 4 <= count; i += 4, table += 4 * 256) {
    const std::uint8_t a = table[from[i]], b = table[256 + from[i + 1]], c = table[512 + from[i + 2]],
                       d = table[768 + from[i + 3]];
    to[i] = a;
    to[i + 1] = b;
    to[i + 2] = c;
    to[i + 3] = d;
  }
  for (; i < count; ++i, table += 256) to[i] = table[from[i]];
}
/// Tables are an operand that has 256 bytes where the last dimension has one element.
NSK_NOINLINE inline void look_up_by_channels(const byte_table_args& a, const tile_range& t) {
  std::ptrdiff_t places[max_rank] = {};
  places[a.output.rank - 1] = 256;
  const std::ptrdiff_t* const strides[] = {a.output.stride, a.input.stride, places};
  for_each_line(a.output, strides, t, [&](const element_line<3>& l) {
    std::uint8_t* const to = a.output.as<std::uint8_t>() + l.at[0];
    const std::uint8_t* const from = a.input.as<std::uint8_t>() + l.at[1];
    const std::uint8_t* const table = a.table + l.at[2];
    if (l.stride[0] == 1 && l.stride[1] == 1 && l.stride[2] == 256) return look_up_pixel(table, from, to, l.count);
    for (std::ptrdiff_t i = 0; i < l.count; ++i) to[i * l.stride[0]] = table[i * l.stride[2] + from[i * l.stride[1]]];
  });
}

}

/// Looks up the elements of one tile. Equal shapes, any strides; the output may be the input.
template <class = void>
inline void byte_table(const byte_table_args& a, const tile_range& t, std::byte*) {
  if (a.by_channels) return impl::look_up_by_channels(a, t);
  const tensor_view* const inputs[] = {&a.input};
  std::uint8_t table[256];
  simd::arrange_table(a.table, table);
  impl::operand_blocks blocks[] = {impl::operand_blocks(a.input)};
  impl::for_each_piece(a.output, inputs, blocks, t,
                       [&](const std::byte* const(&x)[1], std::byte* to, std::ptrdiff_t count) {
                         impl::look_up_bytes(table, reinterpret_cast<const std::uint8_t*>(x[0]),
                                             reinterpret_cast<std::uint8_t*>(to), count);
                       });
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
