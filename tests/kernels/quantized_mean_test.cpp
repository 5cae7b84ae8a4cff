// SPDX-License-Identifier: MIT
// quantized_mean: numbers of channels around a register and a block, gaps between pixels, both ends of the range,
// tiles.
#include <algorithm>
#include <doctest/doctest.h>
#include <netsuke/format/limits.hpp>
#include <netsuke/kernels/int8/quantized_mean.hpp>
#include "quantized_support.hpp"

namespace {

struct image {
  int images, height, width, channels, gap;
  bool extreme;  ///< all numbers are the largest
};

void check(const image& g, std::uint32_t seed) {
  random_floats next(seed);
  std::vector<std::uint8_t> input(static_cast<std::size_t>(g.images * g.height * g.width) *
                                      static_cast<std::size_t>(g.channels + g.gap) +
                                  nsk::over_read);
  for (std::uint8_t& b : input) b = static_cast<std::uint8_t>(g.extreme ? 255 : next.between(0, 255));
  std::vector<std::uint8_t> output(static_cast<std::size_t>(g.images * (g.channels + 3)), 77);
  nsk::kernels::quantized_mean_args a{};
  stored::set_numbers(a, next);
  a.scale = std::ldexp(1.5f + 0.5f * next(), g.extreme ? 1 : -next.between(0, 3));
  a.input = stored::view_of(input, g.images, g.height, g.width, g.channels, g.gap);
  a.output = stored::view_of(output, g.images, 1, 1, g.channels, 3);
  const int rows = next.between(1, 2), channels = 16 * next.between(1, 6);
  for (int n = 0; n < g.images; n += rows)
    for (int c = 0; c < g.channels; c += channels)
      nsk::kernels::quantized_mean(a, {n, std::min(n + rows, g.images), 0, 1, c, std::min(c + channels, g.channels)},
                                   nullptr);
  int wrong = 0;
  for (int n = 0; n < g.images; ++n)
    for (int c = 0; c < g.channels + 3; ++c) {
      std::int64_t sum = 0;
      for (int y = 0; y < g.height && c < g.channels; ++y)
        for (int x = 0; x < g.width; ++x) sum += stored::byte_at(a.input, n, y, x, c) - a.input_zero;
      const auto mean = static_cast<float>(static_cast<double>(sum) / (g.height * g.width)),
                 units = static_cast<float>(static_cast<double>(mean) / static_cast<double>(a.scale));
      const double y = std::nearbyint(static_cast<double>(units)) + a.zero;
      const int want = c < g.channels ? static_cast<int>(y < a.low ? a.low : y > a.high ? a.high : y) : 77;
      wrong += stored::byte_at(a.output, n, 0, 0, c) != want;
    }
  CHECK(wrong == 0);
}

}

TEST_CASE("quantized_mean: every number of channels, gaps, tiles, sums up to 2^24") {
  for (int i = 1; i <= 150; ++i)
    check({1 + i % 3, 1 + i % 7, 1 + i % 5, i, i % 4, false}, static_cast<std::uint32_t>(i));
  for (int i = 1; i <= 40; ++i) check({2, 7, 7, i * 9, 0, i % 8 == 0}, static_cast<std::uint32_t>(1000 + i));
  check({1, 257, 256, 5, 0, true}, 7);
  check({1, 1, static_cast<int>(nsk::impl::max_mean_pixels), 17, 0, false}, 8);
}
