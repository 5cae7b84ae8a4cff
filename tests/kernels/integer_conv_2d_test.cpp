// SPDX-License-Identifier: MIT
// integer_conv_2d against sums of int64 over the taps of the definition: sums and real numbers, groups, strides,
// dilations, pads, gaps between pixels, tiles, residuals and functions behind them.
#include <doctest/doctest.h>
#include <netsuke/kernels/int8/integer_conv_2d.hpp>
#include "quantized_support.hpp"

namespace integer_convolutions {
namespace {

using functions = nsk::function_list<nsk::function::clip, nsk::function::tanh>;

struct geometry {
  int images, height, width, channels, outputs, groups;
  nsk::window w;
  bool real, residual, clips;

  int out_h() const { return (height + 2 * w.pad_top - (w.kernel_h - 1) * w.dilation_h - 1) / w.stride_h + 1; }
  int out_w() const { return (width + 2 * w.pad_left - (w.kernel_w - 1) * w.dilation_w - 1) / w.stride_w + 1; }
  bool whole_rows() const { return groups == 1 && w.dilation_w == 1; }
  bool exists() const {
    return height + 2 * w.pad_top > (w.kernel_h - 1) * w.dilation_h &&
           width + 2 * w.pad_left > (w.kernel_w - 1) * w.dilation_w;
  }
};

/// The float that a number of twice its digits rounds to: sums and products of two floats are such.
float rounded(double x) { return static_cast<float>(x); }

class convolution {
 public:
  convolution(const geometry& g, nsk::kernels::quad_products products, std::uint32_t seed) : m_g(g), m_next(seed) {
    const int runs = g.w.kernel_h * (g.whole_rows() ? 1 : g.w.kernel_w);
    const int length = g.channels / g.groups * (g.whole_rows() ? g.w.kernel_w : 1);
    for (int group = 0; group < g.groups; ++group) {
      m_groups.push_back(stored::random_matrix(m_next, g.outputs / g.groups, runs, length,
                                               products == nsk::kernels::quad_products::safe, false));
      stored::matrix& m = m_groups.back();
      for (int c = 0; c < m.channels; ++c) {
        std::int32_t& sum = m.bias[static_cast<std::size_t>(c)] = 0;
        for (int run = 0; run < runs; ++run)
          for (int i = 0; i < length; ++i) sum += m.weight(c, run, i);
      }
      stored::pack(m, m_packed);
    }
    m_packed.resize(m_packed.size() + nsk::over_read);
    const auto pixels = static_cast<std::size_t>(g.images * g.height * g.width);
    for (std::size_t i = 0; i < pixels * static_cast<std::size_t>(g.channels) + nsk::over_read; ++i)
      m_input.push_back(static_cast<std::uint8_t>(m_next.between(0, 255)));
    m_zero = static_cast<float>(m_next.between(0, 255));
    m_scale = std::ldexp(1.5f + 0.5f * m_next(), -7);
    for (int c = 0; c < g.outputs; ++c) m_bias.push_back(m_next());
    const auto outputs = static_cast<std::size_t>(g.images * g.out_h() * g.out_w() * (g.outputs + k_gap));
    m_output.assign(outputs, k_untouched);
    for (std::size_t i = 0; i < outputs; ++i) m_residual.push_back(m_next());
    m_args.w = g.w;
    m_args.groups = g.groups;
    m_args.whole_rows = g.whole_rows();
    m_args.real = g.real;
    m_args.products = products;
    m_args.input = stored::view_of(m_input, g.images, g.height, g.width, g.channels, 0);
    m_args.output = m_args.input;
    m_args.output.data = reinterpret_cast<std::byte*>(m_output.data());
    m_args.output.type = g.real ? nsk::dtype::float32 : nsk::dtype::int32;
    const int shape[4] = {g.images, g.out_h(), g.out_w(), g.outputs};
    const std::ptrdiff_t pixel = g.outputs + k_gap,
                         stride[4] = {pixel * g.out_w() * g.out_h(), pixel * g.out_w(), pixel, 1};
    for (int d = 0; d < 4; ++d) m_args.output.shape[d] = shape[d], m_args.output.stride[d] = stride[d];
    m_args.weights = m_packed.data();
    m_args.zero = &m_zero;
    if (!g.real) return;
    m_args.scale = &m_scale;
    m_args.bias = m_bias.data();
    if (g.clips) m_args.e.fn = nsk::function::clip, m_args.e.alpha = -0.5f, m_args.e.beta = 3;
    if (!g.residual) return;
    m_args.e.residual = m_residual.data();
    for (int d = 0; d < 4; ++d) m_args.e.residual_stride[d] = stride[d];
  }

  /// Computes the output in tiles and compares it; what is between its pixels must stay as it was.
  void check(int rows, int pixels, int channels) {
    const int all = m_g.images * m_g.out_h();
    std::vector<std::byte> scratch(static_cast<std::size_t>(
        nsk::kernels::quantized_conv_2d_scratch_bytes(m_g.w, m_g.channels / m_g.groups, m_g.out_h(), m_g.out_w())));
    for (int r = 0; r < all; r += rows)
      for (int p = 0; p < m_g.out_w(); p += pixels)
        for (int c = 0; c < m_g.outputs; c += channels)
          nsk::kernels::integer_conv_2d<functions>(m_args,
                                                   {r, std::min(r + rows, all), p, std::min(p + pixels, m_g.out_w()), c,
                                                    std::min(c + channels, m_g.outputs)},
                                                   scratch.data());
    int wrong = 0;
    for (int n = 0; n < m_g.images; ++n)
      for (int y = 0; y < m_g.out_h(); ++y)
        for (int x = 0; x < m_g.out_w(); ++x)
          for (int c = 0; c < m_g.outputs + k_gap; ++c) {
            const std::ptrdiff_t at =
                n * m_args.output.stride[0] + y * m_args.output.stride[1] + x * m_args.output.stride[2] + c;
            const std::int32_t want = c < m_g.outputs ? expected(n, y, x, c, at) : k_untouched;
            wrong += m_output[static_cast<std::size_t>(at)] != want;
          }
    CHECK(wrong == 0);
  }

 private:
  static constexpr int k_gap = 3;
  static constexpr std::int32_t k_untouched = 77;

  /// The bits of an element.
  std::int32_t expected(int n, int y, int x, int channel, std::ptrdiff_t at) {
    const int depth = m_g.channels / m_g.groups, outputs = m_g.outputs / m_g.groups, group = channel / outputs;
    stored::matrix& m = m_groups[static_cast<std::size_t>(group)];
    const int c = channel % outputs;
    std::int64_t sum = 0;
    for (int i = 0; i < m_g.w.kernel_h; ++i)
      for (int j = 0; j < m_g.w.kernel_w; ++j)
        for (int k = 0; k < depth; ++k) {
          const int row = y * m_g.w.stride_h - m_g.w.pad_top + i * m_g.w.dilation_h,
                    column = x * m_g.w.stride_w - m_g.w.pad_left + j * m_g.w.dilation_w;
          if (row < 0 || row >= m_g.height || column < 0 || column >= m_g.width) continue;
          const int a = stored::byte_at(m_args.input, n, row, column, group * depth + k) - static_cast<int>(m_zero);
          sum += std::int64_t{a} *
                 (m_g.whole_rows() ? m.weight(c, i, j * depth + k) : m.weight(c, i * m_g.w.kernel_w + j, k));
        }
    if (!m_g.real) return static_cast<std::int32_t>(sum);
    const float scale =
        rounded(static_cast<double>(m_scale) * static_cast<double>(m.scale[static_cast<std::size_t>(c)]));
    float real = rounded(static_cast<double>(rounded(static_cast<double>(sum))) * static_cast<double>(scale));
    real = rounded(static_cast<double>(real) + static_cast<double>(m_bias[static_cast<std::size_t>(channel)]));
    if (m_g.residual)
      real = rounded(static_cast<double>(real) + static_cast<double>(m_residual[static_cast<std::size_t>(at)]));
    if (m_g.clips) real = std::min(std::max(real, -0.5f), 3.0f);
    std::int32_t bits;
    std::memcpy(&bits, &real, sizeof bits);
    return bits;
  }

  geometry m_g;
  random_floats m_next;
  std::vector<stored::matrix> m_groups;
  std::vector<std::byte> m_packed;
  std::vector<std::uint8_t> m_input;
  std::vector<std::int32_t> m_output;
  std::vector<float> m_residual, m_bias;
  float m_zero, m_scale;
  nsk::kernels::integer_conv_2d_args m_args{};
};

}

TEST_CASE("integer_conv_2d: sums and real numbers, windows, groups, tiles") {
  using integer_convolutions::convolution;
  using integer_convolutions::geometry;
  std::uint32_t seed = 1;
  int tested = 0;
  for (const nsk::kernels::quad_products products : stored::all_products())
    for (int i = 0; i < 120; ++i) {
      random_floats next(++seed);
      const int groups = next.between(1, 3);
      geometry g{next.between(1, 2),
                 next.between(1, 9),
                 next.between(1, 11),
                 groups * next.between(1, 9),
                 groups * next.between(1, 35),
                 groups,
                 {},
                 i % 4 != 0,
                 i % 2 == 1,
                 i % 3 == 0};
      g.w = {next.between(1, 4), next.between(1, 4), next.between(1, 3), next.between(1, 3),
             next.between(1, 2), next.between(1, 2), next.between(0, 3), next.between(0, 3)};
      if (!g.exists()) continue;
      convolution(g, products, seed).check(1000, 1000, 1000);
      convolution(g, products, seed).check(next.between(1, 3), next.between(1, 4), g.groups == 1 ? 16 : 1000);
      ++tested;
    }
  CHECK(tested > 100);
}

TEST_CASE("integer_conv_2d: a zero point that is no byte is the nearest one") {
  for (const float zero : {-3.0f, 300.0f, std::nanf(""), 1e30f}) {
    const float want = zero > 0 ? 255.0f : 0.0f;
    CHECK(nsk::kernels::impl::zero_of_bytes(&zero) == static_cast<std::int32_t>(want));
  }
}
}
