// SPDX-License-Identifier: MIT
// quantized_conv_2d against sums of int64 over the taps of the definition: groups, strides, dilations, pads, gaps
// between pixels, tiles, residuals, weights of uint8 with any zero point.
#include <doctest/doctest.h>
#include <netsuke/kernels/int8/quantized_conv_2d.hpp>
#include "quantized_support.hpp"

namespace {

struct geometry {
  int images, height, width, channels, outputs, groups, gap;
  nsk::window w;
  int pad_bottom, pad_right;
  bool residual = false;

  int out_h() const { return (height + w.pad_top + pad_bottom - (w.kernel_h - 1) * w.dilation_h - 1) / w.stride_h + 1; }
  int out_w() const { return (width + w.pad_left + pad_right - (w.kernel_w - 1) * w.dilation_w - 1) / w.stride_w + 1; }
  bool whole_rows() const { return groups == 1 && gap == 0 && w.dilation_w == 1; }
  bool exists() const { return out_h() > 0 && out_w() > 0 && channels % groups == 0 && outputs % groups == 0; }
};

class convolution {
 public:
  convolution(const geometry& g, nsk::kernels::quad_products products, std::uint32_t seed, int weight_zero = 128)
      : m_g(g), m_next(seed) {
    const int runs = g.w.kernel_h * (g.whole_rows() ? 1 : g.w.kernel_w);
    const int length = g.channels / g.groups * (g.whole_rows() ? g.w.kernel_w : 1);
    const bool safe = products == nsk::kernels::quad_products::safe;
    for (int group = 0; group < g.groups; ++group) {
      m_groups.push_back(stored::random_matrix(m_next, g.outputs / g.groups, runs, length, safe, seed % 4 == 3));
      stored::pack(m_groups.back(), m_packed);
    }
    m_packed.resize(m_packed.size() + nsk::over_read);
    const auto pixels = static_cast<std::size_t>(g.images * g.height * g.width);
    for (std::size_t i = 0; i < pixels * static_cast<std::size_t>(g.channels + g.gap) + nsk::over_read; ++i)
      m_input.push_back(static_cast<std::uint8_t>(seed % 5 == 4 ? 255 * m_next.between(0, 1) : m_next.between(0, 255)));
    const auto outputs = static_cast<std::size_t>(g.images * g.out_h() * g.out_w() * (g.outputs + 3));
    m_output.assign(outputs + nsk::over_read, 77);
    m_args.w = g.w;
    m_args.groups = g.groups;
    m_args.whole_rows = g.whole_rows();
    m_args.products = products;
    m_args.weight_offset = 128 - weight_zero;
    stored::set_numbers(m_args, m_next);
    m_args.input = stored::view_of(m_input, g.images, g.height, g.width, g.channels, g.gap);
    m_args.output = stored::view_of(m_output, g.images, g.out_h(), g.out_w(), g.outputs, 3);
    m_args.weights = m_packed.data();
    if (g.residual) add_residual();
  }

  /// Computes the output in tiles and compares it; what is between its pixels must stay as it was.
  void check(int rows, int pixels, int channels) {
    const int all = m_g.images * m_g.out_h();
    std::vector<std::byte> scratch(static_cast<std::size_t>(
        nsk::kernels::quantized_conv_2d_scratch_bytes(m_g.w, m_g.channels / m_g.groups, m_g.out_h(), m_g.out_w())));
    for (int r = 0; r < all; r += rows)
      for (int p = 0; p < m_g.out_w(); p += pixels)
        for (int c = 0; c < m_g.outputs; c += channels)
          nsk::kernels::quantized_conv_2d(m_args,
                                          {r, std::min(r + rows, all), p, std::min(p + pixels, m_g.out_w()), c,
                                           std::min(c + channels, m_g.outputs)},
                                          scratch.data());
    int wrong = 0;
    for (int n = 0; n < m_g.images; ++n)
      for (int y = 0; y < m_g.out_h(); ++y)
        for (int x = 0; x < m_g.out_w(); ++x)
          for (int c = 0; c < m_g.outputs + 3; ++c)
            wrong += stored::byte_at(m_args.output, n, y, x, c) != (c < m_g.outputs ? expected(n, y, x, c) : 77);
    CHECK(wrong == 0);
  }

 private:
  void add_residual() {
    constexpr int gap = 2;
    const auto pixels = static_cast<std::size_t>(m_g.images * m_g.out_h() * m_g.out_w());
    for (std::size_t i = 0; i < pixels * static_cast<std::size_t>(m_g.outputs + gap) + nsk::over_read; ++i)
      m_residual.push_back(static_cast<std::uint8_t>(m_next.between(0, 255)));
    m_args.residual = stored::view_of(m_residual, m_g.images, m_g.out_h(), m_g.out_w(), m_g.outputs, gap);
    m_args.residual_scale = std::ldexp(1.5f + 0.5f * m_next(), -m_next.between(0, 3));
    m_args.residual_zero = m_next.between(0, 255);
  }
  std::uint8_t expected(int n, int y, int x, int channel) {
    const int depth = m_g.channels / m_g.groups, outputs = m_g.outputs / m_g.groups, group = channel / outputs;
    stored::matrix& m = m_groups[static_cast<std::size_t>(group)];
    const int c = channel % outputs;
    std::int64_t sum = m.bias[static_cast<std::size_t>(c)];
    for (int i = 0; i < m_g.w.kernel_h; ++i)
      for (int j = 0; j < m_g.w.kernel_w; ++j)
        for (int k = 0; k < depth; ++k) {
          const int row = y * m_g.w.stride_h - m_g.w.pad_top + i * m_g.w.dilation_h,
                    column = x * m_g.w.stride_w - m_g.w.pad_left + j * m_g.w.dilation_w;
          const bool inside = row >= 0 && row < m_g.height && column >= 0 && column < m_g.width;
          const int a = inside ? stored::byte_at(m_args.input, n, row, column, group * depth + k) : m_args.input_zero;
          const int w = m_g.whole_rows() ? m.weight(c, i, j * depth + k) : m.weight(c, i * m_g.w.kernel_w + j, k);
          sum += std::int64_t{a} * (w + m_args.weight_offset);
        }
    const int residual = m_g.residual ? stored::byte_at(m_args.residual, n, y, x, channel) - m_args.residual_zero : 0;
    return stored::requantised(sum, m.scale[static_cast<std::size_t>(c)], stored::range_of(m_args), residual,
                               m_args.residual_scale);
  }

  geometry m_g;
  random_floats m_next;
  std::vector<stored::matrix> m_groups;
  std::vector<std::byte> m_packed;
  std::vector<std::uint8_t> m_input, m_output, m_residual;
  nsk::kernels::quantized_conv_2d_args m_args{};
};

}

geometry random_geometry(random_floats& next) {
  const int groups = next.between(1, 3);
  geometry g{next.between(1, 2),           next.between(1, 9),
             next.between(1, 11),          groups * next.between(1, 9),
             groups * next.between(1, 21), groups,
             next.between(-3, 3),          {},
             next.between(0, 3),           next.between(0, 3)};
  if (g.gap < 0) g.gap = 0;
  g.w = {next.between(1, 4), next.between(1, 4), next.between(1, 3), next.between(1, 3),
         next.between(1, 2), next.between(1, 2), next.between(0, 3), next.between(0, 3)};
  return g;
}

TEST_CASE("quantized_conv_2d: windows, groups, gaps, tiles") {
  std::uint32_t seed = 1;
  int tested = 0;
  for (const nsk::kernels::quad_products products : stored::all_products())
    for (int i = 0; i < 120; ++i) {
      random_floats next(++seed);
      geometry g = random_geometry(next);
      g.residual = i % 2 == 1;
      if (!g.exists()) continue;
      convolution one(g, products, seed);
      one.check(1000, 1000, 1000);
      convolution(g, products, seed).check(next.between(1, 3), next.between(1, 4), next.between(1, 20));
      ++tested;
    }
  CHECK(tested > 100);
}

TEST_CASE("quantized_conv_2d: weights of uint8 with every zero point") {
  std::uint32_t seed = 7000;
  int tested = 0;
  for (const nsk::kernels::quad_products products : stored::all_products())
    for (int zero = 0; zero <= 255; ++zero) {
      random_floats next(++seed);
      geometry g = random_geometry(next);
      g.residual = zero % 3 == 1;
      if (!g.exists()) continue;
      convolution(g, products, seed, zero).check(1000, 1000, 1000);
      convolution(g, products, seed, zero).check(next.between(1, 3), next.between(1, 4), next.between(1, 20));
      ++tested;
    }
  CHECK(tested > 200);
}

TEST_CASE("quantized_conv_2d: images that are several patches") {
  std::uint32_t seed = 9000;
  const auto products = nsk::kernels::quad_products::exact;
  for (const int gap : {0, 2})
    for (const nsk::window& w : {nsk::window{3, 3, 1, 1, 1, 1, 1, 1}, nsk::window{3, 2, 2, 1, 1, 1, 0, 1},
                                 nsk::window{2, 3, 1, 2, 1, 1, 1, 0}, nsk::window{3, 3, 1, 1, 2, 3, 2, 3}}) {
      convolution({2, 52, 67, 20, 9, 1, gap, w, 1, 1}, products, ++seed).check(1000, 1000, 1000);  // rows by rows
      convolution({1, 3, 1500, 18, 9, 1, gap, w, 1, 1}, products, ++seed).check(2, 1000, 1000);    // parts of rows
      convolution({1, 4, 5, 9000, 9, 1, gap, w, 1, 1}, products, ++seed).check(1000, 1000, 1000);  // single windows
    }
}

TEST_CASE("quantized_conv_2d: one pixel with many channels") {
  std::uint32_t seed = 9500;
  for (const nsk::kernels::quad_products products : stored::all_products())
    for (const int zero : {128, 200})
      for (const bool residual : {false, true})
        convolution({1, 1, 1, 40, 150, 1, 0, {1, 1, 1, 1, 1, 1, 0, 0}, 0, 0, residual}, products, ++seed, zero)
            .check(1000, 1000, 1000);
}
