// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <doctest/doctest.h>
#include <netsuke/kernels/conv/conv_2d.hpp>
#include "support.hpp"

namespace {

struct conv_case {
  int n, h, w, c, channels;
  oracle::conv p;
  layout input{}, output{};
};

/// Tiles of the given size over [rows, pixels, channels], last tile first.
std::vector<nsk::tile_range> tiles_of(int rows, int pixels, int channels, int th, int tw, int tc) {
  std::vector<nsk::tile_range> t;
  for (int r = 0; r < rows; r += th)
    for (int x = 0; x < pixels; x += tw)
      for (int c = 0; c < channels; c += tc)
        t.push_back({r, std::min(r + th, rows), x, std::min(x + tw, pixels), c, std::min(c + tc, channels)});
  std::reverse(t.begin(), t.end());
  return t;
}

struct prepared_conv {
  conv_case k;
  std::vector<float> x, weights, bias;
  oracle::result expected;
  aligned_floats packed;
  placed input;

  explicit prepared_conv(const conv_case& c, std::uint32_t seed = 1)
      : k(c),
        packed(static_cast<std::size_t>(c.p.groups) * nsk::panel_floats(c.channels / c.p.groups, depth(c))),
        input(c.n, c.h, c.w, c.c, c.input) {
    random_floats next(seed);
    x = next.many(static_cast<std::size_t>(c.n) * c.h * c.w * c.c);
    weights = next.many(static_cast<std::size_t>(c.channels) * depth(c));
    bias = next.many(c.channels);
    oracle::image dense(c.n, c.h, c.w, c.c);
    dense.v = widen(x);
    expected = oracle::conv_2d(dense, weights, bias, c.channels, c.p);
    const int per_group = c.channels / c.p.groups;
    for (int g = 0; g < c.p.groups; ++g)
      pack(weights.data() + g * per_group * depth(c), bias.data() + g * per_group, per_group, depth(c),
           packed.data() + g * nsk::panel_floats(per_group, depth(c)));
    input.set(x);
  }
  static int depth(const conv_case& c) { return c.c / c.p.groups * c.p.kernel_h * c.p.kernel_w; }

  nsk::kernels::conv_2d_args args(placed& output, const nsk::epilogue& e = {}) {
    const nsk::window w{k.p.kernel_h,   k.p.kernel_w,   k.p.stride_h, k.p.stride_w,
                        k.p.dilation_h, k.p.dilation_w, k.p.pad_top,  k.p.pad_left};
    return {{w, k.p.groups, nsk::conv_algorithm::direct}, input.view(), output.view(), packed.data(), e};
  }
  placed make_output() const { return placed(k.n, expected.value.h, expected.value.w, k.channels, k.output); }

  template <class Kernels = nsk::kernels::all_kernels>
  void run(placed& output, const nsk::epilogue& e, int th, int tw, int tc) {
    const auto a = args(output, e);
    const nsk::kernels::conv_2d_shape s{
        k.h,          k.w, k.c,        expected.value.h, expected.value.w, k.channels, k.p.groups, k.input.border,
        k.input.fill, a.w, a.algorithm};
    aligned_floats scratch(static_cast<std::size_t>(nsk::kernels::conv_2d_scratch_bytes(s) / 4));
    for (const nsk::tile_range& t : tiles_of(k.n * expected.value.h, expected.value.w, k.channels, th, tw, tc))
      nsk::kernels::conv_2d<Kernels>(a, t, reinterpret_cast<std::byte*>(scratch.data()));
  }
  template <class Kernels = nsk::kernels::all_kernels>
  std::vector<float> run_whole(const nsk::epilogue& e = {}) {
    placed output = make_output();
    run<Kernels>(output, e, 1 << 20, 1 << 20, 1 << 20);
    CHECK(output.damage() == "");
    return output.dense();
  }
};

void check(const conv_case& c) {
  CAPTURE(c.n);
  CAPTURE(c.h);
  CAPTURE(c.w);
  CAPTURE(c.c);
  CAPTURE(c.channels);
  CAPTURE(c.p.kernel_h);
  CAPTURE(c.p.kernel_w);
  CAPTURE(c.p.stride_h);
  CAPTURE(c.p.stride_w);
  CAPTURE(c.p.dilation_h);
  CAPTURE(c.p.dilation_w);
  CAPTURE(c.p.groups);
  prepared_conv p(c);
  const std::vector<float> got = p.run_whole();
  CHECK(oracle::error_units(got, p.expected.value, p.expected.magnitude) < 2 + std::sqrt(p.depth(c)));
  for (int size : {1, 2, 5}) {
    placed output = p.make_output();
    p.run(output, {}, size, 2 * size - 1, 16 * size);
    CHECK(output.damage() == "");
    CHECK(same_bits(output.dense(), got));
  }
}

}

TEST_CASE("conv_2d: channels around the register widths") {
  for (int channels : {1, 3, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40, 41, 64})
    for (int c : {1, 3, 7, 8, 16, 33}) {
      check({1, 3, 5, c, channels, {}});
      check({1, 4, 3, c, channels, {3, 3, 1, 1, 1, 1, 1, 1, 1, 1}});
    }
}

TEST_CASE("conv_2d: numbers of rows around the tile's height") {
  for (int w = 1; w <= 27; ++w)
    for (int channels : {8, 24, 70}) check({1, 1, w, 5, channels, {}});
}

TEST_CASE("conv_2d: windows outside, in rows shorter and longer than what is gathered at once") {
  for (int w : {14, 16, 17, 45, 46, 47, 75, 120, 230})
    for (int kernel : {1, 3, 5})
      for (int stride : {1, 2, 3})
        for (int dilation : {1, 2}) {
          const int pad = kernel == 1 ? 1 : kernel / 2 * dilation;
          check({2, 7, w, 2, 9, {kernel, kernel, stride, stride, dilation, dilation, pad, pad, pad, pad - 1}});
          check({1, 21, w, 1, 8, {kernel, kernel, stride, 1, 1, dilation, pad + 1, pad, 0, pad}});
        }
}

TEST_CASE("conv_2d: windows of every kind, with and without a border") {
  random_floats next(7);
  for (int i = 0; i < 300; ++i) {
    oracle::conv p;
    p.kernel_h = next.between(1, 5);
    p.kernel_w = next.between(1, 5);
    p.stride_h = next.between(1, 3);
    p.stride_w = next.between(1, 3);
    p.dilation_h = next.between(1, 3);
    p.dilation_w = next.between(1, 2);
    p.pad_top = next.between(0, 3);
    p.pad_left = next.between(0, 3);
    p.pad_bottom = next.between(0, 3);
    p.pad_right = next.between(0, 3);
    p.groups = next.between(0, 2) == 0 ? next.between(1, 3) : 1;
    conv_case c{next.between(1, 2),
                next.between(1, 12),
                next.between(1, 12),
                p.groups * next.between(1, 9),
                p.groups * next.between(1, 20),
                p};
    if (p.output_h(c.h) < 1 || p.output_w(c.w) < 1 ||
        c.h + p.pad_top + p.pad_bottom < p.dilation_h * (p.kernel_h - 1) + 1 ||
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

TEST_CASE("conv_2d: few channels to a group, registers full and not, windows inside and outside") {
  random_floats next(23);
  for (int size : {2, 4, 8})
    for (int channels : {8, 16, 24, 48, 72})
      for (const oracle::conv& window :
           {oracle::conv{3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, oracle::conv{3, 3, 2, 1, 2, 1, 2, 0, 2, 1},
            oracle::conv{1, 7, 1, 2, 1, 1, 0, 3, 0, 2}, oracle::conv{5, 2, 1, 1, 1, 2, 3, 1, 1, 1}}) {
        conv_case c{2, 9, next.between(9, 30), channels, channels, window};
        c.p.groups = channels / size;
        if (next.between(0, 1)) c.input.border = {2, 1, 0, 1};
        if (next.between(0, 1)) c.input.channels_before = 3, c.output.channels_after = 5;
        check(c);
      }
}

TEST_CASE("conv_2d: what one group holds stays in it") {
  for (int size : {2, 4, 8}) {
    conv_case c{1, 7, 15, 32, 32, {3, 3, 1, 1, 1, 1, 1, 1, 1, 1}};
    c.p.groups = 32 / size;
    prepared_conv p(c);
    const std::vector<float> before = p.run_whole();
    std::vector<float> x = p.x;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (static_cast<int>(i) % 32 / size == 1) x[i] = std::numeric_limits<float>::infinity();
    p.input.set(x);
    const std::vector<float> after = p.run_whole();
    for (std::size_t i = 0; i < after.size(); ++i)
      CHECK((static_cast<int>(i) % 32 / size == 1) == (std::memcmp(&before[i], &after[i], sizeof(float)) != 0));
  }
}

TEST_CASE("conv_2d: few outputs have the bits of panels, under windows of every kind and any epilogue") {
  using functions = nsk::function_list<nsk::function::identity, nsk::function::clip, nsk::function::sigmoid>;
  using panels = with_paths<functions>;
  using few = with_paths<functions, nsk::fast_path::few_outputs>;
  random_floats next(29);
  for (int i = 0; i < 80; ++i) {
    const int kernel_h = next.between(1, 7), kernel_w = next.between(1, 7), outputs = next.between(1, 4);
    const int dilation_h = next.between(1, 3), dilation_w = next.between(1, 3), stride_h = next.between(1, 3);
    const auto pad = [&] { return next.between(0, 4); };
    const int reach_h = (kernel_h - 1) * dilation_h, reach_w = (kernel_w - 1) * dilation_w;
    conv_case c{next.between(1, 2),
                reach_h + next.between(1, 12),
                reach_w + next.between(1, i % 4 == 0 ? 150 : 50),
                kernel_h * kernel_w < 5 ? next.between(30, 280) : next.between(1, 20),
                outputs,
                {kernel_h, kernel_w, stride_h, 1, dilation_h, dilation_w, pad(), pad(), pad(), pad()}};
    const bool has_one_tap = i % 5 == 0;
    if (has_one_tap) c.p = {1, 1, 1, 1, 1, 1, 0, 0, 0, 0};
    if (!has_one_tap && next.between(0, 1)) c.input.border = {1, 2, 3, 1};
    if (next.between(0, 3) == 0) c.input.fill = 5;
    if (next.between(0, 1)) c.input.channels_before = 3, c.output.channels_after = 5;
    CAPTURE(kernel_h);
    CAPTURE(kernel_w);
    CAPTURE(dilation_w);
    CAPTURE(c.w);
    CAPTURE(c.c);
    CAPTURE(outputs);
    prepared_conv p(c, static_cast<std::uint32_t>(i));
    if (i % 3 == 0) p.x[p.x.size() / 2] = std::numeric_limits<float>::infinity(), p.input.set(p.x);
    nsk::epilogue e;
    e.fn = i % 4 == 0 ? nsk::function::clip : i % 4 == 1 ? nsk::function::sigmoid : nsk::function::identity;
    e.alpha = -0.5f;
    e.beta = 0.75f;
    placed residual = p.make_output();
    if (i % 10 == 0) {
      residual.set(next.many(p.expected.value.v.size()));
      e.residual = reinterpret_cast<const float*>(residual.view().data);
      std::copy(residual.strides(), residual.strides() + 4, e.residual_stride);
    }
    const std::vector<float> got = p.run_whole<few>(e);
    CHECK(same_bits(got, p.run_whole<panels>(e)));
    placed split = p.make_output();
    p.run<few>(split, e, 2, 19, 16);
    CHECK(same_bits(split.dense(), got));
  }
}

TEST_CASE("conv_2d: a border and no border give the same bits") {
  conv_case c{2, 9, 11, 6, 20, {3, 5, 2, 1, 1, 2, 1, 3, 2, 4}};
  const std::vector<float> bare = prepared_conv(c).run_whole();
  c.input.border = {1, 3, 2, 4};
  CHECK(same_bits(prepared_conv(c).run_whole(), bare));
  c.input.fill = -3;
  CHECK(same_bits(prepared_conv(c).run_whole(), bare));
}

TEST_CASE("conv_2d: residual, function and their order") {
  for (int channels : {5, 16, 37, 48}) {
    conv_case c{2, 11, 7, channels == 48 ? channels : 9, channels, {3, 3, 1, 1, 1, 1, 1, 1, 1, 1}};
    if (channels == 48) c.p.groups = 24;
    prepared_conv p(c, 3);
    random_floats next(11);
    placed residual(c.n, c.h, c.w, channels, {{1, 1, 1, 1}, 0, 3, 2});
    const std::vector<float> added = next.many(static_cast<std::size_t>(c.n) * c.h * c.w * channels),
                             slope = next.many(static_cast<std::size_t>(channels) + 16);
    residual.set(added);
    for (nsk::function f : {nsk::function::identity, nsk::function::clip, nsk::function::leaky_relu,
                            nsk::function::prelu, nsk::function::hard_swish, nsk::function::silu})
      for (bool first : {false, true})
        for (bool adds : {false, true}) {
          CAPTURE(channels);
          CAPTURE(static_cast<int>(f));
          CAPTURE(first);
          CAPTURE(adds);
          nsk::epilogue e;
          e.fn = f;
          e.activation_first = first;
          e.alpha = f == nsk::function::leaky_relu ? 0.25f : -0.3f;
          e.beta = 0.7f;
          e.slope = slope.data();
          e.residual = adds ? reinterpret_cast<const float*>(residual.view().data) : nullptr;
          std::copy(residual.strides(), residual.strides() + 4, e.residual_stride);
          const std::vector<float> got = p.run_whole(e);
          oracle::image expected = p.expected.value, magnitude = p.expected.magnitude;
          for (std::size_t i = 0; i < expected.v.size(); ++i) {
            double x = expected.v[i];
            if (adds && !first) x += added[i];
            if (f == nsk::function::clip)
              x = std::min(std::max(x, static_cast<double>(e.alpha)), static_cast<double>(e.beta));
            if (f == nsk::function::leaky_relu) x = x < 0 ? x * 0.25 : x;
            if (f == nsk::function::prelu) x = x < 0 ? x * slope[i % channels] : x;
            if (f == nsk::function::hard_swish) x = x * std::max(0.0, std::min(1.0, x / 6 + 0.5));
            if (f == nsk::function::silu) x = x / (1 + std::exp(-x));
            if (adds && first) x += added[i];
            expected.v[i] = x;
            magnitude.v[i] += std::fabs(added[i]);
          }
          CHECK(oracle::error_units(got, expected, magnitude) < 20);
          placed split = p.make_output();
          p.run(split, e, 2, 3, 16);
          CHECK(same_bits(split.dense(), got));
        }
  }
}

TEST_CASE("conv_2d: the residual may be the output itself") {
  const conv_case c{1, 6, 7, 8, 20, {}};
  prepared_conv p(c);
  const std::vector<float> start = random_floats(5).many(6 * 7 * 20);
  for (nsk::function f : {nsk::function::identity, nsk::function::leaky_relu}) {
    placed output = p.make_output();
    output.set(start);
    nsk::epilogue e;
    e.fn = f;
    e.activation_first = true;
    e.alpha = 1;
    e.residual = output.view().as<float>();
    std::copy(output.strides(), output.strides() + 4, e.residual_stride);
    p.run(output, e, 2, 100, 100);
    oracle::image expected = p.expected.value, magnitude = p.expected.magnitude;
    for (std::size_t i = 0; i < start.size(); ++i) expected.v[i] += start[i], magnitude.v[i] += std::fabs(start[i]);
    CHECK(oracle::error_units(output.dense(), expected, magnitude) < 10);
  }
}
