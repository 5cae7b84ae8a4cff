// SPDX-License-Identifier: MIT
#include <algorithm>
#include <doctest/doctest.h>
#include <netsuke/kernels/depthwise/depthwise_conv_2d.hpp>
#include "support.hpp"

namespace {

struct depthwise_case {
  int n, h, w, c;
  oracle::conv p;
  layout input{}, output{};
};

struct prepared_depthwise {
  depthwise_case k;
  std::vector<float> x, weights, bias;
  oracle::result expected;
  aligned_floats packed;
  placed input;

  explicit prepared_depthwise(depthwise_case c)
      : k(c), packed(nsk::panel_floats(c.c, c.p.kernel_h * c.p.kernel_w)), input(c.n, c.h, c.w, c.c, c.input) {
    random_floats next(9);
    const int taps = c.p.kernel_h * c.p.kernel_w;
    x = next.many(static_cast<std::size_t>(c.n) * c.h * c.w * c.c);
    weights = next.many(static_cast<std::size_t>(c.c) * taps);
    bias = next.many(c.c);
    oracle::image dense(c.n, c.h, c.w, c.c);
    dense.v = widen(x);
    oracle::conv p = c.p;
    p.groups = c.c;
    expected = oracle::conv_2d(dense, weights, bias, c.c, p);
    pack(weights.data(), bias.data(), c.c, taps, packed.data());
    input.set(x);
  }
  placed make_output() const { return placed(k.n, expected.value.h, expected.value.w, k.c, k.output); }
  void run(placed& output, const nsk::epilogue& e, int th, int tw, int tc) {
    const nsk::window w{k.p.kernel_h,   k.p.kernel_w,   k.p.stride_h, k.p.stride_w,
                        k.p.dilation_h, k.p.dilation_w, k.p.pad_top,  k.p.pad_left};
    const int rows = k.n * expected.value.h, pixels = expected.value.w;
    for (int r = (rows - 1) / th * th; r >= 0; r -= th)
      for (int x0 = 0; x0 < pixels; x0 += tw)
        for (int c = 0; c < k.c; c += tc)
          nsk::kernels::depthwise_conv_2d(
              {{w}, input.view(), output.view(), packed.data(), e},
              {r, std::min(rows, r + th), x0, std::min(pixels, x0 + tw), c, std::min(k.c, c + tc)}, nullptr);
  }
};

void check(const depthwise_case& c) {
  CAPTURE(c.n);
  CAPTURE(c.h);
  CAPTURE(c.w);
  CAPTURE(c.c);
  CAPTURE(c.p.kernel_h);
  CAPTURE(c.p.kernel_w);
  CAPTURE(c.p.stride_h);
  CAPTURE(c.p.stride_w);
  CAPTURE(c.p.dilation_h);
  CAPTURE(c.p.dilation_w);
  CAPTURE(c.p.pad_top);
  CAPTURE(c.p.pad_left);
  prepared_depthwise p(c);
  placed output = p.make_output();
  p.run(output, {}, 1 << 20, 1 << 20, 1 << 20);
  CHECK(output.damage() == "");
  const std::vector<float> got = output.dense();
  CHECK(oracle::error_units(got, p.expected.value, p.expected.magnitude) < 2 + std::sqrt(c.p.kernel_h * c.p.kernel_w));
  for (int size : {1, 2, 3}) {
    placed split = p.make_output();
    p.run(split, {}, size, 4 * size - 1, 16 * size);
    CHECK(split.damage() == "");
    CHECK(same_bits(split.dense(), got));
  }
}

}

TEST_CASE("depthwise_conv_2d: channels around the register widths") {
  for (int c : {1, 3, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40, 56})
    for (int kernel : {1, 3, 5}) {
      depthwise_case k{1, 6, 9, c, {kernel, kernel, 1, 1, 1, 1, kernel / 2, kernel / 2, kernel / 2, kernel / 2}};
      check(k);
      k.input.border = {2, 2, 2, 2};
      check(k);
    }
}

TEST_CASE("depthwise_conv_2d: every width and stride of the fast windows") {
  for (int kernel : {3, 5})
    for (int down : {1, 2, 3})
      for (int along : {1, 2})
        for (int w = 1; w <= 30; ++w)
          for (int border : {0, 2}) {
            const int pad = kernel / 2;
            depthwise_case k{1, 1 + w % 7, w, 12, {kernel, kernel, down, along, 1, 1, pad, pad, pad, pad}};
            const auto b = static_cast<std::uint16_t>(border);
            k.input.border = {b, b, b, b};
            check(k);
          }
}

TEST_CASE(
    "depthwise_conv_2d: channels that fill a register of 16 by half, in blocks large enough for pairs of pixels") {
  for (int c : {8, 24, 40, 56, 72})
    for (int w : {8, 10, 16, 18, 24, 31})
      for (int border : {0, 1}) {
        depthwise_case k{2, w % 3 == 0 ? 33 : 32, w, c, {3, 3, 1, 1, 1, 1, 1, 1, 1, 1}};
        const auto b = static_cast<std::uint16_t>(border);
        k.input.border = {b, b, b, b};
        check(k);
        k.output.channels_after = 8;
        check(k);
        k.output.channels_after = 0;
        k.input.channels_before = 8;
        check(k);
      }
}

TEST_CASE("depthwise_conv_2d: wide windows, whose outputs share what they read") {
  for (int kernel_w : {6, 7, 8, 11, 15})
    for (int kernel_h : {1, 4})
      for (int w : {kernel_w + 6, kernel_w + 24})
        for (int channels : {8, 24, 72})
          for (int border : {0, 4}) {
            depthwise_case k{2, 6, w, channels, {kernel_h, kernel_w, 1, 1, 1, 1, 2, 3, 1, 4}};
            if (channels == 24) k.p.dilation_h = 2, k.p.stride_h = 2;
            const auto b = static_cast<std::uint16_t>(border);
            k.input.border = {b, b, b, b};
            check(k);
          }
}

TEST_CASE("depthwise_conv_2d: windows of every kind") {
  random_floats next(21);
  for (int i = 0; i < 300; ++i) {
    oracle::conv p{next.between(1, 7), next.between(1, 7), next.between(1, 3), next.between(1, 3), next.between(1, 3),
                   next.between(1, 2), next.between(0, 3), next.between(0, 3), next.between(0, 3), next.between(0, 3)};
    const int channels = next.between(0, 3) == 0 ? next.between(64, 150) : next.between(1, 40);
    depthwise_case c{next.between(1, 3), next.between(1, 14), next.between(1, 16), channels, p};
    if (c.h + p.pad_top + p.pad_bottom < p.dilation_h * (p.kernel_h - 1) + 1 ||
        c.w + p.pad_left + p.pad_right < p.dilation_w * (p.kernel_w - 1) + 1)
      continue;
    const auto side = [&] { return static_cast<std::uint16_t>(next.between(0, 4)); };
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

namespace {

/// Function `f` with these slopes, and the parameters that the tests give to clip.
nsk::epilogue epilogue_of(nsk::function f, const std::vector<float>& slope) {
  nsk::epilogue e;
  e.fn = f;
  e.alpha = -0.5f;
  e.beta = 0.5f;
  e.slope = slope.data();
  return e;
}
/// What it makes of a sum.
double applied(nsk::function f, double x, float slope) {
  if (f == nsk::function::clip) return std::min(std::max(x, -0.5), 0.5);
  if (f == nsk::function::hard_swish) return x * std::max(0.0, std::min(1.0, x / 6 + 0.5));
  return f == nsk::function::prelu && x < 0 ? x * slope : x;
}

}

TEST_CASE("depthwise_conv_2d: residual in place, and functions") {
  for (int c : {5, 16, 29})
    for (nsk::function f :
         {nsk::function::identity, nsk::function::clip, nsk::function::hard_swish, nsk::function::prelu}) {
      prepared_depthwise p({2, 7, 14, c, {3, 3, 1, 1, 1, 1, 1, 1, 1, 1}});
      random_floats next(2);
      const std::vector<float> start = next.many(p.expected.value.v.size()),
                               slope = next.many(static_cast<std::size_t>(c) + 16);
      placed output = p.make_output();
      output.set(start);
      nsk::epilogue e = epilogue_of(f, slope);
      e.activation_first = true;
      e.residual = output.view().as<float>();
      std::copy(output.strides(), output.strides() + 4, e.residual_stride);
      p.run(output, e, 3, 9, 16);
      oracle::image expected = p.expected.value, magnitude = p.expected.magnitude;
      for (std::size_t i = 0; i < start.size(); ++i) {
        expected.v[i] = applied(f, expected.v[i], slope[i % c]) + start[i];
        magnitude.v[i] += std::fabs(start[i]);
      }
      CHECK(oracle::error_units(output.dense(), expected, magnitude) < 10);
    }
}

TEST_CASE("depthwise_conv_2d: pairs of pixels with a residual in place, and functions in registers") {
  for (int c : {8, 24, 40})
    for (int h : {32, 35})
      for (nsk::function f :
           {nsk::function::identity, nsk::function::clip, nsk::function::hard_swish, nsk::function::prelu}) {
        depthwise_case k{1, h, 16, c, {3, 3, 1, 1, 1, 1, 1, 1, 1, 1}};
        k.input.border = {1, 1, 1, 1};
        prepared_depthwise p(k);
        random_floats next(6);
        const std::vector<float> start = next.many(p.expected.value.v.size()),
                                 slope = next.many(static_cast<std::size_t>(c) + 16);
        placed output = p.make_output();
        output.set(start);
        nsk::epilogue e = epilogue_of(f, slope);
        e.residual = output.view().as<float>();
        std::copy(output.strides(), output.strides() + 4, e.residual_stride);
        p.run(output, e, h, 16, c);
        CHECK(output.damage() == "");
        oracle::image expected = p.expected.value, magnitude = p.expected.magnitude;
        for (std::size_t i = 0; i < start.size(); ++i) {
          expected.v[i] = applied(f, expected.v[i] + start[i], slope[i % c]);
          magnitude.v[i] += std::fabs(start[i]);
        }
        CHECK(oracle::error_units(output.dense(), expected, magnitude) < 20);
      }
}

TEST_CASE("depthwise_conv_2d: functions in registers, each channel with its slope") {
  for (int kernel : {3, 5})
    for (int stride : {1, 2})
      for (int w : {6, 7, 14, 28})
        for (nsk::function f : {nsk::function::clip, nsk::function::hard_swish, nsk::function::prelu}) {
          CAPTURE(kernel);
          CAPTURE(stride);
          CAPTURE(w);
          CAPTURE(static_cast<int>(f));
          const int pad = kernel / 2, c = 61;
          depthwise_case k{1, 6, w, c, {kernel, kernel, stride, stride, 1, 1, pad, pad, pad, pad}};
          k.input.border = {2, 2, 2, 2};
          prepared_depthwise p(k);
          const std::vector<float> slope = random_floats(3).many(static_cast<std::size_t>(c) + 16);
          nsk::epilogue e = epilogue_of(f, slope);
          oracle::image expected = p.expected.value;
          for (std::size_t i = 0; i < expected.v.size(); ++i) expected.v[i] = applied(f, expected.v[i], slope[i % c]);
          for (int channels : {16, c}) {
            placed output = p.make_output();
            p.run(output, e, 4, w, channels);
            CHECK(oracle::error_units(output.dense(), expected, p.expected.magnitude) < 20);
          }
        }
}

TEST_CASE("depthwise_conv_2d: a function behind a residual that is the output, over several strips of tiles") {
  for (int kernel : {3, 5})
    for (int stride : {1, 2})
      for (int w : {8, 14, 15, 21, 22, 44})
        for (int c : {40, 130, 300}) {
          CAPTURE(kernel);
          CAPTURE(stride);
          CAPTURE(w);
          CAPTURE(c);
          const int pad = kernel / 2;
          depthwise_case k{1, 5, w, c, {kernel, kernel, stride, stride, 1, 1, pad, pad, pad, pad}};
          k.input.border = {2, 2, 2, 2};
          for (int adds : {0, 1, 2}) {  // nothing, the output itself, another tensor with gaps
            prepared_depthwise p(k);
            const std::vector<float> start = random_floats(4).many(p.expected.value.v.size());
            const oracle::image& shape = p.expected.value;
            placed output = p.make_output(), apart(shape.n, shape.h, shape.w, c, {{1, 2, 0, 1}, 0, 3, 1});
            output.set(start);
            apart.set(start);
            nsk::epilogue e;
            e.fn = nsk::function::silu;
            placed& residual = adds == 1 ? output : apart;
            e.residual = adds > 0 ? residual.view().as<float>() : nullptr;
            std::copy(residual.strides(), residual.strides() + 4, e.residual_stride);
            p.run(output, e, 3, w, c);
            oracle::image expected = shape, magnitude = p.expected.magnitude;
            for (std::size_t i = 0; i < start.size(); ++i) {
              const double x = expected.v[i] + (adds > 0 ? start[i] : 0);
              expected.v[i] = x / (1 + std::exp(-x));
              magnitude.v[i] += std::fabs(start[i]);
            }
            CHECK(oracle::error_units(output.dense(), expected, magnitude) < 20);
          }
        }
}

namespace {

using nsk::kernels::impl::depthwise_tiling;

/// The tiling for height x width outputs of a window; no rows where there is none.
depthwise_tiling tiling_of(const nsk::window& w, int height, int width) {
  nsk::kernels::depthwise_conv_2d_args a{};
  a.w = w;
  nsk::kernels::impl::depthwise_call<nsk::kernels::all_kernels, float> d{};
  d.a = &a;
  return nsk::kernels::impl::square_tiling(nsk::kernels::path_of(a), d, {0, height, 0, width});
}

}

TEST_CASE("depthwise_conv_2d: single rows, and windows with a stride down rows, have tiles of one row") {
  for (int kernel : {3, 5}) {
    CHECK(tiling_of({kernel, kernel, 1, 1, 1, 1, 0, 0}, 1, 9).rows == 1);
    CHECK(tiling_of({kernel, kernel, 1, 1, 1, 1, 0, 0}, 2, 9).rows == 2);
    CHECK(tiling_of({kernel, kernel, 2, 1, 1, 1, 0, 0}, 8, 9).rows == 1);
    CHECK(tiling_of({kernel, kernel, 2, 1, 1, 1, 0, 0}, 8, 6).rows == 0);
  }
}
