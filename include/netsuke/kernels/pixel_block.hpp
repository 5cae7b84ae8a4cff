// SPDX-License-Identifier: MIT
#pragma once
/// Blocks of pixels: which of a tile's are in an image, and of which of them whole windows can be read.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/tensor.hpp>
#include <netsuke/format/window.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Pixels [x, x_end) of rows [y, y_end) of one image.
struct pixel_block {
  int y, y_end, x, x_end;

  constexpr int down() const { return y_end - y; }
  constexpr int across() const { return x_end - x; }
};

/// Calls f(image, y, y_end) for the rows of a tile in each image of `height` rows.
template <class F>
NSK_INLINE void for_images(const tile_range& t, int height, F f) {
  for (int row = t.row_begin, rows; row < t.row_end; row += rows) {
    const int y = row % height, left = t.row_end - row;
    rows = left < height - y ? left : height - y;
    f(row / height, y, y + rows);
  }
}

/// Calls f(group, begin, end) for the output channels of a tile in each group of `channels`.
template <class F>
NSK_INLINE void for_groups(const tile_range& t, int channels, F f) {
  for (int g = t.channel_begin / channels; g * channels < t.channel_end; ++g) {
    const int begin = g * channels, end = begin + channels;
    f(g, t.channel_begin > begin ? t.channel_begin : begin, t.channel_end < end ? t.channel_end : end);
  }
}

/// The pixels of each image of [N, H, W, C] that can be read: those of its border too where it holds zeros.
inline pixel_block readable_pixels(const tensor_view& in) {
  const halo border = in.fill == 0 ? in.border : halo{};
  return {-border.top, in.shape[1] + border.bottom, -border.left, in.shape[2] + border.right};
}

/// Cuts output positions [begin, end) to those whose whole window, `reach` + 1 long, is in input positions [low,
/// high).
inline void cut_inside(int& begin, int& end, int stride, int pad, int reach, int low, int high) {
  const int lowest = low + pad, highest = high - 1 - reach + pad;
  const int first = lowest <= 0 ? 0 : (lowest + stride - 1) / stride, past = highest < 0 ? 0 : highest / stride + 1;
  if (begin < first) begin = first < end ? first : end;
  if (end > past) end = past > begin ? past : begin;
}
/// Returns the outputs of a block whose windows are in `readable`; they may be none.
inline pixel_block inside_of(pixel_block b, const window& w, const pixel_block& readable) {
  cut_inside(b.y, b.y_end, w.stride_h, w.pad_top, (w.kernel_h - 1) * w.dilation_h, readable.y, readable.y_end);
  cut_inside(b.x, b.x_end, w.stride_w, w.pad_left, (w.kernel_w - 1) * w.dilation_w, readable.x, readable.x_end);
  return b;
}
/// Calls f(block) for what is above, below, left and right of `inside` in a block.
template <class F>
NSK_INLINE void for_surroundings(const pixel_block& b, const pixel_block& inside, F f) {
  f(pixel_block{b.y, inside.y, b.x, b.x_end});
  f(pixel_block{inside.y_end, b.y_end, b.x, b.x_end});
  f(pixel_block{inside.y, inside.y_end, b.x, inside.x});
  f(pixel_block{inside.y, inside.y_end, inside.x_end, b.x_end});
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
