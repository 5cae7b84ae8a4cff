// SPDX-License-Identifier: MIT
#pragma once
/// Bilinear sampling of a piece of a row: where its pixels are, the four neighbours of each, and their blend.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/image/impl/planes.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace image_impl {

/// Along one axis: the two nearest rows or columns of every pixel of a piece, and the weight of the second.
struct neighbours {
  alignas(64) std::int32_t first[piece] = {}, second[piece] = {};
  alignas(64) float weight[piece] = {};

  /// Sets pixel i from a place in pixel centres, clamped to [0, size - 1].
  void set(std::int32_t i, double place, std::int32_t size) {
    const double last = size - 1, inside = place > 0 ? (place < last ? place : last) : 0;
    const std::int32_t whole = static_cast<std::int32_t>(inside);
    first[i] = whole;
    second[i] = whole + 1 < size ? whole + 1 : whole;
    weight[i] = static_cast<float>(inside - whole);
  }
};

/// The pixels around each sample as little-endian words: upper left, upper right, lower left, lower right.
struct corners {
  alignas(64) std::int32_t word[4][piece] = {};
};

/// Reads a pixel of 1, 3 or 4 bytes and none besides.
template <int Bytes>
NSK_INLINE std::int32_t pixel_word(const std::uint8_t* p) {
  if constexpr (Bytes == 4) {
    std::int32_t word;
    std::memcpy(&word, p, 4);
    return word;
  } else if constexpr (Bytes == 3) {
    std::uint16_t low;
    std::memcpy(&low, p, 2);
    return low | p[2] << 16;
  } else {
    return *p;
  }
}

/// Gathers n samples that all are between the same two rows of the image.
template <int Bytes>
inline void gather(const std::uint8_t* upper, const std::uint8_t* lower, const neighbours& x, std::int32_t n,
                   corners& to) {
  for (std::int32_t i = 0; i < n; ++i) {
    const std::ptrdiff_t left = std::ptrdiff_t{x.first[i]} * Bytes, right = std::ptrdiff_t{x.second[i]} * Bytes;
    to.word[0][i] = pixel_word<Bytes>(upper + left);
    to.word[1][i] = pixel_word<Bytes>(upper + right);
    to.word[2][i] = pixel_word<Bytes>(lower + left);
    to.word[3][i] = pixel_word<Bytes>(lower + right);
  }
}
/// Gathers n samples, each between two rows of its own.
template <int Bytes>
inline void gather(const image_view& from, const neighbours& x, const neighbours& y, std::int32_t n, corners& to) {
  for (std::int32_t i = 0; i < n; ++i) {
    const std::uint8_t* upper = from.pixels + y.first[i] * from.stride;
    const std::uint8_t* lower = from.pixels + y.second[i] * from.stride;
    const std::ptrdiff_t left = std::ptrdiff_t{x.first[i]} * Bytes, right = std::ptrdiff_t{x.second[i]} * Bytes;
    to.word[0][i] = pixel_word<Bytes>(upper + left);
    to.word[1][i] = pixel_word<Bytes>(upper + right);
    to.word[2][i] = pixel_word<Bytes>(lower + left);
    to.word[3][i] = pixel_word<Bytes>(lower + right);
  }
}

/// Gathers n samples of an image of any format. `y` holds one row for all samples (`one_row`), or a row for each.
NSK_ONE_COPY inline void gather(const image_view& from, const neighbours& x, const neighbours& y, bool one_row,
                                std::int32_t n, corners& to) {
  const int bytes = pixel_bytes(from.format);
  if (!one_row)
    return bytes == 4   ? gather<4>(from, x, y, n, to)
           : bytes == 3 ? gather<3>(from, x, y, n, to)
                        : gather<1>(from, x, y, n, to);
  const std::uint8_t *upper = from.pixels + y.first[0] * from.stride, *lower = from.pixels + y.second[0] * from.stride;
  if (bytes == 4) return gather<4>(upper, lower, x, n, to);
  if (bytes == 3) return gather<3>(upper, lower, x, n, to);
  gather<1>(upper, lower, x, n, to);
}

/// Byte number Byte of every word, as a level.
template <int Byte>
NSK_INLINE simd::f32 level_of(simd::i32 word) {
  return simd::to_f32(simd::bit_and(simd::shift_right_logical<8 * Byte>(word), simd::splat_i32(255)));
}
/// Blends bytes 0 to Planes - 1 of n samples, first across, then down.
template <int Planes>
inline void blend(const corners& at, const float* across, const float* down, std::int32_t n, planes& to) {
  using simd::f32;
  using simd::fma;
  for (std::int32_t i = 0; i < n; i += f32::lanes) {
    const f32 x = simd::load(across + i), y = simd::load(down + i);
    const simd::i32 a = simd::load_i32(at.word[0] + i), b = simd::load_i32(at.word[1] + i),
                    c = simd::load_i32(at.word[2] + i), d = simd::load_i32(at.word[3] + i);
    simd::unroll<Planes>([&](auto plane) NSK_INLINE_LAMBDA {
      const f32 left = level_of<plane>(a), lower_left = level_of<plane>(c);
      const f32 upper = fma(x, simd::sub(level_of<plane>(b), left), left);
      const f32 lower = fma(x, simd::sub(level_of<plane>(d), lower_left), lower_left);
      simd::store(to.level[plane] + i, fma(y, simd::sub(lower, upper), upper));
    });
  }
}

/// Blends bytes 0 to count - 1 of n samples; `count` is known when running: 1, 3 or 4.
NSK_ONE_COPY inline void blend(int count, const corners& at, const float* across, const float* down, std::int32_t n,
                               planes& to) {
  if (count == 3) return blend<3>(at, across, down, n, to);
  if (count == 4) return blend<4>(at, across, down, n, to);
  blend<1>(at, across, down, n, to);
}

/// 0, 1, 2 ...
struct counting {
  float number[piece];
  constexpr counting() : number() {
    for (int i = 0; i < piece; ++i) number[i] = static_cast<float>(i);
  }
};
alignas(64) inline constexpr counting count{};

/// Places of a piece of a slanted row along one axis of the image. Counted from a whole pixel near the piece, so that
/// a float's precision does not depend on where in the image the piece is.
class slanted_axis {
 public:
  /// `place` in pixel centres of the piece's first pixel, `step` from pixel to pixel, `size` of the image.
  slanted_axis(double place, double step, std::int32_t size) : m_size(size), m_step(static_cast<float>(step)) {
    m_base = static_cast<std::int32_t>(place);
    m_start = static_cast<float>(place - m_base);
  }
  /// Fills in n pixels; returns whether all of them are in the image, and clears `inside` of those that do not.
  NSK_ONE_COPY bool find(std::int32_t n, neighbours& to, float* inside) const {
    using simd::f32;
    using simd::i32;
    const f32 first = simd::splat(static_cast<float>(-m_base)),
              last = simd::splat(static_cast<float>(m_size - 1 - m_base)), half = simd::splat(0.5f);
    const f32 low = simd::sub(first, half), high = simd::add(last, half);
    const i32 base = simd::splat_i32(m_base), end = simd::splat_i32(m_size - 1), one = simd::splat_i32(1);
    f32 all = simd::splat(1);
    for (std::int32_t i = 0; i < n; i += f32::lanes) {
      const f32 place = simd::fma(simd::load(count.number + i), simd::splat(m_step), simd::splat(m_start));
      const simd::mask in = simd::logical_and(simd::less_equal(low, place), simd::less(place, high));
      const f32 still = simd::select(in, simd::load(inside + i), simd::zero());
      all = simd::min(all, still);
      simd::store(inside + i, still);
      const f32 clamped = simd::clamp(place, first, last), whole = simd::floor(clamped);
      const i32 at = simd::add(simd::to_i32(whole), base);
      simd::store_i32(to.first + i, at);
      simd::store_i32(to.second + i, simd::select(simd::less(at, end), simd::add(at, one), at));
      simd::store(to.weight + i, simd::sub(clamped, whole));
    }
    return simd::reduce_min(all) > 0;
  }

 private:
  std::int32_t m_size, m_base;
  float m_step, m_start;
};

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
