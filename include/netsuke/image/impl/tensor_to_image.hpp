// SPDX-License-Identifier: MIT
#pragma once
/// The body of tensor_to_image: pieces of rows become words of bytes, words become pixels.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/image/impl/planes.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace image_impl {

/// Scales and clamps the channels of n pixels to levels.
inline void make_levels(const channel_scale& s, int channels, std::int32_t n, planes& p) {
  using simd::f32;
  for (int c = 0; c < channels; ++c) {
    const f32 scale = simd::splat(s.scale[c]), offset = simd::splat(s.offset[c]), white = simd::splat(255);
    for (std::int32_t i = 0; i < n; i += f32::lanes)
      simd::store(p.level[c] + i,
                  simd::clamp_result(simd::fma(simd::load(p.level[c] + i), scale, offset), simd::zero(), white));
  }
}

/// Writes n pixels as little-endian words, byte 0 lowest; byte 3 is alpha, 255 where the tensor has none.
inline void make_words(const planes& p, channel_order order, pixel_format format, std::int32_t n, std::int32_t* to) {
  using simd::f32;
  using simd::i32;
  const places source = places_of(order);
  const float *red = p.level[source.red], *green = p.level[source.green], *blue = p.level[source.blue];
  if (format == pixel_format::grey8 && order != channel_order::grey) {
    for (std::int32_t i = 0; i < n; i += f32::lanes)
      simd::store_i32(to + i,
                      simd::to_i32(brightness(simd::load(red + i), simd::load(green + i), simd::load(blue + i))));
    return;
  }
  const bool blue_first = places_of(format).blue < places_of(format).red;
  const float *first = blue_first ? blue : red, *third = blue_first ? red : blue;
  const float* alpha = source.alpha < 0 ? nullptr : p.level[source.alpha];
  for (std::int32_t i = 0; i < n; i += f32::lanes) {
    const i32 a = alpha == nullptr ? simd::splat_i32(255) : simd::to_i32(simd::load(alpha + i));
    const i32 low =
        simd::bit_or(simd::to_i32(simd::load(first + i)), simd::shift_left<8>(simd::to_i32(simd::load(green + i))));
    const i32 high = simd::bit_or(simd::to_i32(simd::load(third + i)), simd::shift_left<8>(a));
    simd::store_i32(to + i, simd::bit_or(low, simd::shift_left<16>(high)));
  }
}

/// Stores the first Bytes bytes of n words, Step bytes apart.
template <int Bytes, int Step>
inline void store_pixels(const std::int32_t* words, std::int32_t n, std::uint8_t* to) {
  for (std::int32_t i = 0; i < n; ++i) std::memcpy(to + std::ptrdiff_t{i} * Step, words + i, Bytes);
}
inline void store_pixels(const std::int32_t* words, std::int32_t n, std::uint8_t* to, int bytes, bool keep_alpha) {
  if (bytes == 1) return store_pixels<1, 1>(words, n, to);
  if (bytes == 3) return store_pixels<3, 3>(words, n, to);
  if (keep_alpha) return store_pixels<3, 4>(words, n, to);
  store_pixels<4, 4>(words, n, to);
}

/// Writes a row of an image from a row of the tensor.
inline void write_row(const float* from, const tensor_settings& how, const writable_image& to, std::int32_t row) {
  const int channels = channel_count(how.order), bytes = pixel_bytes(to.format);
  const bool keep_alpha = channels != 4 && how.alpha == image_alpha::keep;
  planes levels;
  alignas(64) std::int32_t words[piece];
  for (std::int32_t column = 0; column < to.width; column += piece) {
    const std::int32_t n = to.width - column < piece ? to.width - column : piece;
    separate(channels, from + std::ptrdiff_t{column} * channels, n, levels);
    make_levels(how.scale, channels, n, levels);
    make_words(levels, how.order, to.format, n, words);
    store_pixels(words, n, to.pixels + row * to.stride + std::ptrdiff_t{column} * bytes, bytes, keep_alpha);
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
