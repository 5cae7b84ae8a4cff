// SPDX-License-Identifier: MIT
#pragma once
/// Operators as their definitions read, in double precision, on dense tensors: the truth that kernels are compared
/// with. Shares nothing with the library.
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace oracle {

/// Dense [n, h, w, c] images.
struct image {
  int n = 1, h = 1, w = 1, c = 1;
  std::vector<double> v;
  image() = default;
  image(int n_, int h_, int w_, int c_) : n(n_), h(h_), w(w_), c(c_), v(static_cast<std::size_t>(n_) * h_ * w_ * c_) {}
  double& at(int i, int y, int x, int k) { return v[((static_cast<std::size_t>(i) * h + y) * w + x) * c + k]; }
  double at(int i, int y, int x, int k) const { return v[((static_cast<std::size_t>(i) * h + y) * w + x) * c + k]; }
  /// The element, or 0 outside.
  double padded(int i, int y, int x, int k) const { return y < 0 || y >= h || x < 0 || x >= w ? 0.0 : at(i, y, x, k); }
};

/// A result, and for each element the sum of the magnitudes of its terms: rounding errors are proportional to that.
struct result {
  image value, magnitude;
};

struct conv {
  int kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0, groups = 1;
  int output_h(int h) const { return (h + pad_top + pad_bottom - dilation_h * (kernel_h - 1) - 1) / stride_h + 1; }
  int output_w(int w) const { return (w + pad_left + pad_right - dilation_w * (kernel_w - 1) - 1) / stride_w + 1; }
};

/// 2-D convolution; weights [output channel][kernel row][kernel column][input channel of the group].
inline result conv_2d(const image& x, const std::vector<float>& weights, const std::vector<float>& bias, int channels,
                      const conv& p) {
  result r{image(x.n, p.output_h(x.h), p.output_w(x.w), channels),
           image(x.n, p.output_h(x.h), p.output_w(x.w), channels)};
  const int depth = x.c / p.groups, per_group = channels / p.groups;
  for (int n = 0; n < x.n; ++n)
    for (int oy = 0; oy < r.value.h; ++oy)
      for (int ox = 0; ox < r.value.w; ++ox)
        for (int oc = 0; oc < channels; ++oc) {
          double sum = bias[oc], magnitude = std::fabs(sum);
          for (int i = 0; i < p.kernel_h; ++i)
            for (int j = 0; j < p.kernel_w; ++j)
              for (int k = 0; k < depth; ++k) {
                const int iy = oy * p.stride_h - p.pad_top + i * p.dilation_h,
                          ix = ox * p.stride_w - p.pad_left + j * p.dilation_w;
                const double a = x.padded(n, iy, ix, oc / per_group * depth + k);
                const double b =
                    weights[((static_cast<std::size_t>(oc) * p.kernel_h + i) * p.kernel_w + j) * depth + k];
                sum += a * b;
                magnitude += std::fabs(a * b);
              }
          r.value.at(n, oy, ox, oc) = sum;
          r.magnitude.at(n, oy, ox, oc) = magnitude;
        }
  return r;
}

/// a [m][k] times b [k][n] plus bias [n]; the result is an image of one row: [1, 1, m, n].
inline result multiply(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& bias, int m,
                       int k, int n) {
  result r{image(1, 1, m, n), image(1, 1, m, n)};
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = bias[j], magnitude = std::fabs(sum);
      for (int q = 0; q < k; ++q) {
        const double term =
            static_cast<double>(a[static_cast<std::size_t>(i) * k + q]) * b[static_cast<std::size_t>(q) * n + j];
        sum += term;
        magnitude += std::fabs(term);
      }
      r.value.at(0, 0, i, j) = sum;
      r.magnitude.at(0, 0, i, j) = magnitude;
    }
  return r;
}

/// Largest of |got - expected| / (2^-24 * magnitude), that is the error in units of the rounding of the terms' sum.
inline double error_units(const std::vector<float>& got, const image& expected, const image& magnitude) {
  double worst = 0;
  for (std::size_t i = 0; i < expected.v.size(); ++i) {
    const double unit = std::ldexp(magnitude.v[i] > 1e-30 ? magnitude.v[i] : 1e-30, -24),
                 error = std::fabs(got[i] - expected.v[i]) / unit;
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

}
