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

/// A line of `count` floats, and where its result goes; steps along it.
struct normalization_line {
  const float* from;
  float* to;
  std::ptrdiff_t count, from_step, to_step;
  std::ptrdiff_t ahead = 0;  ///< to the line that is normalised next, which is prefetched; 0 where there is none
};

/// Lines whose steps are 1 that are normalised at once.
inline constexpr int normalization_lines = 4;

/// Normalises `Lines` lines, whose chains of operations hide each other's latency; from_next and to_next are their
/// distances. Step is 1, or 0 for any steps.
template <int Step, int Lines>
inline void normalize_lines(const layer_normalization_args& a, const normalization_line& l, std::ptrdiff_t from_next,
                            std::ptrdiff_t to_next) {
  using simd::f32;
  using simd::f32x16;
  using simd::unroll;
  const std::ptrdiff_t from_step = Step == 1 ? 1 : l.from_step, to_step = Step == 1 ? 1 : l.to_step;
  const auto length = static_cast<float>(l.count);
  const auto input = [&](int line, std::ptrdiff_t i, std::ptrdiff_t n, float rest) {
    return load_sixteen(l.from + line * from_next + i * from_step, from_step, n, rest);
  };
  // Calls f(i, n) for the blocks of up to 16 elements.
  const auto each = [&](auto f) {
    std::ptrdiff_t i = 0;
    for (; i + 16 <= l.count; i += 16) f(i, 16);
    if (i < l.count) f(i, l.count - i);
  };

  f32x16 sum[Lines];
  float mean[Lines] = {};
  f32 centre[Lines], factor[Lines];
  unroll<Lines>([&](auto line) { sum[line] = simd::splat16(0); });
  if (a.centre) {
    each([&](std::ptrdiff_t i, std::ptrdiff_t n) {
      unroll<Lines>([&](auto line) {
        sum[line] = map_sixteen(sum[line], input(line, i, n, 0), [](f32 s, f32 x) { return simd::add(s, x); });
      });
    });
    unroll<Lines>([&](auto line) {
      mean[line] = simd::sum16(sum[line]) / length;
      sum[line] = simd::splat16(0);
    });
  }
  unroll<Lines>([&](auto line) { centre[line] = simd::splat(mean[line]); });
  each([&](std::ptrdiff_t i, std::ptrdiff_t n) {  // missing elements are the mean, whose square adds nothing
    unroll<Lines>([&](auto line) {
      sum[line] = map_sixteen(sum[line], input(line, i, n, mean[line]), [&](f32 s, f32 x) {
        const f32 d = simd::sub(x, centre[line]);
        return simd::fma(d, d, s);
      });
      simd::prefetch(l.from + l.ahead + line * from_next + i * from_step);
    });
  });
  unroll<Lines>([&](auto line) {
    const f32 variance = simd::splat(simd::sum16(sum[line]) / length);
    factor[line] = simd::div(simd::splat(1), simd::sqrt(simd::add(variance, simd::splat(a.epsilon))));
  });
  each([&](std::ptrdiff_t i, std::ptrdiff_t n) {
    const f32x16 scale = load_sixteen(a.scale + i, 1, n, 0), bias = load_sixteen(a.bias + i, 1, n, 0);
    unroll<Lines>([&](auto line) {
      f32x16 y = input(line, i, n, 0);
      unroll<f32x16::parts>([&](auto p) NSK_INLINE_LAMBDA {
        y.part[p] = simd::fma(simd::mul(simd::sub(y.part[p], centre[line]), factor[line]), scale.part[p], bias.part[p]);
      });
      store_sixteen(l.to + line * to_next + i * to_step, to_step, n, y);
    });
  });
}

}

/// Normalises one tile of whole lines; float32, any strides. The output may be the input.
template <class = void>
inline void layer_normalization(const layer_normalization_args& a, const tile_range& t, std::byte*) {
  const int last = a.output.rank - 1;
  impl::for_whole_lines(a.output, a.input, last, t, [&](const impl::element_line<2>& l) {
    impl::normalization_line line{a.input.as<float>() + l.at[1], a.output.as<float>() + l.at[0], a.input.shape[last],
                                  a.input.stride[last], a.output.stride[last]};
    const bool dense = line.from_step == 1 && line.to_step == 1;
    for (std::ptrdiff_t left = l.count; left > 0;) {
      const int some = dense && left >= impl::normalization_lines ? impl::normalization_lines : 1;
      line.ahead = left >= 2 * some ? some * l.step[1] : 0;
      if (some > 1)
        impl::normalize_lines<1, impl::normalization_lines>(a, line, l.step[1], l.step[0]);
      else
        impl::normalize_lines<0, 1>(a, line, 0, 0);
      left -= some;
      line.from += some * l.step[1];
      line.to += some * l.step[0];
    }
  });
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
