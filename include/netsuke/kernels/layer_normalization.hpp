// SPDX-License-Identifier: MIT
#pragma once
/// Normalisation of lines: zero mean and unit variance along the last dimension, then a scale and a bias per element.
///
/// Order of operations: the sum over 16 partials (simd/generic.hpp) divided by the length is the mean m; the sum of the
/// squares of x - m likewise the variance v; f = 1 / sqrt(v + epsilon); y = ((x - m) * f) * scale + bias, the last two
/// fused.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/impl/element_lines.hpp>
#include <netsuke/kernels/impl/lanes.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias along the last dimension.
struct layer_normalization_args : layer_normalization_params {
  tensor_view input, output;
  const float *scale, *bias;  ///< one per element of the last dimension
};

namespace impl {

/// A line of `count` floats, `step` apart.
struct float_line {
  const float* data;
  std::ptrdiff_t count, step;
};

/// Sum over 16 partials of f(x); f(0 - centre) of missing elements is not added.
template <class F>
NSK_INLINE float sum_of_line(const float_line& l, float rest, F f) {
  using simd::f32;
  simd::f32x16 sum = simd::splat16(0);
  for (std::ptrdiff_t i = 0; i < l.count; i += 16) {
    const simd::f32x16 x = load_sixteen(l.data + i * l.step, l.step, l.count - i, rest);
    sum = map_sixteen(sum, x, [&](f32 s, f32 v) { return f(s, v); });
  }
  return simd::sum16(sum);
}

inline void normalize_line(const layer_normalization_args& a, const float_line& l, float* to, std::ptrdiff_t to_step) {
  using simd::f32;
  const auto length = static_cast<float>(l.count);
  const float mean = a.centre ? sum_of_line(l, 0, [](f32 s, f32 x) { return simd::add(s, x); }) / length : 0.0f;
  const f32 centre = simd::splat(mean);
  const float variance = sum_of_line(l, mean,
                                     [&](f32 s, f32 x) {
                                       const f32 d = simd::sub(x, centre);
                                       return simd::fma(d, d, s);
                                     }) /
                         length;
  const f32 factor = simd::div(simd::splat(1), simd::sqrt(simd::add(simd::splat(variance), simd::splat(a.epsilon))));
  for (std::ptrdiff_t i = 0; i < l.count; i += 16) {
    const std::ptrdiff_t n = l.count - i;
    const simd::f32x16 x = load_sixteen(l.data + i * l.step, l.step, n, 0), scale = load_sixteen(a.scale + i, 1, n, 0),
                       bias = load_sixteen(a.bias + i, 1, n, 0);
    simd::f32x16 y;
    simd::unroll<simd::f32x16::parts>([&](auto p) NSK_INLINE_LAMBDA {
      y.part[p] = simd::fma(simd::mul(simd::sub(x.part[p], centre), factor), scale.part[p], bias.part[p]);
    });
    store_sixteen(to + i * to_step, to_step, n, y);
  }
}

}

/// Normalises one tile of whole lines; float32, any strides. The output may be the input.
template <class = void>
inline void layer_normalization(const layer_normalization_args& a, const tile_range& t, std::byte*) {
  const int last = a.output.rank - 1;
  const std::ptrdiff_t* strides[] = {a.output.stride, a.input.stride};
  tensor_view lines = a.output;
  lines.shape[last] = 1;
  tile_range first = t;
  first.channel_end = 1;
  impl::for_each_line(lines, strides, first, [&](const impl::element_line<2>& l) {
    for (std::ptrdiff_t i = 0; i < l.count; ++i)
      impl::normalize_line(a,
                           {a.input.as<float>() + l.at[1] + i * l.step[1], a.input.shape[last], a.input.stride[last]},
                           a.output.as<float>() + l.at[0] + i * l.step[0], a.output.stride[last]);
  });
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
