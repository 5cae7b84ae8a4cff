// SPDX-License-Identifier: MIT
// Products with int8 weights and a scale for each channel against their definition, a chain of fused multiply-adds, in
// every bit: all heights and widths of tiles, parts of panels.
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <netsuke/kernels/dense/fully_connected.hpp>
#include <vector>
#include "support.hpp"

namespace {

/// One dense layer: int8 weights [depth][channels].
struct dense_of_bytes {
  int rows, depth, channels;
  std::vector<float> x, bias, scale;
  std::vector<std::int8_t> weights;
  std::vector<std::byte> packed;

  dense_of_bytes(int r, int d, int c, std::uint32_t seed) : rows(r), depth(d), channels(c) {
    random_floats next(seed);
    for (int i = 0; i < r * d; ++i) x.push_back(next());
    for (int i = 0; i < d * c; ++i) weights.push_back(static_cast<std::int8_t>(next.between(-127, 127)));
    for (int i = 0; i < c; ++i) bias.push_back(next()), scale.push_back(0.01f * (1.5f + next()));
    pack();
  }

  /// As format/packing.hpp says.
  void pack() {
    packed.resize(static_cast<std::size_t>(nsk::panel_elements<std::int8_t>(channels, depth)) + nsk::over_read);
    for (int c = 0; c < channels; ++c) {
      const int last = static_cast<int>(nsk::panel_count(channels)) - 1, panel = std::min(c / nsk::panel_width, last);
      const int width = static_cast<int>(nsk::width_of_panel(channels, panel)), in = c - panel * nsk::panel_width;
      std::byte* const at = packed.data() + std::ptrdiff_t{nsk::panel_width} * panel * (depth + 8);
      std::memcpy(at + 4 * in, &bias[static_cast<std::size_t>(c)], 4);
      std::memcpy(at + 4 * (width + in), &scale[static_cast<std::size_t>(c)], 4);
      for (int k = 0; k < depth; ++k)
        std::memcpy(at + 8 * width + k * width + in, &weights[static_cast<std::size_t>(k * channels + c)], 1);
    }
  }
  float expected(int row, int c) const {
    float sum = 0;
    for (int k = 0; k < depth; ++k)
      sum = std::fma(x[static_cast<std::size_t>(row * depth + k)],
                     static_cast<float>(weights[static_cast<std::size_t>(k * channels + c)]), sum);
    return std::fma(sum, scale[static_cast<std::size_t>(c)], bias[static_cast<std::size_t>(c)]);
  }
  nsk::tensor_view view(std::vector<float>& memory, int last) const {
    nsk::tensor_view v{};
    v.data = reinterpret_cast<std::byte*>(memory.data());
    v.rank = 2;
    v.shape[0] = rows, v.shape[1] = last;
    v.stride[0] = last, v.stride[1] = 1;
    return v;
  }

  /// Number of results that differ from the definition, computed by `tile` rows and `columns` channels at a time.
  int wrong(int tile, int columns) {
    std::vector<float> y(static_cast<std::size_t>(rows * channels), 77.0f);
    x.resize(x.size() + nsk::over_read / sizeof(float));
    nsk::kernels::fully_connected_args a{view(x, depth), view(y, channels), packed.data(), {}};
    for (int r = 0; r < rows; r += tile)
      for (int c = 0; c < channels; c += columns)
        nsk::kernels::fully_connected<nsk::kernels::all_kernels, std::int8_t>(
            a, {0, 1, r, std::min(r + tile, rows), c, std::min(c + columns, channels)}, nullptr);
    int count = 0;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < channels; ++c) {
        const float want = expected(r, c);
        count += std::memcmp(&want, &y[static_cast<std::size_t>(r * channels + c)], sizeof want) != 0;
      }
    return count;
  }
};

}

TEST_CASE("int8 weights: every height and width of tiles, in every bit") {
  std::uint32_t seed = 1;
  int cases = 0, wrong = 0;
  for (const int rows : {1, 2, 3, 4, 5, 6, 7, 8, 13, 49, 100})
    for (const int channels : {1, 5, 8, 9, 16, 17, 24, 25, 32, 40, 64, 90})
      for (const int depth : {1, 2, 7, 40}) {
        wrong += dense_of_bytes(rows, depth, channels, ++seed).wrong(1000, 1000);
        ++cases;
      }
  CHECK(wrong == 0);
  CHECK(cases > 500);
}

TEST_CASE("int8 weights: tiles of a layer, depths that leave the caches") {
  CHECK(dense_of_bytes(1, 3000, 300, 1).wrong(1, 64) == 0);
  CHECK(dense_of_bytes(2, 3000, 100, 2).wrong(1, 32) == 0);
  CHECK(dense_of_bytes(30, 300, 100, 3).wrong(7, 48) == 0);
  CHECK(dense_of_bytes(9, 33, 70, 4).wrong(4, 16) == 0);
}
