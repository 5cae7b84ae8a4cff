// SPDX-License-Identifier: MIT
#pragma once
/// Opened samples with memory, and the results that they must have.
#include "../model/sample_plans.hpp"
#include <cmath>
#include <netsuke/netsuke.hpp>

namespace test {

/// A file, its model, and memory for some lanes.
struct opened {
  aligned_bytes file, memory;
  nsk::model model;
  nsk::status status;
  explicit opened(const plan_spec& p, int lanes = 1) : file(p.write()) {
    status = nsk::open({file.data(), file.size()}, model);
    if (status) memory = aligned_bytes(model.required_bytes(lanes), std::byte{0xff});  // all NaN
  }
};

inline std::vector<float> cnn_input() { return noise(99).many(8 * 8 * 3); }

/// The convolutional sample in doubles, straight from its description.
inline std::vector<double> cnn_oracle(const cnn_sample& s, const std::vector<float>& x) {
  const auto at = [](const std::vector<double>& v, int y, int px, int c, int channels) {
    return y < 0 || y >= 8 || px < 0 || px >= 8 ? 0.0 : v[static_cast<std::size_t>((y * 8 + px) * channels + c)];
  };
  const auto weight = [](const std::vector<float>& m, int k, int n, int channels) {
    return static_cast<double>(m[static_cast<std::size_t>(k * channels + n)]);
  };
  const std::vector<double> input(x.begin(), x.end());
  std::vector<double> stem(8 * 8 * 16), deep(8 * 8 * 16), wide(8 * 8 * 40), mean(40), logits(10), y(10);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      for (int n = 0; n < 16; ++n) {
        double sum = s.stem_bias[static_cast<std::size_t>(n)];
        for (int k = 0; k < 27; ++k)
          sum += at(input, i + k / 9 - 1, j + k / 3 % 3 - 1, k % 3, 3) * weight(s.stem_matrix, k, n, 16);
        stem[static_cast<std::size_t>((i * 8 + j) * 16 + n)] = std::fmin(std::fmax(sum, 0), 6);
      }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      for (int n = 0; n < 16; ++n) {
        double sum = s.deep_bias[static_cast<std::size_t>(n)];
        for (int k = 0; k < 9; ++k)
          sum += at(stem, i + k / 3 - 1, j + k % 3 - 1, n, 16) * weight(s.deep_matrix, k, n, 16);
        deep[static_cast<std::size_t>((i * 8 + j) * 16 + n)] = sum * std::fmax(0, std::fmin(1, sum / 6 + 0.5));
      }
  for (int p = 0; p < 64; ++p)
    for (int n = 0; n < 40; ++n) {
      double sum = n < 24 ? s.point_bias[static_cast<std::size_t>(n)] : deep[static_cast<std::size_t>(p * 16 + n - 24)];
      if (n < 24) {
        for (int k = 0; k < 16; ++k)
          sum += deep[static_cast<std::size_t>(p * 16 + k)] * weight(s.point_matrix, k, n, 24);
        if (sum < 0) sum *= 0.1f;
      }
      mean[static_cast<std::size_t>(n)] += sum / 64;
    }
  double total = 0;
  for (int n = 0; n < 10; ++n) {
    double sum = s.dense_bias[static_cast<std::size_t>(n)];
    for (int k = 0; k < 40; ++k) sum += mean[static_cast<std::size_t>(k)] * weight(s.dense_matrix, k, n, 10);
    total += y[static_cast<std::size_t>(n)] = std::exp(sum);
  }
  for (double& v : y) v /= total;
  return y;
}

/// The bits of an output.
inline std::vector<std::uint32_t> bits_of(nsk::span<const float> values) {
  std::vector<std::uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

/// Runs jobs one after the other, in any order; or on threads of its own.
struct ordered_jobs {
  int stride = 1;  ///< lane i is called as i * stride mod count: coprime to all counts used
  int calls = 0;
  template <class F>
  void parallel_for(int count, F&& f) {
    for (int i = 0; i < count; ++i) {
      f(stride < 0 ? count - 1 - i : i);
      ++calls;
    }
  }
};

}
