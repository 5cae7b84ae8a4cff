// SPDX-License-Identifier: MIT
// quantized_depthwise_conv_2d against sums of int64 over the taps of the definition: kernels, strides, dilations, pads,
// channels around a block of vectors, gaps between pixels, tiles, weights of uint8 with zero points.
#include <doctest/doctest.h>
#include <netsuke/kernels/int8/quantized_depthwise_conv_2d.hpp>
#include "quantized_support.hpp"

namespace {

struct depthwise_geometry {
  int images, height, width, channels, gap;
  nsk::window w;
  int pad_bottom, pad_right;

  int out_h() const { return (height + w.pad_top + pad_bottom - (w.kernel_h - 1) * w.dilation_h - 1) / w.stride_h + 1; }
  int out_w() const { return (width + w.pad_left + pad_right - (w.kernel_w - 1) * w.dilation_w - 1) / w.stride_w + 1; }
  bool exists() const { return out_h() > 0 && out_w() > 0; }
};

class depthwise_of_bytes {
 public:
  /// Weights on places of quads, `safe` where a pair of any two is.
  depthwise_of_bytes(const depthwise_geometry& g, nsk::kernels::quad_products products, std::uint32_t seed,
                     int weight_offset = 0)
      : m_g(g),
        m_next(seed),
        m_matrix(stored::random_matrix(m_next, g.channels, groups() * g.w.kernel_w, 4,
                                       products == nsk::kernels::quad_products::safe, seed % 3 == 0)) {
    stored::pack(m_matrix, m_packed);
    m_packed.resize(m_packed.size() + nsk::over_read);
    const auto pixels = static_cast<std::size_t>(g.images * g.height * g.width);
    for (std::size_t i = 0; i < pixels * static_cast<std::size_t>(g.channels + g.gap) + nsk::over_read; ++i)
      m_input.push_back(static_cast<std::uint8_t>(seed % 3 == 1 ? 255 : m_next.between(0, 255)));
    const auto outputs = static_cast<std::size_t>(g.images * g.out_h() * g.out_w() * (g.channels + 3));
    m_output.assign(outputs + nsk::over_read, 77);
    m_args.w = g.w;
    m_args.products = products;
    m_args.weight_offset = weight_offset;
    stored::set_numbers(m_args, m_next);
    m_args.input = stored::view_of(m_input, g.images, g.height, g.width, g.channels, g.gap);
    m_args.output = stored::view_of(m_output, g.images, g.out_h(), g.out_w(), g.channels, 3);
    m_args.weights = m_packed.data();
  }

  /// Computes the output in tiles and compares it; what is between its pixels must stay as it was.
  void check(int rows, int pixels, int channels) {
    const int all = m_g.images * m_g.out_h();
    std::vector<std::byte> memory(static_cast<std::size_t>(nsk::kernels::quantized_depthwise_conv_2d_scratch_bytes(
                                      m_g.w, m_args.weight_offset != 0)) +
                                  64);
    std::byte* const scratch = memory.data() + 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
    for (int r = 0; r < all; r += rows)
      for (int p = 0; p < m_g.out_w(); p += pixels)
        for (int c = 0; c < m_g.channels; c += channels)
          nsk::kernels::quantized_depthwise_conv_2d(m_args,
                                                    {r, std::min(r + rows, all), p, std::min(p + pixels, m_g.out_w()),
                                                     c, std::min(c + channels, m_g.channels)},
                                                    scratch);
    int wrong = 0;
    for (int n = 0; n < m_g.images; ++n)
      for (int y = 0; y < m_g.out_h(); ++y)
        for (int x = 0; x < m_g.out_w(); ++x)
          for (int c = 0; c < m_g.channels + 3; ++c)
            wrong += stored::byte_at(m_args.output, n, y, x, c) != (c < m_g.channels ? expected(n, y, x, c) : 77);
    CHECK(wrong == 0);
  }

 private:
  int groups() const { return nsk::depthwise_places(m_g.w.kernel_h) / 4; }
  std::uint8_t expected(int n, int y, int x, int channel) {
    std::int64_t sum = m_matrix.bias[static_cast<std::size_t>(channel)];
    for (int place = 0; place < 4 * groups(); ++place)
      for (int j = 0; j < m_g.w.kernel_w; ++j) {
        const int row =
                      y * m_g.w.stride_h - m_g.w.pad_top + nsk::row_of_place(place, m_g.w.kernel_h) * m_g.w.dilation_h,
                  column = x * m_g.w.stride_w - m_g.w.pad_left + j * m_g.w.dilation_w;
        const bool inside = row >= 0 && row < m_g.height && column >= 0 && column < m_g.width;
        const int a = inside ? stored::byte_at(m_args.input, n, row, column, channel) : m_args.input_zero;
        const bool first =
            place == 0 || nsk::row_of_place(place - 1, m_g.w.kernel_h) != nsk::row_of_place(place, m_g.w.kernel_h);
        const int offset = first ? m_args.weight_offset : 0;  // of the row, whose weight may be cut in two
        sum += std::int64_t{a} * (m_matrix.weight(channel, place / 4 * m_g.w.kernel_w + j, place % 4) + offset);
      }
    return stored::requantised(sum, m_matrix.scale[static_cast<std::size_t>(channel)], stored::range_of(m_args));
  }

  depthwise_geometry m_g;
  random_floats m_next;
  stored::matrix m_matrix;
  std::vector<std::byte> m_packed;
  std::vector<std::uint8_t> m_input, m_output;
  nsk::kernels::quantized_depthwise_conv_2d_args m_args{};
};

}

TEST_CASE("quantized_depthwise_conv_2d: the largest window has its rows in order") {
  const int kernel = 65535, places = nsk::depthwise_places(kernel);
  CHECK(nsk::row_of_place(places - 1, kernel) == kernel - 1);
  CHECK(nsk::row_of_place(places / 2, kernel) == kernel / 2);
}

TEST_CASE("quantized_depthwise_conv_2d: every row of a window has a place, in order") {
  for (int kernel = 1; kernel <= 40; ++kernel) {
    CHECK(nsk::row_of_place(0, kernel) == 0);
    CHECK(nsk::row_of_place(nsk::depthwise_places(kernel) - 1, kernel) == kernel - 1);
    for (int i = 1; i < nsk::depthwise_places(kernel); ++i) {
      const int step = nsk::row_of_place(i, kernel) - nsk::row_of_place(i - 1, kernel);
      CHECK(step >= 0);
      CHECK(step <= 1);
    }
  }
}

depthwise_geometry random_depthwise(random_floats& next, int i) {
  depthwise_geometry g{next.between(1, 2),   next.between(1, 12), next.between(1, 14),
                       next.between(1, 150), next.between(-3, 3), {},
                       next.between(0, 3),   next.between(0, 3)};
  if (g.gap < 0) g.gap = 0;
  const int kernel = i % 2 == 0 ? 3 : next.between(1, 6), dilation = i % 4 < 2 ? 1 : 2;
  g.w = {kernel,
         i % 2 == 0 ? 3 : next.between(1, 5),
         next.between(1, 3),
         next.between(1, 3),
         dilation,
         i % 8 < 5 ? 1 : 2,
         next.between(0, 3),
         next.between(0, 3)};
  return g;
}

TEST_CASE("quantized_depthwise_conv_2d: windows, channels, gaps, tiles") {
  std::uint32_t seed = 1;
  int tested = 0;
  for (const nsk::kernels::quad_products products : stored::all_products())
    for (int i = 0; i < 200; ++i) {
      random_floats next(++seed);
      const depthwise_geometry g = random_depthwise(next, i);
      if (!g.exists()) continue;
      depthwise_of_bytes(g, products, seed).check(1000, 1000, 1000);
      depthwise_of_bytes(g, products, seed).check(next.between(1, 3), next.between(1, 6), next.between(1, 80));
      ++tested;
    }
  CHECK(tested > 200);
}

TEST_CASE("quantized_depthwise_conv_2d: every offset of the weights") {
  std::uint32_t seed = 7000;
  int tested = 0;
  for (const nsk::kernels::quad_products products : stored::all_products())
    for (int offset = -128; offset <= 127; ++offset) {
      random_floats next(++seed);
      const depthwise_geometry g = random_depthwise(next, offset + 128);
      if (!g.exists()) continue;
      depthwise_of_bytes(g, products, seed, offset).check(1000, 1000, 1000);
      depthwise_of_bytes(g, products, seed, offset).check(next.between(1, 3), next.between(1, 6), next.between(1, 80));
      ++tested;
    }
  CHECK(tested > 200);
}
