// SPDX-License-Identifier: MIT
#pragma once
/// What a store of numbers as bytes needs to know.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/version.hpp>

NSK_BEGIN
namespace simd {
/// How bytes store numbers: their zero point, and the least and largest of them.
struct u8_range {
  std::int16_t zero = 0;
  std::uint8_t low = 0, high = 255;
};
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
