// SPDX-License-Identifier: MIT
#pragma once
/// A function of one byte, as its 256 values.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/impl/element_blocks.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = table[input], by the bits of the input; uint8 or int8.
struct byte_table_args {
  tensor_view input, output;
  const std::uint8_t* table;
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

/// Looks up the elements of one tile. Equal shapes, any strides; the output may be the input.
template <class = void>
inline void byte_table(const byte_table_args& a, const tile_range& t, std::byte*) {
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
