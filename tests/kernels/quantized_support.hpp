// SPDX-License-Identifier: MIT
#pragma once
/// What tests of kernels on stored integers share: packed panels of bytes, and the rounding rule in double precision.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>
#include <netsuke/kernels/int8/quantized_gemm.hpp>
#include "support.hpp"

namespace stored {

/// Weights [channel][run][length], with a bias and a scale for each channel.
struct matrix {
  int channels, runs, length;
  std::vector<std::int8_t> weights;
  std::vector<std::int32_t> bias;
  std::vector<float> scale;

  std::int8_t& weight(int channel, int run, int i) {
    return weights[static_cast<std::size_t>((channel * runs + run) * length + i)];
  }
  int quads() const { return runs * static_cast<int>(nsk::quads_of(length)); }
};

/// Random weights, or only the least and the largest ones; `safe`: pairs whose magnitudes add up to at most 128.
inline matrix random_matrix(random_floats& next, int channels, int runs, int length, bool safe, bool extreme) {
  matrix m{channels, runs, length, {}, {}, {}};
  m.weights.resize(static_cast<std::size_t>(channels * runs * length));
  const int low = safe ? -64 : -128, high = safe ? 64 : 127;
  for (std::size_t i = 0; i < m.weights.size(); ++i) {
    const std::size_t channel = i / static_cast<std::size_t>(runs * length);
    const bool positive = channel % 3 == 0 || (channel % 3 == 2 && i % 2 == 0);
    m.weights[i] = static_cast<std::int8_t>(!extreme ? next.between(low, high) : positive ? high : low);
  }
  for (int c = 0; c < channels; ++c) {
    m.bias.push_back(next.between(-100000, 100000));
    m.scale.push_back(std::ldexp(1.5f + 0.5f * next(), -8 - next.between(0, 8)));
  }
  return m;
}

/// Appends panels as format/packing.hpp says.
inline void pack(matrix& m, std::vector<std::byte>& to) {
  const std::size_t first = to.size();
  to.resize(first + static_cast<std::size_t>(nsk::quad_panel_bytes(m.channels, m.quads())));
  for (int c = 0; c < m.channels; ++c) {
    int panel = c / nsk::panel_width;
    if (panel >= nsk::panel_count(m.channels)) --panel;
    const int width = static_cast<int>(nsk::width_of_panel(m.channels, panel)), in = c - panel * nsk::panel_width;
    std::byte* const at = to.data() + first + std::ptrdiff_t{64} * panel * (m.quads() + 2);
    std::memcpy(at + 4 * in, &m.bias[static_cast<std::size_t>(c)], 4);
    std::memcpy(at + 4 * (width + in), &m.scale[static_cast<std::size_t>(c)], 4);
    for (int run = 0; run < m.runs; ++run)
      for (int i = 0; i < m.length; ++i) {
        const std::ptrdiff_t quad = run * nsk::quads_of(m.length) + i / 4;
        std::memcpy(at + 8 * width + (quad * width + in) * 4 + i % 4, &m.weight(c, run, i), 1);
      }
  }
}

/// What stands for float32(sum) * scale, plus residual * residual_scale, rounded once each.
inline std::uint8_t requantised(std::int64_t sum, float scale, nsk::simd::u8_range to, int residual = 0,
                                float residual_scale = 0) {
  const auto product = [](float a, float b) {
    return static_cast<float>(static_cast<double>(a) * static_cast<double>(b));
  };
  const auto units = static_cast<double>(product(static_cast<float>(sum), scale)),
             added = static_cast<double>(product(static_cast<float>(residual), residual_scale));
  const double y = std::nearbyint(static_cast<double>(static_cast<float>(units + added))) + to.zero;
  return static_cast<std::uint8_t>(y < to.low ? to.low : y > to.high ? to.high : y);
}
inline nsk::simd::u8_range random_range(random_floats& next) {
  return {static_cast<std::int16_t>(next.between(0, 255)), static_cast<std::uint8_t>(next.between(0, 30)),
          static_cast<std::uint8_t>(next.between(200, 255))};
}

/// [n, h, w, c] with `gap` bytes between pixels.
inline nsk::tensor_view view_of(std::vector<std::uint8_t>& memory, int n, int h, int w, int c, int gap) {
  nsk::tensor_view v{};
  v.data = reinterpret_cast<std::byte*>(memory.data());
  v.rank = 4;
  const int shape[4] = {n, h, w, c};
  const std::ptrdiff_t pixel = c + gap;
  const std::ptrdiff_t stride[4] = {pixel * w * h, pixel * w, pixel, 1};
  for (int d = 0; d < 4; ++d) v.shape[d] = shape[d], v.stride[d] = stride[d];
  return v;
}
inline std::uint8_t& byte_at(const nsk::tensor_view& v, int n, int y, int x, int c) {
  return v.as<std::uint8_t>()[n * v.stride[0] + y * v.stride[1] + x * v.stride[2] + c];
}

/// Random zero points and limits of a layer.
template <class Args>
void set_numbers(Args& a, random_floats& next) {
  a.input_zero = next.between(0, 255);
  const nsk::simd::u8_range to = random_range(next);
  a.zero = to.zero;
  a.low = to.low;
  a.high = to.high;
}
template <class Args>
nsk::simd::u8_range range_of(const Args& a) {
  return {static_cast<std::int16_t>(a.zero), static_cast<std::uint8_t>(a.low), static_cast<std::uint8_t>(a.high)};
}

/// What this machine can run.
inline std::vector<nsk::kernels::quad_products> all_products() {
  using nsk::kernels::quad_products;
  if (nsk::simd::has_native_dot4()) return {quad_products::exact, quad_products::safe, quad_products::at_once};
  return {quad_products::exact, quad_products::safe};
}

}
