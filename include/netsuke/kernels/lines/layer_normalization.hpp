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
#include <netsuke/kernels/elements/element_lines.hpp>
#include <netsuke/kernels/lines/lanes.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias along the last dimension.
struct layer_normalization_args : layer_normalization_params {
  tensor_view input, output;
  const float *scale, *bias;  ///< one per element of the last dimension
};

namespace impl {

/// A line of `count` floats, and where its result goes; strides along it.
struct normalization_line {
  const float* from;
  float* to;
  std::ptrdiff_t count, from_stride, to_stride;
  std::ptrdiff_t ahead = 0;  ///< to the line that is normalised next, which is prefetched; 0 where there is none
};

/// Lines whose strides are 1 that are normalised at once.
inline constexpr int normalization_lines = 4;

/// What is subtracted from the elements of each of some lines, and what they are multiplied with.
template <int Lines>
struct normalization_factors {
  simd::f32 centre[Lines], factor[Lines];
};

/// Up to 16 elements of the line with that number from element i on; `rest` behind them. Stride is 1, or 0 for any.
template <int Stride>
NSK_INLINE simd::f32x16 line_elements(const normalization_line& l, std::ptrdiff_t from_next, int line, std::ptrdiff_t i,
                                      std::ptrdiff_t n, float rest) {
  const std::ptrdiff_t stride = Stride == 1 ? 1 : l.from_stride;
  return load_sixteen(l.from + line * from_next + i * stride, stride, n, rest);
}

/// The factors of `Lines` lines, `from_next` apart, whose chains of operations hide each other's latency.
template <int Stride, int Lines>
NSK_INLINE normalization_factors<Lines> factors_of(const layer_normalization_args& a, const normalization_line& l,
                                                   std::ptrdiff_t from_next) {
  using simd::f32, simd::unroll;
  const auto length = static_cast<float>(l.count);
  normalization_factors<Lines> result;
  simd::f32x16 sum[Lines];
  float mean[Lines] = {};
  unroll<Lines>([&](auto line) NSK_INLINE_LAMBDA { sum[line] = simd::splat16(0); });
  if (a.centre) {
    for_sixteens(l.count, [&](std::ptrdiff_t i, auto n) NSK_INLINE_LAMBDA {
      unroll<Lines>([&](auto line) NSK_INLINE_LAMBDA {
        sum[line] = map_sixteen(sum[line], line_elements<Stride>(l, from_next, line, i, n, 0),
                                [](f32 s, f32 x) NSK_INLINE_LAMBDA { return simd::add(s, x); });
      });
    });
    unroll<Lines>([&](auto line) NSK_INLINE_LAMBDA {
      mean[line] = simd::sum16(sum[line]) / length;
      sum[line] = simd::splat16(0);
    });
  }
  unroll<Lines>([&](auto line) NSK_INLINE_LAMBDA { result.centre[line] = simd::splat(mean[line]); });
  // missing elements are the mean, whose square adds nothing
  for_sixteens(l.count, [&](std::ptrdiff_t i, auto n) NSK_INLINE_LAMBDA {
    unroll<Lines>([&](auto line) NSK_INLINE_LAMBDA {
      sum[line] = map_sixteen(sum[line], line_elements<Stride>(l, from_next, line, i, n, mean[line]),
                              [&](f32 s, f32 x) NSK_INLINE_LAMBDA {
                                const f32 d = simd::sub(x, result.centre[line]);
                                return simd::fma(d, d, s);
                              });
      simd::prefetch(l.from + l.ahead + line * from_next + i * (Stride == 1 ? 1 : l.from_stride));
    });
  });
  unroll<Lines>([&](auto line) NSK_INLINE_LAMBDA {
    const f32 variance = simd::splat(simd::sum16(sum[line]) / length);
    result.factor[line] = simd::div(simd::splat(1), simd::sqrt(simd::add(variance, simd::splat(a.epsilon))));
  });
  return result;
}

NSK_INLINE simd::f32 normalized(simd::f32 x, simd::f32 centre, simd::f32 factor, simd::f32 scale, simd::f32 bias) {
  return simd::fma(simd::mul(simd::sub(x, centre), factor), scale, bias);
}

/// Normalises `Lines` lines; from_next and to_next are their distances.
template <int Stride, int Lines>
inline void normalize_lines(const layer_normalization_args& a, const normalization_line& l, std::ptrdiff_t from_next,
                            std::ptrdiff_t to_next) {
  const std::ptrdiff_t to_stride = Stride == 1 ? 1 : l.to_stride;
  const normalization_factors<Lines> by = factors_of<Stride, Lines>(a, l, from_next);
  for_sixteens(l.count, [&](std::ptrdiff_t i, auto n) NSK_INLINE_LAMBDA {
    const simd::f32x16 scale = load_sixteen(a.scale + i, 1, n, 0), bias = load_sixteen(a.bias + i, 1, n, 0);
    simd::unroll<Lines>([&](auto line) NSK_INLINE_LAMBDA {
      simd::f32x16 y = line_elements<Stride>(l, from_next, line, i, n, 0);
      simd::unroll<simd::f32x16::parts>([&](auto p) NSK_INLINE_LAMBDA {
        y.part[p] = normalized(y.part[p], by.centre[line], by.factor[line], scale.part[p], bias.part[p]);
      });
      store_sixteen(l.to + line * to_next + i * to_stride, to_stride, n, y);
    });
  });
}

/// Lines that are normalised at once where their results are side by side: squares of registers are transposed.
inline constexpr int transposed_lines = simd::f32::lanes;

/// Normalises so many dense lines of at least as many elements, `from_next` apart, results of neighbours side by side.
inline void normalize_transposed(const layer_normalization_args& a, const normalization_line& l,
                                 std::ptrdiff_t from_next) {
  using simd::f32;
  constexpr int lines = transposed_lines, together = lines < normalization_lines ? lines : normalization_lines;
  f32 centre[lines], factor[lines];
  for (int first = 0; first < lines; first += together) {
    normalization_line some = l;
    some.from += first * from_next;
    const normalization_factors<together> by = factors_of<1, together>(a, some, from_next);
    for (int i = 0; i < together; ++i) {
      centre[first + i] = by.centre[i];
      factor[first + i] = by.factor[i];
    }
  }
  for (std::ptrdiff_t next = 0; next < l.count; next += lines) {
    const std::ptrdiff_t i = next + lines <= l.count ? next : l.count - lines;
    const f32 scale = simd::load(a.scale + i), bias = simd::load(a.bias + i);
    f32 square[lines];
    simd::unroll<lines>([&](auto r) NSK_INLINE_LAMBDA {
      square[r] = normalized(simd::load(l.from + r * from_next + i), centre[r], factor[r], scale, bias);
    });
    simd::transpose(square);
    simd::unroll<lines>([&](auto r) NSK_INLINE_LAMBDA { simd::store(l.to + (i + r) * l.to_stride, square[r]); });
  }
}

}

/// Normalises one tile of whole lines; float32, any strides. The output may be the input.
template <class = void>
inline void layer_normalization(const layer_normalization_args& a, const tile_range& t, std::byte*) {
  const int last = a.output.rank - 1;
  impl::for_whole_lines(a.output, a.input, last, t, [&](const impl::element_line<2>& l) {
    impl::normalization_line line{a.input.as<float>() + l.at[1], a.output.as<float>() + l.at[0], a.input.shape[last],
                                  a.input.stride[last], a.output.stride[last]};
    const bool dense = line.from_stride == 1 && line.to_stride == 1;
    const bool transposed = impl::transposed_lines > 1 && !dense && line.from_stride == 1 && l.stride[0] == 1 &&
                            line.count >= impl::transposed_lines;
    const int together = transposed ? impl::transposed_lines : dense ? impl::normalization_lines : 1;
    for (std::ptrdiff_t left = l.count; left > 0;) {
      const int some = left >= together ? together : 1;
      line.ahead = left >= 2 * some ? some * l.stride[1] : 0;
      if (some > 1 && transposed)
        impl::normalize_transposed(a, line, l.stride[1]);
      else if (some > 1)
        impl::normalize_lines<1, impl::normalization_lines>(a, line, l.stride[1], l.stride[0]);
      else
        impl::normalize_lines<0, 1>(a, line, 0, 0);
      left -= some;
      line.from += some * l.stride[1];
      line.to += some * l.stride[0];
    }
  });
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
