// SPDX-License-Identifier: MIT
#pragma once
/// What both directions between images and tensors share: pieces of rows with a plane per channel.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/image/types.hpp>
#include <netsuke/simd/float_env.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace image_impl {

/// Pixels that are worked on at a time: a multiple of every vector's width, small enough for the stack.
inline constexpr std::int32_t piece = 64;
static_assert(piece % simd::f32::lanes == 0);

struct planes {
  alignas(64) float level[4][piece] = {};
};

/// Places of the colours among the bytes of a pixel or the channels of a tensor; alpha is -1 where there is none.
struct places {
  int red, green, blue, alpha;
};
constexpr places places_of(pixel_format f) {
  switch (f) {
    case pixel_format::rgba8: return {0, 1, 2, 3};
    case pixel_format::bgra8: return {2, 1, 0, 3};
    case pixel_format::rgb8: return {0, 1, 2, -1};
    case pixel_format::bgr8: return {2, 1, 0, -1};
    default: return {0, 0, 0, -1};
  }
}
constexpr places places_of(channel_order o) {
  switch (o) {
    case channel_order::rgba: return {0, 1, 2, 3};
    case channel_order::bgra: return {2, 1, 0, 3};
    case channel_order::rgb: return {0, 1, 2, -1};
    case channel_order::bgr: return {2, 1, 0, -1};
    default: return {0, 0, 0, -1};
  }
}

/// Brightness of a colour (ITU-R BT.601): 0.299 R + 0.587 G + 0.114 B, in this order.
NSK_INLINE simd::f32 brightness(simd::f32 red, simd::f32 green, simd::f32 blue) {
  const simd::f32 start = simd::mul(red, simd::splat(0.299f));
  return simd::fma(blue, simd::splat(0.114f), simd::fma(green, simd::splat(0.587f), start));
}

/// Writes n pixels of C channels each from planes, or reads them.
template <int C>
inline void interleave(const planes& from, std::int32_t n, float* NSK_RESTRICT to) {
  for (std::int32_t i = 0; i < n; ++i)
    for (int c = 0; c < C; ++c) to[i * C + c] = from.level[c][i];
}
template <int C>
inline void separate(const float* NSK_RESTRICT from, std::int32_t n, planes& to) {
  for (std::int32_t i = 0; i < n; ++i)
    for (int c = 0; c < C; ++c) to.level[c][i] = from[i * C + c];
}
NSK_ONE_COPY inline void interleave(int channels, const planes& from, std::int32_t n, float* to) {
  if (channels == 3) return interleave<3>(from, n, to);
  if (channels == 4) return interleave<4>(from, n, to);
  interleave<1>(from, n, to);
}
NSK_ONE_COPY inline void separate(int channels, const float* from, std::int32_t n, planes& to) {
  if (channels == 3) return separate<3>(from, n, to);
  if (channels == 4) return separate<4>(from, n, to);
  separate<1>(from, n, to);
}

/// Returns how many of `rows` rows of `row` floats a block of `size` floats holds.
inline std::int32_t rows_in(std::size_t size, std::int32_t rows, std::ptrdiff_t row) {
  const std::size_t fit = size / static_cast<std::size_t>(row);
  return fit < static_cast<std::size_t>(rows) ? static_cast<std::int32_t>(fit) : rows;
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
