// SPDX-License-Identifier: MIT
// quantized_gemm against sums of int64 and the rounding rule in double precision: every way to add products, runs,
// panels, parts of panels.
#include <doctest/doctest.h>
#include <limits>
#include "quantized_support.hpp"

namespace {

using nsk::kernels::quad_products;

enum class values { random, zeros, largest, alternating };

struct problem {
  int rows = 1, channels = 16, lines = 1, columns = 1, length = 4;
  quad_products products = quad_products::exact;
  values inputs = values::random;
  bool extreme_weights = false;
};

/// One product, its operands and what it must give.
class product {
 public:
  explicit product(const problem& p, std::uint32_t seed)
      : m_p(p),
        m_next(seed),
        m_matrix(stored::random_matrix(m_next, p.channels, p.lines * p.columns, p.length,
                                       p.products == quad_products::safe, p.extreme_weights)),
        m_range(stored::random_range(m_next)) {
    make_inputs();
    stored::pack(m_matrix, m_packed);
    m_packed.resize(m_packed.size() + nsk::over_read);
  }

  /// Computes output channels [begin, end) and compares them with the definition; all others must stay as they were.
  void check(int begin, int end) {
    constexpr std::size_t stride = 224;
    std::vector<std::uint8_t> output(static_cast<std::size_t>(m_p.rows) * stride, 77);
    std::vector<nsk::kernels::quad_row> rows;
    for (int r = 0; r < m_p.rows; ++r)
      rows.push_back({m_inputs.data() + start_of(r), output.data() + static_cast<std::size_t>(r) * stride, nullptr, 0});
    const nsk::kernels::quad_runs runs{m_p.lines, m_p.columns, static_cast<int>(nsk::quads_of(m_p.length)),
                                       line_stride(), column_stride()};
    const nsk::kernels::quad_weights weights{m_packed.data(), m_p.channels, m_matrix.quads(), 0, m_p.products};
    nsk::kernels::quantized_gemm(m_p.rows, runs, weights, begin, end, rows.data(), {m_range});
    int wrong = 0;
    for (int r = 0; r < m_p.rows; ++r)
      for (int c = 0; c < static_cast<int>(stride); ++c) {
        const bool inside = c >= begin && c < end;
        const int y = output[static_cast<std::size_t>(r) * stride + static_cast<std::size_t>(c)];
        wrong += y != (inside ? expected(r, c) : 77);
      }
    CHECK(wrong == 0);
  }

 private:
  std::ptrdiff_t column_stride() const { return m_p.length + 3; }
  std::ptrdiff_t line_stride() const { return column_stride() * m_p.columns + 5; }
  std::ptrdiff_t start_of(int row) const { return row * line_stride() * m_p.lines; }

  void make_inputs() {
    m_inputs.resize(static_cast<std::size_t>(start_of(m_p.rows)) + nsk::over_read);
    for (std::size_t i = 0; i < m_inputs.size(); ++i) {
      const int pattern = m_p.inputs == values::zeros || (m_p.inputs == values::alternating && i % 2 == 1) ? 0 : 255;
      m_inputs[i] = static_cast<std::uint8_t>(m_p.inputs == values::random ? m_next.between(0, 255) : pattern);
    }
  }
  int expected(int row, int channel) {
    std::int64_t sum = m_matrix.bias[static_cast<std::size_t>(channel)];
    for (int y = 0; y < m_p.lines; ++y)
      for (int x = 0; x < m_p.columns; ++x)
        for (int i = 0; i < m_p.length; ++i) {
          const std::ptrdiff_t at = start_of(row) + y * line_stride() + x * column_stride() + i;
          sum +=
              std::int64_t{m_inputs[static_cast<std::size_t>(at)]} * m_matrix.weight(channel, y * m_p.columns + x, i);
        }
    REQUIRE((sum < 0 ? -sum : sum) <= std::numeric_limits<std::int32_t>::max());
    return stored::requantised(sum, m_matrix.scale[static_cast<std::size_t>(channel)], m_range);
  }

  problem m_p;
  random_floats m_next;
  stored::matrix m_matrix;
  nsk::simd::u8_range m_range;
  std::vector<std::uint8_t> m_inputs;
  std::vector<std::byte> m_packed;
};

}

TEST_CASE("quantized_gemm: rows, channels, depths") {
  std::uint32_t seed = 1;
  for (const quad_products products : stored::all_products())
    for (int rows = 1; rows <= 19; rows += 3)
      for (int channels = 1; channels <= 57; channels += 4)
        for (const int length : {1, 3, 4, 7, 24, 66})
          product({rows, channels, 1, 1, length, products}, ++seed).check(0, channels);
}

TEST_CASE("quantized_gemm: one row and many panels") {
  std::uint32_t seed = 3000;
  for (const quad_products products : stored::all_products())
    for (const int channels : {64, 72, 80, 104, 128, 143, 216})
      for (const int length : {3, 16, 37}) {
        product one({1, channels, 1, 2, length, products}, ++seed);
        one.check(0, channels);
        one.check(16, channels);
        one.check(3, channels - 5);
      }
}

TEST_CASE("quantized_gemm: windows, parts of panels") {
  std::uint32_t seed = 5000;
  for (const quad_products products : stored::all_products())
    for (const int columns : {1, 3})
      for (const int length : {3, 8, 9}) {
        product one({7, 40, 3, columns, length, products}, ++seed);
        one.check(0, 40);
        one.check(5, 9);
        one.check(16, 33);
        one.check(37, 40);
      }
}

TEST_CASE("quantized_gemm: extreme inputs and weights, up to the depth that int32 holds") {
  std::uint32_t seed = 9000;
  for (const quad_products products : stored::all_products())
    for (const values inputs : {values::zeros, values::largest, values::alternating})
      for (const int length : {1, 2, 5, 64, 65000})
        product({3, 9, 1, 1, length, products, inputs, true}, ++seed).check(0, 9);
}

TEST_CASE("sum_of_bytes: every length, at every place") {
  random_floats next(3);
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 400; ++i) bytes.push_back(static_cast<std::uint8_t>(i % 3 == 0 ? 255 : next.between(0, 255)));
  for (std::size_t first = 0; first < 9; ++first) {
    std::uint32_t want = 0;
    for (std::size_t count = 0; first + count < bytes.size(); ++count) {
      CHECK(nsk::kernels::sum_of_bytes(bytes.data() + first, static_cast<std::int64_t>(count)) == want);
      want += bytes[first + count];
    }
  }
  const std::vector<std::uint8_t> largest(100000, 255);
  CHECK(nsk::kernels::sum_of_bytes(largest.data(), 100000) == 25500000);
}
