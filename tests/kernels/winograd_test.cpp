// SPDX-License-Identifier: MIT
#include <algorithm>
#include <doctest/doctest.h>
#include <netsuke/kernels/conv/conv_2d.hpp>
#include "../model/winograd_matrix.hpp"
#include "support.hpp"

namespace {

using test::evaluation_points;

struct winograd_case {
  nsk::conv_algorithm algorithm;
  int n, h, w, c, channels, pad_top = 1, pad_left = 1, pad_bottom = 1, pad_right = 1, groups = 1;
  layout input{}, output{};
};

struct prepared_winograd {
  winograd_case k;
  oracle::conv p;
  std::vector<float> x, weights, bias;
  oracle::result expected;
  aligned_floats packed;
  placed input;

  explicit prepared_winograd(const winograd_case& c)
      : k(c),
        packed(static_cast<std::size_t>(c.groups) *
               nsk::winograd_floats(c.algorithm, c.channels / c.groups, c.c / c.groups)),
        input(c.n, c.h, c.w, c.c, c.input) {
    p.kernel_h = p.kernel_w = 3;
    p.pad_top = c.pad_top, p.pad_left = c.pad_left, p.pad_bottom = c.pad_bottom, p.pad_right = c.pad_right,
    p.groups = c.groups;
    random_floats next(4);
    const int depth = c.c / c.groups;
    x = next.many(static_cast<std::size_t>(c.n) * c.h * c.w * c.c);
    weights = next.many(static_cast<std::size_t>(c.channels) * 9 * depth);
    bias = next.many(c.channels);
    oracle::image dense(c.n, c.h, c.w, c.c);
    dense.v = widen(x);
    expected = oracle::conv_2d(dense, weights, bias, c.channels, p);
    const auto g = evaluation_points(c.algorithm);
    const int points = nsk::winograd_points(c.algorithm), side = static_cast<int>(g.size()),
              per_group = c.channels / c.groups;
    std::vector<float> u(static_cast<std::size_t>(per_group) * points * depth);  // [channel][point][depth]
    for (int group = 0; group < c.groups; ++group) {
      for (int o = 0; o < per_group; ++o)
        for (int i = 0; i < points; ++i)
          for (int d = 0; d < depth; ++d) {
            double sum = 0;
            for (int a = 0; a < 3; ++a)
              for (int b = 0; b < 3; ++b)
                sum += g[i / side][a] * g[i % side][b] *
                       weights[static_cast<std::size_t>(((group * per_group + o) * 3 + a) * 3 + b) * depth + d];
            u[static_cast<std::size_t>(o * points + i) * depth + d] = static_cast<float>(sum);
          }
      pack(u.data(), bias.data() + group * per_group, per_group, points * depth,
           packed.data() + group * nsk::winograd_floats(c.algorithm, per_group, depth));
    }
    input.set(x);
    // The transforms mix a whole cell, so errors are proportional to the largest magnitude in it.
    const double largest = *std::max_element(expected.magnitude.v.begin(), expected.magnitude.v.end());
    std::fill(expected.magnitude.v.begin(), expected.magnitude.v.end(), largest);
  }
  placed make_output() const { return placed(k.n, expected.value.h, expected.value.w, k.channels, k.output); }
  void run(placed& output, const nsk::epilogue& e, int th, int tw, int tc) {
    const nsk::window w{3, 3, 1, 1, 1, 1, k.pad_top, k.pad_left};
    const int oh = expected.value.h, ow = expected.value.w;
    const nsk::kernels::conv_2d_shape s{k.h,          k.w, k.c,        oh, ow, k.channels, k.groups, k.input.border,
                                        k.input.fill, w,   k.algorithm};
    aligned_floats scratch(static_cast<std::size_t>(nsk::kernels::conv_2d_scratch_bytes(s) / 4));
    for (int r = (k.n * oh - 1) / th * th; r >= 0; r -= th)
      for (int x0 = 0; x0 < ow; x0 += tw)
        for (int c = 0; c < k.channels; c += tc)
          nsk::kernels::conv_2d(
              {{w, k.groups, k.algorithm}, input.view(), output.view(), packed.data(), e},
              {r, std::min(k.n * oh, r + th), x0, std::min(ow, x0 + tw), c, std::min(k.channels, c + tc)},
              reinterpret_cast<std::byte*>(scratch.data()));
  }
};

void check(const winograd_case& c) {
  CAPTURE(static_cast<int>(c.algorithm));
  CAPTURE(c.n);
  CAPTURE(c.h);
  CAPTURE(c.w);
  CAPTURE(c.c);
  CAPTURE(c.channels);
  CAPTURE(c.groups);
  CAPTURE(c.pad_top);
  CAPTURE(c.pad_left);
  prepared_winograd p(c);
  placed output = p.make_output();
  p.run(output, {}, 1 << 20, 1 << 20, 1 << 20);
  CHECK(output.damage() == "");
  const std::vector<float> got = output.dense();
  CHECK(oracle::error_units(got, p.expected.value, p.expected.magnitude) <
        (c.algorithm == nsk::conv_algorithm::winograd4 ? 60 : 6));
  for (int size : {1, 3, 4}) {
    placed split = p.make_output();
    p.run(split, {}, size, 2 * size + 1, 16 * size);
    CHECK(split.damage() == "");
    CHECK(same_bits(split.dense(), got));
  }
}

}

TEST_CASE("winograd: channels around the register widths") {
  for (auto algorithm : {nsk::conv_algorithm::winograd4, nsk::conv_algorithm::winograd2})
    for (int channels : {1, 7, 8, 9, 16, 17, 24, 31, 40})
      for (int c : {1, 5, 8, 17, 100}) check({algorithm, 1, 7, 9, c, channels});
}

TEST_CASE("winograd: sizes, padding, borders, slices, groups and batches") {
  random_floats next(5);
  for (int i = 0; i < 150; ++i) {
    winograd_case c{next.between(0, 1) ? nsk::conv_algorithm::winograd4 : nsk::conv_algorithm::winograd2,
                    next.between(1, 3),
                    next.between(1, 14),
                    next.between(1, 30),
                    next.between(1, 20),
                    next.between(1, 20)};
    c.pad_top = next.between(0, 2), c.pad_left = next.between(0, 2), c.pad_bottom = next.between(0, 2),
    c.pad_right = next.between(0, 2);
    if (c.h + c.pad_top + c.pad_bottom < 3 || c.w + c.pad_left + c.pad_right < 3) continue;
    if (next.between(0, 3) == 0) c.groups = 2, c.c *= 2, c.channels *= 2;
    const auto side = [&] { return static_cast<std::uint16_t>(next.between(0, 3)); };
    if (next.between(0, 1)) c.input.border = {side(), side(), side(), side()};
    if (next.between(0, 3) == 0) c.input.fill = 5;
    if (next.between(0, 2) == 0)
      c.input.channels_before = next.between(0, 9), c.input.channels_after = next.between(0, 9);
    if (next.between(0, 2) == 0)
      c.output.channels_before = next.between(0, 9), c.output.channels_after = next.between(0, 9);
    if (next.between(0, 1)) c.output.border = {side(), side(), side(), side()}, c.output.fill = next();
    check(c);
  }
}

TEST_CASE("winograd: residual and functions") {
  for (nsk::function f : {nsk::function::identity, nsk::function::clip, nsk::function::leaky_relu, nsk::function::silu})
    for (bool first : {false, true}) {
      prepared_winograd p({nsk::conv_algorithm::winograd4, 2, 6, 9, 8, 21});
      random_floats next(2);
      const std::vector<float> added = next.many(p.expected.value.v.size());
      placed residual(2, 6, 9, 21, {{1, 2, 1, 2}, 0, 3, 1}), output = p.make_output();
      residual.set(added);
      nsk::epilogue e;
      e.fn = f;
      e.alpha = f == nsk::function::clip ? -0.5f : 0.5f;
      e.beta = 0.5f;
      e.activation_first = first;
      e.residual = residual.view().as<float>();
      std::copy(residual.strides(), residual.strides() + 4, e.residual_stride);
      p.run(output, e, 5, 100, 100);
      oracle::image expected = p.expected.value, magnitude = p.expected.magnitude;
      for (std::size_t i = 0; i < added.size(); ++i) {
        double x = expected.v[i] + (first ? 0 : added[i]);
        if (f == nsk::function::clip) x = std::min(std::max(x, -0.5), 0.5);
        if (f == nsk::function::leaky_relu) x = x < 0 ? x / 2 : x;
        if (f == nsk::function::silu) x = x / (1 + std::exp(-x));
        expected.v[i] = x + (first ? added[i] : 0);
        magnitude.v[i] += std::fabs(added[i]);
      }
      CHECK(oracle::error_units(output.dense(), expected, magnitude) < 60);
    }
}
