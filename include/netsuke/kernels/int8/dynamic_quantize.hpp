// SPDX-License-Identifier: MIT
#pragma once
/// Real numbers stored as bytes by a scale that is known only at run time: that of their least and largest. Which these
/// are depends on no order; what is made of them rounds as the schema says.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/element_lines.hpp>
#include <netsuke/kernels/int8/quantize.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output [2] = scale and zero point of all of the input, any strides. A tile is the whole output.
struct dynamic_range_args {
  tensor_view input, output;
};
/// output (uint8) = saturate(zero + round_half_even(input / scale)); equal shapes, any strides.
struct dynamic_quantize_args {
  tensor_view input, output;
  const float *scale, *zero;
};

namespace impl {

/// The zero point of bytes as an integer; within their range whatever a tensor holds.
inline std::int32_t zero_of_bytes(const float* zero) {
  return *zero >= 255 ? 255 : *zero > 0 ? static_cast<std::int32_t>(*zero) : 0;
}

/// The least and the largest of 0 and some numbers.
struct number_range {
  float low = 0, high = 0;
};

/// Takes `count` numbers in. A NaN changes nothing; lanes behind the end are 0.
NSK_ONE_COPY inline void extend_range(number_range& r, const float* from, std::ptrdiff_t count) {
  using simd::f32;
  constexpr int vectors = 4;
  f32 low[vectors], high[vectors];
  for (int v = 0; v < vectors; ++v) low[v] = simd::splat(r.low), high[v] = simd::splat(r.high);
  const auto take = [&](int v, f32 x) NSK_INLINE_LAMBDA {
    low[v] = simd::min(x, low[v]);
    high[v] = simd::max(x, high[v]);
  };
  std::ptrdiff_t i = 0;
  for (; i + vectors * f32::lanes <= count; i += vectors * f32::lanes)
    simd::unroll<vectors>([&](auto v) NSK_INLINE_LAMBDA { take(v, simd::load(from + i + v * f32::lanes)); });
  for (; i < count; i += f32::lanes)
    take(0, count - i < f32::lanes ? simd::load_partial(from + i, static_cast<int>(count - i)) : simd::load(from + i));
  r.low = simd::reduce_min(simd::min(simd::min(low[0], low[1]), simd::min(low[2], low[3])));
  r.high = simd::reduce_max(simd::max(simd::max(high[0], high[1]), simd::max(high[2], high[3])));
}

inline void put_scale_and_zero(const number_range& r, float* scale, float* zero) {
  const float range = r.high - r.low;
  *scale = range > 0 ? range / 255.0f : 1.0f;
  float rounded[simd::f32::lanes];
  simd::store(rounded, simd::round_even(simd::splat((0.0f - r.low) / *scale)));
  *zero = static_cast<float>(zero_of_bytes(rounded));
}

}

/// Finds the scale and the zero point.
template <class = void>
inline void dynamic_range(const dynamic_range_args& a, const tile_range&, std::byte*) {
  const tensor_view& x = a.input;
  tile_range all{0, 1, 0, x.length(1), 0, x.length(0)};
  for (int d = 0; d + 2 < x.rank; ++d) all.row_end *= x.shape[d];
  const std::ptrdiff_t* strides[] = {x.stride};
  impl::number_range r;
  impl::for_each_line(x, strides, all, [&](const impl::element_line<1>& l) {
    const float* const line = x.as<float>() + l.at[0];
    if (l.stride[0] == 1) return impl::extend_range(r, line, l.count);
    for (std::ptrdiff_t i = 0; i < l.count; ++i) impl::extend_range(r, line + i * l.stride[0], 1);
  });
  impl::put_scale_and_zero(r, a.output.as<float>(), a.output.as<float>() + a.output.stride[0]);
}

/// Stores the elements of one tile.
template <class = void>
inline void dynamic_quantize(const dynamic_quantize_args& a, const tile_range& t, std::byte*) {
  const quantize_params p{*a.scale, impl::zero_of_bytes(a.zero), 0, 255};
  const tensor_view* const inputs[] = {&a.input};
  impl::operand_blocks blocks[] = {impl::operand_blocks(a.input)};
  impl::for_each_piece(
      a.output, inputs, blocks, t, [&](const std::byte* const(&x)[1], std::byte* to, std::ptrdiff_t count) {
        impl::quantize_line(p, impl::elements_of<float>(x[0]), reinterpret_cast<std::uint8_t*>(to), count, false);
      });
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
