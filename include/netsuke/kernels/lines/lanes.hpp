// SPDX-License-Identifier: MIT
#pragma once
/// Vectors and blocks of sixteen from strided memory, for kernels that reduce.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Loads n elements, `stride` apart; 0 in the other lanes.
NSK_INLINE simd::f32 load_lanes(const float* p, std::ptrdiff_t stride, std::ptrdiff_t n) {
  using simd::f32;
  if (stride == 1) return n >= f32::lanes ? simd::load(p) : simd::load_partial(p, static_cast<int>(n));
  float block[f32::lanes] = {};
  for (std::ptrdiff_t i = 0; i < n && i < f32::lanes; ++i) block[i] = p[i * stride];
  return simd::load(block);
}
/// Stores the first n lanes, `stride` apart.
NSK_INLINE void store_lanes(float* p, std::ptrdiff_t stride, std::ptrdiff_t n, simd::f32 x) {
  using simd::f32;
  if (stride == 1) return n >= f32::lanes ? simd::store(p, x) : simd::store_partial(p, static_cast<int>(n), x);
  float block[f32::lanes];
  simd::store(block, x);
  for (std::ptrdiff_t i = 0; i < n && i < f32::lanes; ++i) p[i * stride] = block[i];
}

alignas(64) inline constexpr std::int32_t lane_number[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/// How many of n elements fall into part i, a register long.
NSK_INLINE int part_length(std::ptrdiff_t n, int i) {
  const std::ptrdiff_t left = n - i * simd::f32::lanes;
  return left <= 0 ? 0 : left >= simd::f32::lanes ? simd::f32::lanes : static_cast<int>(left);
}

/// Loads n of 16 elements, `stride` apart; `rest` in the others.
NSK_INLINE simd::f32x16 load_sixteen(const float* p, std::ptrdiff_t stride, std::ptrdiff_t n, float rest) {
  using simd::f32;
  if (stride == 1 && n >= 16) return simd::load16(p);
  if (stride == 1) {
    simd::f32x16 x;
    const simd::i32 end = simd::splat_i32(static_cast<std::int32_t>(n));
    simd::unroll<simd::f32x16::parts>([&](auto i) NSK_INLINE_LAMBDA {
      const simd::mask inside = simd::less(simd::load_i32(lane_number + i * f32::lanes), end);
      x.part[i] = simd::select(inside, simd::load_partial(p + i * f32::lanes, part_length(n, i)), simd::splat(rest));
    });
    return x;
  }
  float block[16];
  for (std::ptrdiff_t i = 0; i < 16; ++i) block[i] = i < n ? p[i * stride] : rest;
  return simd::load16(block);
}
/// Stores n of 16 elements, `stride` apart.
NSK_INLINE void store_sixteen(float* p, std::ptrdiff_t stride, std::ptrdiff_t n, const simd::f32x16& x) {
  using simd::f32;
  if (stride == 1 && n >= 16) return simd::store16(p, x);
  if (stride == 1) {
    simd::unroll<simd::f32x16::parts>([&](auto i) NSK_INLINE_LAMBDA {
      const int length = part_length(n, i);
      if (length == f32::lanes)
        simd::store(p + i * f32::lanes, x.part[i]);
      else if (length > 0)
        simd::store_partial(p + i * f32::lanes, length, x.part[i]);
    });
    return;
  }
  float block[16];
  simd::store16(block, x);
  for (std::ptrdiff_t i = 0; i < n && i < 16; ++i) p[i * stride] = block[i];
}
/// Applies f to every part.
template <class F>
NSK_INLINE simd::f32x16 map_sixteen(const simd::f32x16& x, F f) {
  simd::f32x16 y;
  simd::unroll<simd::f32x16::parts>([&](auto i) NSK_INLINE_LAMBDA { y.part[i] = f(x.part[i]); });
  return y;
}
template <class F>
NSK_INLINE simd::f32x16 map_sixteen(const simd::f32x16& a, const simd::f32x16& b, F f) {
  simd::f32x16 y;
  simd::unroll<simd::f32x16::parts>([&](auto i) NSK_INLINE_LAMBDA { y.part[i] = f(a.part[i], b.part[i]); });
  return y;
}

/// Calls f(i, n) for the blocks of up to 16 of `count` elements: n is a constant 16, then what is left.
template <class F>
NSK_INLINE void for_sixteens(std::ptrdiff_t count, F f) {
  std::ptrdiff_t i = 0;
  for (; i + 16 <= count; i += 16) f(i, std::integral_constant<int, 16>{});
  if (i < count) f(i, count - i);
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
