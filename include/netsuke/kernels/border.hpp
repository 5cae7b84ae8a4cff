// SPDX-License-Identifier: MIT
#pragma once
/// The border of a tile: pixels outside [..., H, W, C] that are next to its elements.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/tensor.hpp>
#include <netsuke/kernels/pixel_block.hpp>
#include <netsuke/kernels/output_rows.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Sets channels [begin, end) of `pixels` pixels from `p` on, `stride` floats apart.
NSK_ONE_COPY inline void fill_pixels(float* p, std::ptrdiff_t stride, std::ptrdiff_t pixels, int begin, int end,
                                     float value) {
  for (std::ptrdiff_t i = 0; i < pixels; ++i)
    for (int c = begin; c < end; ++c) p[i * stride + c] = value;
}

/// The rows of one image, [y_begin, y_end) of it, whose row 0 begins at `image`.
inline void fill_image_border(const tensor_view& v, float* image, int y_begin, int y_end, const tile_range& t) {
  const int height = v.length(2), width = v.length(1);
  const std::ptrdiff_t row = v.stride_of(2), pixel = v.stride_of(1);
  const std::ptrdiff_t left = t.pixel_begin == 0 ? v.border.left : 0, right = t.pixel_end == width ? v.border.right : 0;
  const std::ptrdiff_t begin = t.pixel_begin - left, count = t.pixel_end + right - begin;
  for (int y = y_begin; y < y_end; ++y) {
    float* line = image + y * row;
    fill_pixels(line - left * pixel, pixel, left, t.channel_begin, t.channel_end, v.fill);
    fill_pixels(line + width * pixel, pixel, right, t.channel_begin, t.channel_end, v.fill);
  }
  if (y_begin == 0)
    for (int y = 1; y <= v.border.top; ++y)
      fill_pixels(image - y * row + begin * pixel, pixel, count, t.channel_begin, t.channel_end, v.fill);
  if (y_end == height)
    for (int y = height; y < height + v.border.bottom; ++y)
      fill_pixels(image + y * row + begin * pixel, pixel, count, t.channel_begin, t.channel_end, v.fill);
}

}

/// Fills the border pixels that belong to a tile of a float32 output, in the tile's channels: left and right of rows
/// that reach the edge, above and below pixels that reach it, and the corners with the corner elements. Tiles that
/// cover the output once fill the whole border once.
NSK_ONE_COPY inline void fill_border(const tensor_view& output, const tile_range& t) {
  const halo& b = output.border;
  if (output.rank < 3 || (b.top | b.left | b.bottom | b.right) == 0) return;
  const int height = output.length(2);
  impl::for_images(t, height, [&](int image, int y, int y_end) {
    impl::fill_image_border(output, output.as<float>() + impl::row_offset(output, image * height), y, y_end, t);
  });
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
