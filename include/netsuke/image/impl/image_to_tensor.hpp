// SPDX-License-Identifier: MIT
#pragma once
/// The body of image_to_tensor: the fill around, and pieces of rows inside, upright or slanted.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/image/impl/geometry.hpp>
#include <netsuke/image/impl/sample.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace image_impl {

/// What the parts of one call share.
struct job {
  const image_view& from;
  const image_settings& how;
  float* to;           ///< the whole tensor
  std::int32_t width;  ///< of the tensor
  int channels;
  float filler[4];  ///< the fill's channels, scaled

  float* at(std::int32_t row, std::int32_t column) const {
    return to + (std::ptrdiff_t{row} * width + column) * channels;
  }
};

/// Turns planes of the image's bytes into planes of the tensor's channels, scaled.
NSK_ONE_COPY inline void make_channels(const job& j, const planes& bytes, std::int32_t n, planes& to) {
  using simd::f32;
  const places source = places_of(j.from.format), target = places_of(j.how.order);
  const channel_scale& s = j.how.scale;
  const auto channel = [&](int number, auto value) NSK_INLINE_LAMBDA {
    const f32 scale = simd::splat(s.scale[number]), offset = simd::splat(s.offset[number]);
    for (std::int32_t i = 0; i < n; i += f32::lanes)
      simd::store(to.level[number] + i, simd::fma(value(i), scale, offset));
  };
  const float *red = bytes.level[source.red], *green = bytes.level[source.green], *blue = bytes.level[source.blue];
  if (j.channels == 1 && j.from.format != pixel_format::grey8)
    return channel(0, [&](std::int32_t i) NSK_INLINE_LAMBDA {
      return brightness(simd::load(red + i), simd::load(green + i), simd::load(blue + i));
    });
  channel(target.red, [&](std::int32_t i) NSK_INLINE_LAMBDA { return simd::load(red + i); });
  if (j.channels == 1) return;
  channel(target.green, [&](std::int32_t i) NSK_INLINE_LAMBDA { return simd::load(green + i); });
  channel(target.blue, [&](std::int32_t i) NSK_INLINE_LAMBDA { return simd::load(blue + i); });
  if (j.channels == 4 && source.alpha >= 0)
    channel(target.alpha, [&](std::int32_t i) NSK_INLINE_LAMBDA { return simd::load(bytes.level[source.alpha] + i); });
  else if (j.channels == 4)
    channel(target.alpha, [](std::int32_t) NSK_INLINE_LAMBDA { return simd::splat(255); });
}

/// Writes the fill to tensor pixels [begin, end) of a row.
NSK_ONE_COPY inline void fill_pixels(const job& j, std::int32_t row, std::int32_t begin, std::int32_t end) {
  float* to = j.at(row, begin);
  for (std::int32_t i = begin; i < end; ++i)
    for (int c = 0; c < j.channels; ++c) *to++ = j.filler[c];
}

/// Buffers of a piece, from where its samples are to the tensor's numbers.
struct workspace {
  neighbours x, y;
  corners corner;
  planes bytes, channels;
};

/// Makes n tensor pixels at (row, column) from the places in the workspace.
inline void finish_piece(const job& j, bool one_row, std::int32_t row, std::int32_t column, std::int32_t n,
                         workspace& w) {
  const int bytes = pixel_bytes(j.from.format), used = bytes == 4 && j.channels != 4 ? 3 : bytes;
  gather(j.from, w.x, w.y, one_row, n, w.corner);
  blend(used, w.corner, w.x.weight, w.y.weight, n, w.bytes);
  make_channels(j, w.bytes, n, w.channels);
  interleave(j.channels, w.channels, n, j.at(row, column));
}

/// Samples a region whose sides are parallel to the image's: columns are found once for all rows.
inline void sample_upright(const job& j, const affine& map, range rows, range columns) {
  workspace w;
  for (std::int32_t column = columns.begin; column < columns.end; column += piece) {
    const std::int32_t n = columns.end - column < piece ? columns.end - column : piece;
    for (std::int32_t i = 0; i < n; ++i) w.x.set(i, map.xx * (column + i + 0.5) + map.x0 - 0.5, j.from.width);
    for (std::int32_t row = rows.begin; row < rows.end; ++row) {
      w.y.set(0, map.yy * (row + 0.5) + map.y0 - 0.5, j.from.height);
      for (std::int32_t i = 1; i < n; ++i) w.y.weight[i] = w.y.weight[0];
      finish_piece(j, true, row, column, n, w);
    }
  }
}

/// Samples any region.
inline void sample_slanted(const job& j, const affine& map, range rows, range columns) {
  workspace w;
  alignas(64) float inside[piece];
  for (std::int32_t row = rows.begin; row < rows.end; ++row)
    for (std::int32_t column = columns.begin; column < columns.end; column += piece) {
      const std::int32_t n = columns.end - column < piece ? columns.end - column : piece;
      const double x = column + 0.5, y = row + 0.5;
      for (float& f : inside) f = 1;
      const slanted_axis across(map.xx * x + map.xy * y + map.x0 - 0.5, map.xx, j.from.width),
          down(map.yx * x + map.yy * y + map.y0 - 0.5, map.yx, j.from.height);
      bool all = across.find(n, w.x, inside);
      all = down.find(n, w.y, inside) && all;
      finish_piece(j, false, row, column, n, w);
      if (all || j.how.edge == image_edge::repeat) continue;
      for (std::int32_t i = 0; i < n; ++i)
        if (!(inside[i] > 0)) fill_pixels(j, row, column + i, column + i + 1);
    }
}

/// Writes rows `all` of the tensor: fills what the region does not reach, and samples the rest.
inline void run(const job& j, const geometry& p, range all) {
  range rows{all.begin, all.begin}, columns{0, 0};
  const affine& map = p.map.image_from_tensor;
  const bool upright = !(map.xy < 0) && !(map.xy > 0) && !(map.yx < 0) && !(map.yx > 0);
  if (p.shows) {
    const bool cut = upright && j.how.edge == image_edge::fill;
    // Only an upright region with fill is cut here; a map of zeros and a limit of 1 let every pixel pass.
    const affine place = cut ? map : affine{0, 0, 0, 0, 0, 0};
    rows = shown(all, p.top, p.bottom, place.yy, place.y0, cut ? j.from.height : 1);
    columns = shown({0, j.width}, p.left, p.right, place.xx, place.x0, cut ? j.from.width : 1);
  }
  for (std::int32_t row = all.begin; row < all.end; ++row) {
    const bool outside = row < rows.begin || row >= rows.end;
    fill_pixels(j, row, 0, outside ? j.width : columns.begin);
    if (!outside) fill_pixels(j, row, columns.end, j.width);
  }
  if (rows.begin == rows.end || columns.begin == columns.end) return;
  if (upright) return sample_upright(j, map, rows, columns);
  sample_slanted(j, map, rows, columns);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
