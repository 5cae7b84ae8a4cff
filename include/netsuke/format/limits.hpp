// SPDX-License-Identifier: MIT
#pragma once
/// Limits that keep sums of sizes far from overflow, whatever a file says: nsk::open refuses what is past them, and the
/// converter does not write it.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/version.hpp>

NSK_BEGIN
namespace impl {

/// Elements of a tensor.
inline constexpr std::int64_t max_elements = 0x7fffffff;
/// Elements or bytes between any two places of a buffer.
inline constexpr std::int64_t max_extent = std::int64_t{1} << 44;
/// Bytes of an arena, and of the scratch of a lane: both together are addressed by a pointer.
inline constexpr std::int64_t max_memory = sizeof(void*) >= 8 ? max_extent : std::int64_t{1} << 30;
/// Bytes between a place that kernels compute and the tensor that it belongs to, whether they read there or not: what a
/// pointer and a difference of two can hold.
inline constexpr std::int64_t max_reach = sizeof(void*) >= 8 ? max_extent : PTRDIFF_MAX;
/// Positions of a window, in pixels, so that kernels may count them in 32 bits.
inline constexpr std::int64_t max_position = 1 << 30;
/// Pixels of a border at one side, and of padding behind the end of an input.
inline constexpr std::int64_t max_border = 0xffff;
/// Rows or columns of an image whose positions are floats.
inline constexpr std::int64_t max_sampled_side = 1 << 22;
/// Pixels of an image of bytes whose sum float32 holds: 255 times as much is below 2^24.
inline constexpr std::int64_t max_mean_pixels = 65793;

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
