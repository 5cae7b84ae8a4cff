// SPDX-License-Identifier: MIT
#pragma once
/// Matrices laid out as the GEMM tile reads them.
#include <cstddef>
#include <cstdint>
#include <netsuke/core/packing.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Writes one panel: zero bias, then `depth` lines of `width` columns, of which `columns` exist.
inline void pack_panel(float* to, const float* from, std::ptrdiff_t row, std::ptrdiff_t column, int depth, int width,
                       int columns) {
  for (int c = 0; c < width; ++c) to[c] = 0;
  to += width;
  for (int k = 0; k < depth; ++k, to += width, from += row) {
    for (int c = 0; c < columns; ++c) to[c] = from[c * column];
    for (int c = columns; c < width; ++c) to[c] = 0;
  }
}

}

/// Packs the matrices [pixel_begin, pixel_end) of the tile. Every float of their panels is written.
inline void pack_panels(const pack_panels_args& a, const tile_range& t, std::byte*) {
  const tensor_view& in = a.input;
  const int depth = in.length(1), channels = in.length(0);
  const std::ptrdiff_t each = a.output.step(1);
  for (int b = t.pixel_begin; b < t.pixel_end; ++b) {
    float* to = a.output.as<float>() + b * each;
    const float* from = in.as<float>() + b * in.step(2);
    for (int p = 0; p < panel_count(channels); ++p) {
      const int width = static_cast<int>(width_of_panel(channels, p)), left = p * panel_width;
      impl::pack_panel(to + std::int64_t{panel_width} * p * (depth + 1), from + left * in.step(0), in.step(1),
                       in.step(0), depth, width, channels - left < width ? channels - left : width);
    }
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
