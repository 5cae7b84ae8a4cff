// SPDX-License-Identifier: MIT
// Tiles cut an output into disjoint ranges that cover it and do not split panels.
#include <doctest/doctest.h>
#include <vector>
#include <netsuke/format/tiles.hpp>

namespace {

TEST_CASE("tiles: every element belongs to exactly one tile") {
  for (const int channels : {1, 8, 16, 17, 24, 25, 40, 41, 64})
    for (const int pixels : {1, 5, 7})
      for (const int rows : {1, 3, 10})
        for (const std::uint32_t tile_rows : {0u, 1u, 4u, 100u})
          for (const std::uint32_t tile_pixels : {0u, 2u, 5u})
            for (const std::uint32_t tile_channels : {0u, 16u, 32u, 48u}) {
              const nsk::tile_space space{rows, pixels, channels};
              const nsk::tile_size size{tile_rows, tile_pixels, tile_channels};
              const nsk::tile_grid grid = nsk::tile_grid_of(space, size);
              std::vector<int> touched(static_cast<std::size_t>(rows * pixels * channels));
              for (std::int64_t i = 0; i < grid.count(); ++i) {
                const nsk::tile_range r = nsk::range_of_tile(space, size, grid, i);
                CHECK(r.row_begin < r.row_end);
                CHECK(r.pixel_begin < r.pixel_end);
                CHECK(r.channel_begin < r.channel_end);
                CHECK(r.channel_begin % 16 == 0);
                CHECK((r.channel_end % 16 == 0 || r.channel_end == channels));
                for (int y = r.row_begin; y < r.row_end; ++y)
                  for (int x = r.pixel_begin; x < r.pixel_end; ++x)
                    for (int c = r.channel_begin; c < r.channel_end; ++c)
                      ++touched[static_cast<std::size_t>((y * pixels + x) * channels + c)];
              }
              bool once = true;
              for (const int n : touched) once = once && n == 1;
              CHECK(once);
            }
}

TEST_CASE("tiles: neighbours share the larger operand of a product: rows of inputs, or weights of their channels") {
  const nsk::tile_size size{2, 0, 32};
  const auto range = [&](const nsk::tile_space& s, std::int64_t i) {
    return nsk::range_of_tile(s, size, nsk::tile_grid_of(s, size), i);
  };
  const nsk::tile_space more_pixels{8, 8, 64}, more_channels{8, 8, 96};
  CHECK(range(more_pixels, 1).row_begin == 0);
  CHECK(range(more_pixels, 1).channel_begin == 32);
  CHECK(range(more_pixels, 2).row_begin == 2);
  CHECK(range(more_channels, 1).row_begin == 2);
  CHECK(range(more_channels, 3).row_end == 8);
  CHECK(range(more_channels, 3).channel_begin == 0);
  CHECK(range(more_channels, 4).row_begin == 0);
  CHECK(range(more_channels, 4).channel_begin == 32);
}

TEST_CASE("tiles: up to eight channels at the end stay with the last whole panel") {
  const nsk::tile_space space{1, 1, 40};
  const nsk::tile_size size{0, 0, 16};
  const nsk::tile_grid grid = nsk::tile_grid_of(space, size);
  CHECK(grid.channels == 2);
  CHECK(nsk::range_of_tile(space, size, grid, 1).channel_begin == 16);
  CHECK(nsk::range_of_tile(space, size, grid, 1).channel_end == 40);
  CHECK(nsk::tile_grid_of({1, 1, 41}, size).channels == 3);
  CHECK(nsk::tile_grid_of({1, 1, 24}, size).channels == 1);
}

TEST_CASE("tiles: spaces of any rank") {
  const std::int32_t shape[] = {2, 3, 4, 5};
  CHECK(nsk::tile_space_of(shape, 4).rows == 6);
  CHECK(nsk::tile_space_of(shape, 4).pixels == 4);
  CHECK(nsk::tile_space_of(shape, 4).channels == 5);
  CHECK(nsk::tile_space_of(shape, 1).channels == 2);
  CHECK(nsk::tile_space_of(shape, 1).pixels == 1);
}

}
