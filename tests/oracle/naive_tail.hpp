// SPDX-License-Identifier: MIT
#pragma once
/// Naive operators in double precision over dense arrays: what the tail kernels are held against. Nothing here is
/// shared with the library but the names of operators.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>
#include <netsuke/format/params.hpp>

namespace oracle {

/// A dense row-major array.
struct array {
  std::vector<int> shape;
  std::vector<double> data;

  array() = default;
  explicit array(std::vector<int> s) : shape(std::move(s)), data(count(shape)) {}
  static std::size_t count(const std::vector<int>& s) {
    std::size_t n = 1;
    for (int d : s) n *= static_cast<std::size_t>(d);
    return n;
  }
  std::size_t flat(const std::vector<int>& index) const {
    std::size_t f = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      f = f * static_cast<std::size_t>(shape[d]) + static_cast<std::size_t>(index[d]);
    return f;
  }
  double& operator()(const std::vector<int>& index) { return data[flat(index)]; }
  double operator()(const std::vector<int>& index) const { return data[flat(index)]; }
};

/// Calls f(index) for every index of a shape, row-major.
inline void for_each_index(const std::vector<int>& shape, const std::function<void(const std::vector<int>&)>& f) {
  std::vector<int> index(shape.size(), 0);
  const std::size_t n = array::count(shape);
  for (std::size_t i = 0; i < n; ++i) {
    f(index);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

/// Elementwise functions as schema/netsuke.fbs defines them; prelu is handled by its caller.
inline double apply(nsk::function f, double alpha, double beta, double x) {
  using nsk::function;
  const auto unit = [](double v) { return std::max(0.0, std::min(1.0, v)); };
  switch (f) {
    case function::identity:
    case function::prelu: return x;
    case function::clip: return std::min(std::max(x, alpha), beta);
    case function::leaky_relu: return x < 0 ? alpha * x : x;
    case function::sigmoid: return 1 / (1 + std::exp(-x));
    case function::hard_sigmoid: return unit(alpha * x + beta);
    case function::hard_swish: return x * unit(x / 6 + 0.5);
    case function::silu: return x / (1 + std::exp(-x));
    case function::tanh: return std::tanh(x);
    case function::exp: return std::exp(x);
    case function::log: return std::log(x);
    case function::sqrt: return std::sqrt(x);
    case function::reciprocal: return 1 / x;
    case function::neg: return -x;
    case function::abs: return std::fabs(x);
    case function::floor: return std::floor(x);
    case function::ceil: return std::ceil(x);
    case function::round: return std::nearbyint(x);
    case function::erf: return std::erf(x);
    case function::gelu: return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case function::elu: return x > 0 ? x : alpha * std::expm1(x);
    case function::softplus: return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
    case function::square: return x * x;
    case function::sign: return x > 0 ? 1 : x < 0 ? -1 : x;
    case function::sin: return std::sin(x);
    case function::cos: return std::cos(x);
    case function::asin: return std::asin(x);
    case function::acos: return std::acos(x);
    case function::atan: return std::atan(x);
    case function::sinh: return std::sinh(x);
    case function::cosh: return std::cosh(x);
    case function::asinh: return std::asinh(x);
    case function::acosh: return std::acosh(x);
    case function::atanh: return std::atanh(x);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

inline double combine(nsk::binary_kind k, double a, double b) {
  using nsk::binary_kind;
  switch (k) {
    case binary_kind::add: return a + b;
    case binary_kind::sub: return a - b;
    case binary_kind::mul: return a * b;
    case binary_kind::div: return a / b;
    case binary_kind::min: return std::min(a, b);
    case binary_kind::max: return std::max(a, b);
    case binary_kind::pow: return std::pow(a, b);
    case binary_kind::atan2: return std::atan2(a, b);
    case binary_kind::fmod: return std::fmod(a, b);
    case binary_kind::mod: {
      const double r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case binary_kind::prelu: return a < 0 ? a * b : a;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// What follows a result: function, residual, slope per channel.
struct finish {
  nsk::function fn = nsk::function::identity;
  double alpha = 0, beta = 0;
  bool activation_first = false;
  const array* residual = nullptr;
  const std::vector<float>* slope = nullptr;

  double operator()(double x, const std::vector<int>& index) const {
    const double r = residual != nullptr ? (*residual)(index) : 0;
    if (!activation_first) x += r;
    if (fn == nsk::function::prelu)
      x = x < 0 ? x * static_cast<double>((*slope)[static_cast<std::size_t>(index.back())]) : x;
    else
      x = apply(fn, alpha, beta, x);
    return activation_first ? x + r : x;
  }
};

/// Pooling of [N, H, W, C]; `ends` are the paddings after the last row and column.
inline array pool_2d(const array& x, const nsk::window& w, nsk::pool_kind kind, bool count_pad, int end_h, int end_w,
                     int oh, int ow) {
  array y({x.shape[0], oh, ow, x.shape[3]});
  for_each_index(y.shape, [&](const std::vector<int>& i) {
    double sum = 0, maximum = -std::numeric_limits<double>::infinity();
    int taps = 0, padded = 0;
    for (int ky = 0; ky < w.kernel_h; ++ky)
      for (int kx = 0; kx < w.kernel_w; ++kx) {
        const int r = i[1] * w.stride_h - w.pad_top + ky * w.dilation_h,
                  c = i[2] * w.stride_w - w.pad_left + kx * w.dilation_w;
        if (r < x.shape[1] + end_h && c < x.shape[2] + end_w) ++padded;
        if (r < 0 || c < 0 || r >= x.shape[1] || c >= x.shape[2]) continue;
        ++taps;
        sum += x({i[0], r, c, i[3]});
        maximum = std::max(maximum, x({i[0], r, c, i[3]}));
      }
    const int n = count_pad ? padded : taps;
    y(i) = kind == nsk::pool_kind::max ? maximum : sum / (n > 0 ? n : 1);
  });
  return y;
}

/// Resampling by tables of taps.
inline array resize_2d(const array& x, const std::vector<int>& rows, const std::vector<float>& row_weights,
                       const std::vector<int>& columns, const std::vector<float>& column_weights, int row_taps,
                       int column_taps) {
  array y({x.shape[0], static_cast<int>(rows.size()) / row_taps, static_cast<int>(columns.size()) / column_taps,
           x.shape[3]});
  for_each_index(y.shape, [&](const std::vector<int>& i) {
    double sum = 0;
    for (int r = 0; r < row_taps; ++r)
      for (int c = 0; c < column_taps; ++c) {
        const std::size_t at_r = static_cast<std::size_t>(i[1] * row_taps + r),
                          at_c = static_cast<std::size_t>(i[2] * column_taps + c);
        sum += static_cast<double>(row_weights[at_r]) * static_cast<double>(column_weights[at_c]) *
               x({i[0], rows[at_r], columns[at_c], i[3]});
      }
    y(i) = sum;
  });
  return y;
}

/// Reduction to `shape`, which has 1 where x is reduced.
inline array reduce(const array& x, const std::vector<int>& shape, nsk::reduce_kind kind) {
  using nsk::reduce_kind;
  array y(shape);
  const double infinity = std::numeric_limits<double>::infinity();
  for (double& v : y.data)
    v = kind == reduce_kind::prod ? 1 : kind == reduce_kind::max ? -infinity : kind == reduce_kind::min ? infinity : 0;
  for_each_index(x.shape, [&](const std::vector<int>& i) {
    std::vector<int> o = i;
    for (std::size_t d = 0; d < o.size(); ++d)
      if (shape[d] == 1) o[d] = 0;
    double& v = y(o);
    const double e = x(i);
    switch (kind) {
      case reduce_kind::mean:
      case reduce_kind::sum: v += e; break;
      case reduce_kind::max: v = std::max(v, e); break;
      case reduce_kind::min: v = std::min(v, e); break;
      case reduce_kind::prod: v *= e; break;
      case reduce_kind::sum_square: v += e * e; break;
    }
  });
  if (kind == reduce_kind::mean)
    for (double& v : y.data) v /= static_cast<double>(x.data.size() / y.data.size());
  return y;
}

/// Softmax along an axis, or its logarithm.
inline array softmax(const array& x, int axis, bool log) {
  std::vector<int> lines = x.shape;
  lines[static_cast<std::size_t>(axis)] = 1;
  array y(x.shape);
  for_each_index(lines, [&](std::vector<int> i) {
    int& k = i[static_cast<std::size_t>(axis)];
    const int n = x.shape[static_cast<std::size_t>(axis)];
    double maximum = -std::numeric_limits<double>::infinity(), sum = 0;
    for (k = 0; k < n; ++k) maximum = std::max(maximum, x(i));
    for (k = 0; k < n; ++k) sum += std::exp(x(i) - maximum);
    for (k = 0; k < n; ++k) y(i) = log ? x(i) - maximum - std::log(sum) : std::exp(x(i) - maximum) / sum;
  });
  return y;
}

}  // namespace oracle
