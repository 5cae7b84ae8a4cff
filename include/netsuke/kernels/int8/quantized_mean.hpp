// SPDX-License-Identifier: MIT
#pragma once
/// The mean of all pixels of an image that bytes store, stored as bytes. Sums of bytes are exact in float32 while they
/// are below 2^24, so that their order is free.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/int8/quantize.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output [N, 1, 1, C] = saturate(zero + round_half_even(sum of (input - input_zero) / pixels / scale)) of [N, H, W,
/// C]; last dimensions have stride 1.
struct quantized_mean_args : quantized_mean_params {
  tensor_view input, output;
};

namespace impl {

/// Sums of up to 64 channels of an image whose first byte is `from`; whole registers are read and written.
template <int Vectors>
NSK_ONE_COPY inline void add_pixels(const tensor_view& x, const std::uint8_t* from, float* to) {
  using simd::f32;
  f32 sum[Vectors];
  simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { sum[v] = simd::zero(); });
  for (int y = 0; y < x.shape[1]; ++y) {
    const std::uint8_t* pixel = from + y * x.stride[1];
    for (int i = x.shape[2]; i > 0; --i, pixel += x.stride[2])
      simd::unroll<Vectors>(
          [&](auto v) NSK_INLINE_LAMBDA { sum[v] = simd::add(sum[v], simd::load_u8(pixel + v * f32::lanes)); });
  }
  simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { simd::store(to + v * f32::lanes, sum[v]); });
}

}

/// Stores the means of one tile.
template <class = void>
inline void quantized_mean(const quantized_mean_args& a, const tile_range& t, std::byte*) {
  using simd::f32;
  constexpr int block = 64, vectors = 4, together = vectors * f32::lanes;
  static_assert(block % together == 0, "sums of whole registers fill the block");
  const tensor_view& x = a.input;
  const auto pixels = static_cast<float>(x.shape[1] * x.shape[2]);
  const float zeros = pixels * static_cast<float>(a.input_zero);
  const quantize_params p{a.scale, a.zero, a.low, a.high};
  for (int n = t.row_begin; n < t.row_end; ++n)
    for (int c = t.channel_begin; c < t.channel_end; c += block) {
      const int count = t.channel_end - c < block ? t.channel_end - c : block;
      const std::uint8_t* const from = x.as<std::uint8_t>() + n * x.stride[0] + c;
      alignas(64) float sum[block];
      for (int i = 0; i < count; i += together) {
        if (count - i > f32::lanes)
          impl::add_pixels<vectors>(x, from + i, sum + i);
        else
          impl::add_pixels<1>(x, from + i, sum + i);
      }
      for (int i = 0; i < count; ++i) sum[i] = (sum[i] - zeros) / pixels;
      impl::quantize_line(p, sum, a.output.as<std::uint8_t>() + n * a.output.stride[0] + c, count, false);
    }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
