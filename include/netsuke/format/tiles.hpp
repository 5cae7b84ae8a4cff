// SPDX-License-Identifier: MIT
#pragma once
/// How a step's output is cut into tiles: one source for the converter, which chooses the cut, the verifier and the
/// executors.
///
/// The output is seen as [rows, pixels, channels]: channels is its last dimension, pixels the one before, rows all
/// others together. A tile has `rows` x `pixels` x `channels` elements, 0 meaning all; channels are a multiple of 16,
/// and where 1 to 8 channels would remain at the end, they belong to the last tile (so that panels of weights are never
/// split). Tiles are numbered with channels fastest, then pixels, then rows; or with channels slowest where there are
/// more of them than pixels in all rows: then a product's weights are more bytes than its inputs, and those of one tile
/// stay in a core's cache while the tiles below it read them too.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/format/packing.hpp>
#include <netsuke/core/tensor.hpp>

NSK_BEGIN
/// The output of a step as tiles see it.
struct tile_space {
  std::int64_t rows = 1, pixels = 1, channels = 1;
};

/// Returns the tile space of a shape; dimensions that are absent are 1.
constexpr tile_space tile_space_of(const std::int32_t* shape, int rank) {
  tile_space s;
  if (rank > 0) s.channels = shape[rank - 1];
  if (rank > 1) s.pixels = shape[rank - 2];
  for (int d = 0; d + 2 < rank; ++d) s.rows *= shape[d];
  return s;
}

/// Size of one tile; 0 = all.
struct tile_size {
  std::uint32_t rows = 0, pixels = 0, channels = 0;
};

/// Number of tiles along each dimension of a tile space.
struct tile_grid {
  std::int64_t rows, pixels, channels;
  constexpr std::int64_t count() const { return rows * pixels * channels; }
};

/// Returns how many tiles of this size cover the space. Sizes past the end of the space count as all.
constexpr tile_grid tile_grid_of(const tile_space& s, const tile_size& t) {
  const auto pieces = [](std::int64_t length, std::int64_t size) {
    return size == 0 || size >= length ? 1 : (length + size - 1) / size;
  };
  return {pieces(s.rows, t.rows), pieces(s.pixels, t.pixels),
          pieces(panel_count(s.channels) * panel_width, t.channels)};
}

/// Returns the part of the output that tile `index` computes, 0 <= index < grid.count().
constexpr tile_range range_of_tile(const tile_space& s, const tile_size& t, const tile_grid& g, std::int64_t index) {
  const std::int64_t places = g.rows * g.pixels;
  const bool channels_slowest = s.channels > s.rows * s.pixels;
  const std::int64_t channel = channels_slowest ? index / places : index % g.channels,
                     place = channels_slowest ? index % places : index / g.channels, pixel = place % g.pixels,
                     row = place / g.pixels;
  const auto begin = [](std::int64_t i, std::int64_t size) { return static_cast<std::int32_t>(i * size); };
  const auto end = [](std::int64_t i, std::int64_t size, std::int64_t count, std::int64_t length) {
    return static_cast<std::int32_t>(i + 1 == count ? length : (i + 1) * size);
  };
  return {begin(row, t.rows),         end(row, t.rows, g.rows, s.rows),
          begin(pixel, t.pixels),     end(pixel, t.pixels, g.pixels, s.pixels),
          begin(channel, t.channels), end(channel, t.channels, g.channels, s.channels)};
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
