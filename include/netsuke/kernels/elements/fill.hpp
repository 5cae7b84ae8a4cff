// SPDX-License-Identifier: MIT
#pragma once
/// One value for a whole tensor, of any element type.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/elements/loop_nest.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = value everywhere, converted to the output's type.
struct fill_args : fill_params {
  tensor_view output;
};

namespace impl {

/// Clamps to [low, high], then rounds half to even; NaN gives low. high is at most 2^53.
inline std::int64_t to_integer(double x, double low, double high) {
  const double clamped = x > low ? (x < high ? x : high) : low;
  const double magnitude = clamped < 0 ? -clamped : clamped,
               whole = 4503599627370496.0;  // 2^52: no fraction bits from here on
  const double rounded = magnitude < whole ? (magnitude + whole) - whole : magnitude;
  return static_cast<std::int64_t>(clamped < 0 ? -rounded : rounded);
}

/// The bytes of one element of type `type` with this value. Integers are clamped, then rounded half to even; boolean is
/// value != 0.
inline std::uint64_t element_bits(dtype type, float value) {
  const double x = static_cast<double>(value);
  std::uint32_t single = 0;
  switch (type) {
    case dtype::float32: std::memcpy(&single, &value, sizeof single); return single;
    case dtype::float16: {
      std::uint16_t half[simd::f32::lanes];
      simd::store_f16(half, simd::splat(value));
      return half[0];
    }
    case dtype::int8: return static_cast<std::uint8_t>(to_integer(x, -128, 127));
    case dtype::uint8: return static_cast<std::uint8_t>(to_integer(x, 0, 255));
    case dtype::int16: return static_cast<std::uint16_t>(to_integer(x, -32768, 32767));
    case dtype::int32: return static_cast<std::uint32_t>(to_integer(x, -2147483648.0, 2147483647.0));
    case dtype::int64: return static_cast<std::uint64_t>(to_integer(x, -9223372036854775808.0, 9223371487098961920.0));
    case dtype::boolean: return value != 0 ? 1u : 0u;
  }
  return 0;
}

/// Fills one tile of `v`, without its border: runs from a pattern that repeats the element, others one by one.
NSK_ONE_COPY inline void fill_elements(const tensor_view& v, float value, const tile_range& t) {
  constexpr std::size_t length = 64;
  const std::uint64_t bits = element_bits(v.type, value);
  const auto size = static_cast<std::size_t>(size_of(v.type));
  alignas(length) std::byte pattern[length];
  for (std::size_t i = 0; i < length; i += size) std::memcpy(pattern + i, &bits, size);
  const std::ptrdiff_t* strides[1] = {v.stride};
  for_each_nest(v.shape, v.rank, strides, t, [&](const loop_nest<1>& b) {
    const std::ptrdiff_t each = static_cast<std::ptrdiff_t>(size), stride = b.of[2].stride[0], count = b.of[2].length;
    for (std::ptrdiff_t i = 0; i < b.of[0].length; ++i)
      for (std::ptrdiff_t j = 0; j < b.of[1].length; ++j) {
        std::byte* to = v.data + (b.offset[0] + i * b.of[0].stride[0] + j * b.of[1].stride[0]) * each;
        if (stride != 1) {
          for (std::ptrdiff_t k = 0; k < count; ++k, to += stride * each) std::memcpy(to, pattern, size);
          continue;
        }
        std::size_t left = static_cast<std::size_t>(count) * size;
        for (; left >= length; left -= length, to += length) std::memcpy(to, pattern, length);
        std::memcpy(to, pattern, left);
      }
  });
}

/// Fills rows x pixels of one image's border, in the tile's channels; `y` and `x` may be negative.
inline void fill_border_part(const tensor_view& v, std::ptrdiff_t image, int y, int rows, int x, int pixels,
                             const tile_range& t) {
  if (rows <= 0 || pixels <= 0) return;
  tensor_view part = v;
  part.rank = 3;
  part.shape[0] = rows;
  part.shape[1] = pixels;
  part.shape[2] = v.length(0);
  for (int d = 0; d < 3; ++d) part.stride[d] = v.stride[v.rank - 3 + d];
  part.data = v.data + (image + y * part.stride[0] + x * part.stride[1]) * size_of(v.type);
  fill_elements(part, v.fill, {0, rows, 0, pixels, t.channel_begin, t.channel_end});
}

/// `fill_border` for every element type: float32 as in border.hpp, others by fills of the four sides.
inline void fill_typed_border(const tensor_view& v, const tile_range& t) {
  if (v.type == dtype::float32) return fill_border(v, t);
  const halo& h = v.border;
  if (v.rank < 3 || (h.top | h.left | h.bottom | h.right) == 0) return;
  const int height = v.length(2), width = v.length(1);
  const int left = t.pixel_begin == 0 ? h.left : 0, right = t.pixel_end == width ? h.right : 0;
  const int begin = t.pixel_begin - left, pixels = t.pixel_end + right - begin;
  for_images(t, height, [&](int number, int y, int y_end) {
    const std::ptrdiff_t image = row_offset(v, number * height);
    const int rows = y_end - y;
    fill_border_part(v, image, y, rows, -left, left, t);
    fill_border_part(v, image, y, rows, width, right, t);
    if (y == 0) fill_border_part(v, image, -h.top, h.top, begin, pixels, t);
    if (y_end == height) fill_border_part(v, image, height, h.bottom, begin, pixels, t);
  });
}

}

/// output = value everywhere, converted to its type: integers clamp, then round half to even (NaN gives the lowest);
/// boolean is value != 0.
inline void fill(const fill_args& a, const tile_range& t, std::byte*) {
  impl::fill_elements(a.output, a.value, t);
  impl::fill_typed_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
