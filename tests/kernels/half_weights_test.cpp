// SPDX-License-Identifier: MIT
// Kernels with float16 weights: the bits that float32 panels of the same numbers give.
#include <cmath>
#include <doctest/doctest.h>
#include <netsuke/kernels/conv/conv_2d.hpp>
#include <netsuke/kernels/depthwise/depthwise_conv_2d.hpp>
#include <netsuke/kernels/dense/fully_connected.hpp>
#include <netsuke/kernels/dense/recurrent.hpp>
#include "support.hpp"

namespace {

/// A number that float16 has: normal, or below 2^-14 where `tiny`.
float half_number(random_floats& next, bool tiny) {
  return std::ldexp(static_cast<float>(next.between(-1023, 1023)), tiny ? -24 : next.between(-16, -10));
}
/// The bits of such a number.
nsk::half_bits bits_of(float x) {
  const float magnitude = std::fabs(x);
  int exponent = 0;
  const float fraction = std::frexp(magnitude, &exponent);
  const std::uint32_t bits = magnitude < std::ldexp(1.0f, -14) ? static_cast<std::uint32_t>(std::ldexp(magnitude, 24))
                                                               : static_cast<std::uint32_t>((exponent + 14) << 10) +
                                                                     static_cast<std::uint32_t>(fraction * 2048 - 1024);
  return static_cast<nsk::half_bits>(bits | (std::signbit(x) ? 0x8000u : 0));
}

/// Matrices of random weights as panels of floats and of halves; biases have all digits of a float.
class both_panels {
 public:
  /// Appends a matrix; weights [channel][k].
  void add(random_floats& next, int channels, int depth) {
    matrix.clear();
    for (int i = 0; i < channels * depth; ++i) matrix.push_back(half_number(next, i % 7 == 3));
    bias = next.many(static_cast<std::size_t>(channels));
    const auto count = static_cast<std::size_t>(nsk::panel_floats(channels, depth));
    std::vector<float> packed(count);
    pack(matrix.data(), bias.data(), channels, depth, packed.data());
    m_floats.insert(m_floats.end(), packed.begin(), packed.end());
    const float* from = packed.data();
    for (std::int64_t p = 0; p < nsk::panel_count(channels); ++p) {
      const auto width = static_cast<std::size_t>(nsk::width_of_panel(channels, p));
      const std::size_t at = m_halves.size();
      m_halves.resize(at + 2 * width);
      std::memcpy(m_halves.data() + at, from, width * sizeof(float));
      for (std::size_t i = width; i < width * static_cast<std::size_t>(depth + 1); ++i)
        m_halves.push_back(bits_of(from[i]));
      from += width * static_cast<std::size_t>(depth + 1);
    }
  }
  const void* floats() { return m_floats.insert(m_floats.end(), 32, 0.0f), m_floats.data(); }
  const void* halves() { return m_halves.insert(m_halves.end(), 32, 0x7e00), m_halves.data(); }
  std::vector<float> matrix, bias;  ///< of the last matrix

 private:
  std::vector<float> m_floats;
  std::vector<nsk::half_bits> m_halves;
};

nsk::epilogue some_epilogue(int i) {
  nsk::epilogue e;
  e.fn = i % 3 == 0 ? nsk::function::identity : i % 3 == 1 ? nsk::function::clip : nsk::function::tanh;
  e.beta = 6;
  return e;
}

}

TEST_CASE("half weights: dense layers, every number of rows and channels around the tiles") {
  for (int m : {1, 2, 3, 6, 7, 13, 50, 130})
    for (int n : {1, 8, 16, 17, 24, 40, 64, 72, 100, 136})
      for (int k : {1, 5, 64, 129, 300, 700}) {
        random_floats next(static_cast<std::uint32_t>(m * 1000 + n * 7 + k));
        placed input(1, 1, m, k), wanted(1, 1, m, n), got(1, 1, m, n);
        const std::vector<float> a = next.many(static_cast<std::size_t>(m) * k);
        input.set(a);
        both_panels w;
        w.add(next, n, k);
        const nsk::tile_range whole{0, 1, 0, m, 0, n};
        nsk::kernels::fully_connected({input.view(), wanted.view(), w.floats(), {}}, whole, nullptr);
        nsk::kernels::fully_connected<nsk::kernels::all_kernels, nsk::half_bits>(
            {input.view(), got.view(), w.halves(), {}}, whole, nullptr);
        CHECK(got.damage() == "");
        CHECK(same_bits(got.dense(), wanted.dense()));
        std::vector<float> b(w.matrix.size());
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < k; ++j)
            b[static_cast<std::size_t>(j * n + i)] = w.matrix[static_cast<std::size_t>(i * k + j)];
        const oracle::result expected = oracle::multiply(a, b, w.bias, m, k, n);
        CHECK(oracle::error_units(got.dense(), expected.value, expected.magnitude) < 2 + std::sqrt(k));

        placed split(1, 1, m, n);  // a few rows or many at a time, channels in blocks
        const int rows = m > 128 ? 128 : 1;
        for (int r = 0; r < m; r += rows)
          for (int c = 0; c < n; c += 48)
            nsk::kernels::fully_connected<nsk::kernels::all_kernels, nsk::half_bits>(
                {input.view(), split.view(), w.halves(), {}},
                {0, 1, r, r + rows < m ? r + rows : m, c, c + 48 < n ? c + 48 : n}, nullptr);
        CHECK(same_bits(split.dense(), wanted.dense()));
      }
}

TEST_CASE("half weights: a residual, in a place of its own or that of the output") {
  for (int m : {5, 40, 90, 130})
    for (int n : {16, 24, 32, 72})
      for (int k : {16, 300})
        for (const bool in_place : {false, true}) {
          random_floats next(static_cast<std::uint32_t>(m * 1000 + n * 7 + k));
          placed input(1, 1, m, k), added(1, 1, m, n), wanted(1, 1, m, n), got(1, 1, m, n);
          input.set(next.many(static_cast<std::size_t>(m) * k));
          const std::vector<float> sums = next.many(static_cast<std::size_t>(m) * n);
          for (placed* p : {&added, &wanted, &got}) p->set(sums);
          both_panels w;
          w.add(next, n, k);
          const nsk::tile_range whole{0, 1, 0, m, 0, n};
          const auto plus = [&](placed& y) {
            const nsk::tensor_view r = in_place ? y.view() : added.view();
            nsk::epilogue e = some_epilogue(1);
            e.residual = r.as<float>();
            for (int d = 0; d < 4; ++d) e.residual_stride[d] = r.stride[d];
            return e;
          };
          nsk::kernels::fully_connected({input.view(), wanted.view(), w.floats(), plus(wanted)}, whole, nullptr);
          nsk::kernels::fully_connected<nsk::kernels::all_kernels, nsk::half_bits>(
              {input.view(), got.view(), w.halves(), plus(got)}, whole, nullptr);
          CAPTURE(in_place);
          CHECK(got.damage() == "");
          CHECK(same_bits(got.dense(), wanted.dense()));
        }
}

TEST_CASE("half weights: direct convolutions, with groups, strides and windows outside") {
  for (std::uint32_t seed = 1; seed <= 160; ++seed) {
    random_floats next(seed);
    const bool deep = seed > 120;
    const int kernel = next.between(1, deep ? 3 : 5), stride = next.between(1, 2), pad = kernel / 2,
              groups = next.between(1, deep ? 1 : 3);
    const int h = next.between(kernel, 12), w = next.between(kernel, 12),
              c = groups * (deep ? next.between(60, 300) : next.between(1, 20)),
              channels = groups * next.between(1, 45);
    const int oh = (h + 2 * pad - kernel) / stride + 1, ow = (w + 2 * pad - kernel) / stride + 1;
    const auto b = static_cast<std::uint16_t>(next.between(0, 2));
    placed input(1, h, w, c, {{b, b, b, b}}), wanted(1, oh, ow, channels), got(1, oh, ow, channels);
    input.set(next.many(static_cast<std::size_t>(h) * w * c));
    both_panels panels;
    for (int g = 0; g < groups; ++g) panels.add(next, channels / groups, kernel * kernel * (c / groups));
    const nsk::window win{kernel, kernel, stride, stride, 1, 1, pad, pad};
    const auto direct = nsk::conv_algorithm::direct;
    const nsk::kernels::conv_2d_shape s{h, w, c, oh, ow, channels, groups, {b, b, b, b}, 0, win, direct};
    aligned_floats scratch(static_cast<std::size_t>(nsk::kernels::conv_2d_scratch_bytes(s) / 4));
    const nsk::epilogue e = some_epilogue(static_cast<int>(seed));
    const nsk::tile_range whole{0, oh, 0, ow, 0, channels};
    nsk::kernels::direct_conv_2d<nsk::kernels::all_kernels, float>(
        {{win, groups, direct}, input.view(), wanted.view(), panels.floats(), e}, whole,
        reinterpret_cast<std::byte*>(scratch.data()));
    nsk::kernels::direct_conv_2d<nsk::kernels::all_kernels, nsk::half_bits>(
        {{win, groups, direct}, input.view(), got.view(), panels.halves(), e}, whole,
        reinterpret_cast<std::byte*>(scratch.data()));
    CAPTURE(seed);
    CHECK(got.damage() == "");
    CHECK(same_bits(got.dense(), wanted.dense()));
  }
}

TEST_CASE("half weights: the parts of a deep window are all of it, in order") {
  using nsk::kernels::gemm_runs;
  for (const gemm_runs& all : {gemm_runs{1, 1, 700}, gemm_runs{3, 1, 90, 1000, 0}, gemm_runs{3, 5, 60, 1000, 70},
                               gemm_runs{2, 3, 300, 5000, 400}, gemm_runs{5, 5, 1, 100, 7}})
    for (int maximum : {1, 16, 128, 170, 256}) {
      std::vector<std::ptrdiff_t> wanted, got;
      const auto append = [](std::vector<std::ptrdiff_t>& to, const gemm_runs& r, std::ptrdiff_t offset) {
        for (int y = 0; y < r.lines; ++y)
          for (int x = 0; x < r.columns; ++x)
            for (int k = 0; k < r.length; ++k) to.push_back(offset + y * r.line_stride + x * r.column_stride + k);
      };
      append(wanted, all, 0);
      for (std::size_t k = 0; k < wanted.size(); k = got.size()) {
        const auto part = nsk::kernels::impl::take_runs(all, static_cast<int>(k), maximum);
        append(got, part.runs, part.offset);
        REQUIRE(part.steps >= 1);
        REQUIRE(part.steps <= maximum);
        REQUIRE(got.size() == k + static_cast<std::size_t>(part.steps));
      }
      CHECK(got == wanted);
    }
}

TEST_CASE("half weights: depthwise convolutions") {
  for (std::uint32_t seed = 1; seed <= 240; ++seed) {
    random_floats next(seed);
    const int kernel = next.between(1, 5), stride = next.between(1, 2), pad = kernel / 2, h = next.between(kernel, 14),
              w = next.between(kernel, 16), c = seed > 200 ? next.between(150, 700) : next.between(1, 60);
    const int oh = (h + 2 * pad - kernel) / stride + 1, ow = (w + 2 * pad - kernel) / stride + 1;
    const auto b = static_cast<std::uint16_t>(next.between(0, 2));
    placed input(1, h, w, c, {{b, b, b, b}}), wanted(1, oh, ow, c), got(1, oh, ow, c);
    input.set(next.many(static_cast<std::size_t>(h) * w * c));
    both_panels panels;
    panels.add(next, c, kernel * kernel);
    const nsk::depthwise_conv_2d_params p{{kernel, kernel, stride, stride, 1, 1, pad, pad}};
    const nsk::epilogue e = some_epilogue(static_cast<int>(seed));
    const nsk::tile_range whole{0, oh, 0, ow, 0, c};
    nsk::kernels::depthwise_conv_2d({p, input.view(), wanted.view(), panels.floats(), e}, whole, nullptr);
    nsk::kernels::depthwise_conv_2d<nsk::kernels::all_kernels, nsk::half_bits>(
        {p, input.view(), got.view(), panels.halves(), e}, whole, nullptr);
    CAPTURE(seed);
    CHECK(got.damage() == "");
    CHECK(same_bits(got.dense(), wanted.dense()));
  }
}

TEST_CASE("half weights: recurrent layers of every kind") {
  using nsk::recurrent_kind;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    random_floats next(seed);
    nsk::kernels::recurrent_args a{};
    a.kind = static_cast<recurrent_kind>(seed % 3);
    a.linear_before_reset = a.kind == recurrent_kind::gru && seed % 2 == 0;
    const int batch = next.between(1, 30), steps = next.between(1, 4), directions = next.between(1, 2),
              hidden = next.between(1, 40), gates = nsk::recurrent_gates(a.kind),
              positions = steps + nsk::recurrent_final_rows(a.kind), functions = nsk::recurrent_functions(a.kind);
    a.reverse = static_cast<std::uint32_t>(directions - 1) * 2;
    a.gate_count = directions * functions;
    for (int i = 0; i < a.gate_count; ++i)
      a.gate[i / functions][i % functions].fn = i % functions == 0 && a.kind != recurrent_kind::rnn
                                                    ? nsk::recurrent_function::sigmoid
                                                    : nsk::recurrent_function::tanh;
    placed input(batch, steps, directions, gates * hidden), h(1, batch, directions, hidden),
        c(1, batch, directions, hidden), wanted(batch, positions, directions, hidden),
        got(batch, positions, directions, hidden);
    input.set(next.many(static_cast<std::size_t>(batch * steps * directions * gates * hidden)));
    for (placed* state : {&h, &c}) state->set(next.many(static_cast<std::size_t>(batch * directions * hidden)));
    const auto without_first = [](nsk::tensor_view v) {
      for (int d = 0; d < 3; ++d) v.shape[d] = v.shape[d + 1], v.stride[d] = v.stride[d + 1];
      v.rank = 3;
      return v;
    };
    both_panels panels;
    for (int d = 0; d < directions; ++d) {
      const bool alone = a.kind == recurrent_kind::gru && !a.linear_before_reset;
      panels.add(next, (alone ? 2 : gates) * hidden, hidden);
      if (alone) panels.add(next, hidden, hidden);
    }
    a.input = input.view();
    a.initial_h = without_first(h.view());
    a.initial_c = without_first(c.view());
    std::uint32_t flags = 0;
    a.flags = &flags;
    aligned_floats scratch(static_cast<std::size_t>(nsk::kernels::recurrent_scratch_bytes(a.kind, batch, hidden) / 4));
    auto* const lane = reinterpret_cast<std::byte*>(scratch.data());
    const nsk::tile_range whole{0, batch * positions, 0, directions, 0, hidden};
    a.output = wanted.view();
    a.weights = panels.floats();
    nsk::kernels::recurrent(a, whole, lane);
    a.output = got.view();
    a.weights = panels.halves();
    nsk::kernels::recurrent<nsk::half_bits>(a, whole, lane);
    CAPTURE(seed);
    CHECK(got.damage() == "");
    CHECK(same_bits(got.dense(), wanted.dense()));
  }
}
