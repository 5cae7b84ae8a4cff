// SPDX-License-Identifier: MIT
#pragma once
/// Normalisation of each element by its neighbours in the last dimension.
///
/// Order of operations: squares are summed in ascending order, the first a product, the others fused; s = bias +
/// (alpha / size) * sum, fused; y = x / s^beta with math::pow.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/elements/element_lines.hpp>
#include <netsuke/kernels/lines/lanes.hpp>
#include <netsuke/math/functions.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// y = x / (bias + alpha / size * sum of squares of `size` neighbours in the last dimension)^beta.
struct local_response_normalization_args : local_response_normalization_params {
  tensor_view input, output;
};

namespace impl {

/// Up to one vector of results from element `i` on of a line of `count` floats at x.
inline void normalize_locally(const local_response_normalization_args& a, const float* x, std::ptrdiff_t count,
                              std::ptrdiff_t i, float* to) {
  using simd::f32;
  const std::ptrdiff_t before = (a.size - 1) / 2, width = f32::lanes;
  const std::ptrdiff_t n = count - i < width ? count - i : width;
  f32 sum = simd::zero();
  for (std::ptrdiff_t j = i - before; j < i - before + a.size; ++j) {
    f32 v;
    if (j >= 0 && j + width <= count) {
      v = simd::load(x + j);
    } else {
      float line[f32::lanes];
      for (std::ptrdiff_t k = 0; k < width; ++k) line[k] = j + k >= 0 && j + k < count ? x[j + k] : 0.0f;
      v = simd::load(line);
    }
    sum = simd::fma(v, v, sum);
  }
  const f32 s = simd::fma(simd::splat(a.alpha / static_cast<float>(a.size)), sum, simd::splat(a.bias));
  const f32 own = load_lanes(x + i, 1, n);
  store_lanes(to + i, 1, n, simd::div(own, math::pow(s, simd::splat(a.beta))));
}

}

/// Normalises one tile of whole lines; float32, the last dimension of both has stride 1. The output must not be the
/// input.
template <class = void>
inline void local_response_normalization(const local_response_normalization_args& a, const tile_range& t, std::byte*) {
  const int last = a.output.rank - 1;
  const std::ptrdiff_t count = a.output.shape[last];
  impl::for_whole_lines(a.output, a.input, last, t, [&](const impl::element_line<2>& l) {
    for (std::ptrdiff_t i = 0; i < l.count; ++i)
      for (std::ptrdiff_t c = 0; c < count; c += simd::f32::lanes)
        impl::normalize_locally(a, a.input.as<float>() + l.at[1] + i * l.stride[1], count, c,
                                a.output.as<float>() + l.at[0] + i * l.stride[0]);
  });
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
