// SPDX-License-Identifier: MIT
/// Clip behind sums, between bounds of every kind: zeros of both signs, NaN, bounds in the wrong order.
#include <algorithm>
#include <limits>
#include <doctest/doctest.h>
#include <netsuke/kernels/dense/fully_connected.hpp>
#include <netsuke/kernels/depthwise/depthwise_conv_2d.hpp>
#include "support.hpp"

namespace {

constexpr float clip_infinity = std::numeric_limits<float>::infinity(),
                clip_nan = std::numeric_limits<float>::quiet_NaN();
struct clip_range {
  float low, high;
};
constexpr clip_range clip_bounds[] = {{0.0f, 6.0f},  {-0.0f, 6.0f},    {0.0f, clip_infinity}, {-1.0f, 1.0f},
                                      {-1.0f, 0.0f}, {-1.0f, -0.0f},   {0.0f, -0.0f},         {-0.0f, -0.0f},
                                      {2.0f, -2.0f}, {clip_nan, 6.0f}, {-1.0f, clip_nan},     {clip_nan, clip_nan}};
constexpr int clip_rows = 3, clip_pixels = 9, clip_channels = 21;

/// What the format says: x > low ? x : low, then below high.
float clipped_to(float x, float low, float high) {
  const float above = x > low ? x : low;
  return above < high ? above : high;
}

/// Numbers of every kind; those of a pixel differ from channel to channel. Without `any`, no infinities and NaN.
std::vector<float> clip_numbers(bool any) {
  const float denormal = std::numeric_limits<float>::denorm_min();
  const std::vector<float> kinds = {
      -0.0f, 0.0f, 0.5f,     -0.5f,          -1.0f,         denormal,  -denormal,
      7.0f,  6.0f, clip_nan, -clip_infinity, clip_infinity, -clip_nan, std::numeric_limits<float>::signaling_NaN()};
  std::vector<float> x(std::size_t{clip_rows} * clip_pixels * clip_channels);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = kinds[i % (any ? kinds.size() : 9)];
  return x;
}

/// Runs run(epilogue, output) without a function, then with clip between all bounds: in bits the results of the one
/// and of clipping those of the other. With `adds`, a residual of -0 changes nothing but the way.
template <class Run>
void check_clip(bool adds, Run run) {
  placed residual(1, clip_rows, clip_pixels, clip_channels), plain(1, clip_rows, clip_pixels, clip_channels);
  residual.set(std::vector<float>(std::size_t{clip_rows} * clip_pixels * clip_channels, -0.0f));
  nsk::epilogue e;
  if (adds) e.residual = residual.view().as<float>();
  std::copy(residual.strides(), residual.strides() + 4, e.residual_stride);
  run(e, plain);
  for (const clip_range& b : clip_bounds) {
    CAPTURE(b.low);
    CAPTURE(b.high);
    e.fn = nsk::function::clip;
    e.alpha = b.low;
    e.beta = b.high;
    placed clipped(1, clip_rows, clip_pixels, clip_channels);
    run(e, clipped);
    std::vector<float> expected = plain.dense();
    for (float& x : expected) x = clipped_to(x, b.low, b.high);
    CHECK(same_bits(clipped.dense(), expected));
  }
}

}

TEST_CASE("clip: dense layers, bounds that are zeros of both signs and NaN") {
  // One input to each output, times 1, plus -0: the sums are the inputs, NaN quiet.
  const std::vector<float> ones(clip_channels, 1.0f), zeros(clip_channels, -0.0f);
  aligned_floats packed(nsk::panel_floats(clip_channels, 1));
  pack(ones.data(), zeros.data(), clip_channels, 1, packed.data());
  const std::vector<float> x = clip_numbers(true);
  placed input(1, clip_rows, clip_pixels, 1);
  input.set({x.begin(), x.begin() + clip_rows * clip_pixels});
  for (bool adds : {false, true})
    check_clip(adds, [&](const nsk::epilogue& e, placed& output) {
      nsk::kernels::fully_connected({input.view(), output.view(), packed.data(), e},
                                    {0, clip_rows, 0, clip_pixels, 0, clip_channels}, nullptr);
    });
}

TEST_CASE("clip: depthwise convolutions, bounds that are zeros of both signs and NaN") {
  for (int kernel : {1, 3})
    for (bool adds : {false, true}) {
      const std::vector<float> weights(std::size_t{clip_channels} * kernel * kernel, 1.0f), zeros(clip_channels, -0.0f);
      aligned_floats packed(nsk::panel_floats(clip_channels, kernel * kernel));
      pack(weights.data(), zeros.data(), clip_channels, kernel * kernel, packed.data());
      placed input(1, clip_rows, clip_pixels, clip_channels);
      input.set(clip_numbers(kernel == 1));
      const nsk::window w{kernel, kernel, 1, 1, 1, 1, kernel / 2, kernel / 2};
      check_clip(adds, [&](const nsk::epilogue& e, placed& output) {
        nsk::kernels::depthwise_conv_2d({{w}, input.view(), output.view(), packed.data(), e},
                                        {0, clip_rows, 0, clip_pixels, 0, clip_channels}, nullptr);
      });
    }
}
