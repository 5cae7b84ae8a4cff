// SPDX-License-Identifier: MIT
#pragma once
/// Matrices laid out as the GEMM tile reads them.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/lines/lanes.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Writes input [B, K, N] (any strides) as panels with zero bias, matrix after matrix. `output` is [B, panel_floats(N,
/// K)]. Tile space: pixels = B is dimension 0 of output seen as [1, B, floats]; a tile packs whole matrices.
struct pack_panels_args {
  tensor_view input, output;
};

namespace impl {

/// Columns of a matrix, `column` floats apart, whose elements are `row` floats apart.
struct column_block {
  const float* from;
  std::ptrdiff_t row, column;
  int depth;
};

/// Writes `width` floats, a register's or fewer, to each of the lines, which are `line` floats apart: `columns` of them
/// from the block, then zeros.
inline void pack_contiguous(float* to, int line, const column_block& b, int width, int columns) {
  for (int k = 0; k < b.depth; ++k)
    store_lanes(to + std::ptrdiff_t{k} * line, 1, width, load_lanes(b.from + k * b.row, 1, columns));
}
inline void pack_transposed(float* to, int line, const column_block& b, int width, int columns) {
  constexpr int lanes = simd::f32::lanes;
  for (int k = 0; k < b.depth; k += lanes) {
    const int rows = b.depth - k < lanes ? b.depth - k : lanes;
    simd::f32 x[lanes];
    for (int i = 0; i < lanes; ++i) x[i] = load_lanes(b.from + k + i * b.column, 1, i < columns ? rows : 0);
    simd::transpose(x);
    for (int i = 0; i < rows; ++i) store_lanes(to + std::ptrdiff_t{k + i} * line, 1, width, x[i]);
  }
}
inline void pack_strided(float* to, int line, const column_block& b, int width, int columns) {
  for (int k = 0; k < b.depth; ++k)
    for (int c = 0; c < width; ++c)
      to[std::ptrdiff_t{k} * line + c] = c < columns ? b.from[k * b.row + c * b.column] : 0;
}

/// Writes one panel: zero bias, then lines of `width` columns, of which `columns` exist.
inline void pack_panel(float* to, column_block b, int width, int columns) {
  constexpr int lanes = simd::f32::lanes;
  for (int c = 0; c < width; ++c) to[c] = 0;
  to += width;
  for (int part = 0; part * lanes < width; ++part, to += lanes, b.from += lanes * b.column) {
    const int some = part_length(width, part), exist = part_length(columns, part);
    if (b.column == 1)
      pack_contiguous(to, width, b, some, exist);
    else if (b.row == 1)
      pack_transposed(to, width, b, some, exist);
    else
      pack_strided(to, width, b, some, exist);
  }
}

}

/// Packs the matrices [pixel_begin, pixel_end) of the tile. Every float of their panels is written.
inline void pack_panels(const pack_panels_args& a, const tile_range& t, std::byte*) {
  const tensor_view& in = a.input;
  const int depth = in.length(1), channels = in.length(0);
  const std::ptrdiff_t each = a.output.stride_of(1);
  for (int b = t.pixel_begin; b < t.pixel_end; ++b) {
    float* to = a.output.as<float>() + b * each;
    const float* from = in.as<float>() + b * in.stride_of(2);
    for (int p = 0; p < panel_count(channels); ++p) {
      const int width = static_cast<int>(width_of_panel(channels, p)), left = p * panel_width;
      impl::pack_panel(to + std::int64_t{panel_width} * p * (depth + 1),
                       {from + left * in.stride_of(0), in.stride_of(1), in.stride_of(0), depth}, width,
                       channels - left < width ? channels - left : width);
    }
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
