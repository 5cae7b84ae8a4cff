// SPDX-License-Identifier: MIT
#pragma once
/// Sums of products, scaled, added to a residual and stored as bytes: the end of the tiles of
/// kernels/int8/quantized_gemm.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <type_traits>
#include <netsuke/kernels/int8/quad_operands.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// What is added to the sums of a row, in units of the output.
NSK_INLINE simd::f32 residual_units(const quad_store& store, const std::uint8_t* from) {
  const simd::f32 zero = simd::splat(static_cast<float>(store.residual_zero));
  return simd::mul(simd::sub(simd::load_u8(from), zero), simd::splat(store.residual_scale));
}

/// Columns of a tile's whole lines.
template <int Vectors>
inline constexpr int line_columns = Vectors* simd::f32::lanes < 16   ? 8
                                    : Vectors* simd::f32::lanes < 32 ? 16
                                                                     : 32;

/// Stores as many rows of a tile as a register of bytes holds, or fewer: whole lines of 8, 16 or 32 columns.
template <int Columns, int Count, int Vectors>
NSK_INLINE void store_quad_rows(const simd::i32 (*sum)[Vectors], const simd::f32 (&scale)[Vectors], const quad_row* row,
                                const quad_panel& p, const quad_store& store) {
  constexpr int pitch = Vectors * simd::f32::lanes, vectors = simd::packed_vectors;
  simd::f32 x[vectors];
  simd::unroll<vectors>([&](auto i) NSK_INLINE_LAMBDA {
    if constexpr (i < Count * Vectors)
      x[i] = simd::mul(simd::to_f32(sum[i / Vectors][i % Vectors]), scale[i % Vectors]);
    else
      x[i] = simd::zero();
  });
  const simd::packed_bytes bytes = simd::to_bytes(x, store.range);
  simd::unroll<Count>(
      [&](auto r) NSK_INLINE_LAMBDA { simd::store_part<Columns, r * pitch>(row[r].output + p.channel, bytes); });
}

/// Stores the lines of `count` rows, which a register of bytes has one behind the other.
template <int Vectors>
NSK_INLINE void store_lines(simd::packed_bytes bytes, int count, const quad_row* row, const quad_panel& p) {
  constexpr int pitch = Vectors * simd::f32::lanes, together = simd::packed_vectors / Vectors;
  constexpr int columns = line_columns<Vectors>;
  if (p.columns == columns)
    return simd::unroll<together>([&](auto r) NSK_INLINE_LAMBDA {
      if (r < count) simd::store_part<columns, r * pitch>(row[r].output + p.channel, bytes);
    });
  if (p.columns == 8)
    return simd::unroll<together>([&](auto r) NSK_INLINE_LAMBDA {
      if (r < count) simd::store_part<8, r * pitch>(row[r].output + p.channel, bytes);
    });
  std::uint8_t line[sizeof bytes + 16];  // which copy_bytes reads in pieces of 16
  simd::store_packed(line, bytes);
  for (int r = 0; r < count; ++r) simd::copy_bytes(row[r].output + p.channel, line + r * pitch, p.columns);
}

/// Stores as many rows of any tile as a register of bytes holds, or `count`, an int or a constant.
template <int Vectors, class Count>
NSK_INLINE void store_any_quad_rows(const simd::i32 (*sum)[Vectors], const simd::f32 (&scale)[Vectors], Count count,
                                    const quad_row* row, const quad_panel& p, const quad_store& store) {
  constexpr int lanes = simd::f32::lanes, vectors = simd::packed_vectors;
  simd::f32 x[vectors];
  simd::unroll<vectors>([&](auto i) NSK_INLINE_LAMBDA {
    constexpr int r = i / Vectors, v = i % Vectors;
    x[i] = simd::zero();
    if (r >= count) return;
    x[i] = simd::mul(simd::to_f32(sum[r][v]), scale[v]);
    if (store.residual_scale != 0)
      x[i] = simd::add(x[i], residual_units(store, row[r].residual + p.channel + v * lanes));
  });
  store_lines<Vectors>(simd::to_bytes(x, store.range), count, row, p);
}

/// Stores a tile whose rows have residuals or any number of columns. There is one copy for tiles of all heights.
template <int Vectors>
NSK_ONE_COPY inline void store_any_quad_tile(const simd::i32 (*sum)[Vectors], int rows, const quad_row* row,
                                             const quad_panel& p, const quad_store& store) {
  constexpr int together = simd::packed_vectors / Vectors;
  simd::f32 scale[Vectors];
  for (int v = 0; v < Vectors; ++v) scale[v] = load_scale(p, v);
  for (; rows >= together; rows -= together, sum += together, row += together)
    store_any_quad_rows<Vectors>(sum, scale, std::integral_constant<int, together>{}, row, p, store);
  if (rows > 0) store_any_quad_rows<Vectors>(sum, scale, rows, row, p, store);
}

/// Stores the sums of a tile as they are.
template <int Vectors>
NSK_ONE_COPY inline void store_sums(const simd::i32 (*sum)[Vectors], int rows, const quad_row* row) {
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < Vectors; ++v)
      simd::store_i32(reinterpret_cast<std::int32_t*>(row[r].output) + v * simd::i32::lanes, sum[r][v]);
}

/// Stores a tile.
template <int Rows, int Vectors>
NSK_INLINE void store_quad_tile(const simd::i32 (&sum)[Rows][Vectors], const simd::f32 (&scale)[Vectors],
                                const quad_row* row, const quad_panel& p, const quad_store& store) {
  constexpr int columns = line_columns<Vectors>, together = simd::packed_vectors / Vectors;
  if (p.columns != columns || store.residual_scale != 0 || store.sums) {
    simd::i32 copy[Rows][Vectors];  // which has an address, so that `sum` stays in registers
    simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
      simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { copy[r][v] = sum[r][v]; });
    });
    if (store.sums) return store_sums(copy, Rows, row);
    return store_any_quad_tile(copy, Rows, row, p, store);
  }
  simd::unroll<(Rows + together - 1) / together>([&](auto g) NSK_INLINE_LAMBDA {
    constexpr int first = g * together, count = Rows - first < together ? Rows - first : together;
    store_quad_rows<columns, count>(sum + first, scale, row + first, p, store);
  });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
