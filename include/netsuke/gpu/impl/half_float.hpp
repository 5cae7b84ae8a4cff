// SPDX-License-Identifier: MIT
#pragma once
/// 16-bit floats as shaders read them: normal ones and zeros.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/core/assert.hpp>

NSK_BEGIN
namespace gpu::impl {

inline constexpr float largest_half = 65504, smallest_half = 1.0f / (1 << 14);

/// Returns the nearest one, ties to even, of a number of at most largest_half; below smallest_half the nearest of 0 and
/// that.
inline std::uint16_t half_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  bits &= 0x7fffffffu;
  constexpr std::uint32_t smallest = (127 - 14) << 23;
  if (bits < smallest) return static_cast<std::uint16_t>(sign | (bits > smallest - (1u << 23) ? 0x400u : 0u));
  bits = bits + 4095 + (bits >> 13 & 1u);
  return static_cast<std::uint16_t>(sign | ((bits >> 13) - ((127 - 15) << 10)));
}
/// Returns the value of a normal one, or of a zero.
inline float number_of(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7fffu, sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t bits = sign | (magnitude == 0 ? 0 : (magnitude << 13) + ((127u - 15) << 23));
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
