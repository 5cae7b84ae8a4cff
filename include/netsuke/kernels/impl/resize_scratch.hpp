// SPDX-License-Identifier: MIT
#pragma once
/// Bytes of lane scratch of resize_2d, for scratch.hpp and the converter.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>

NSK_BEGIN
namespace kernels {

namespace impl {
/// Floats of one horizontally resampled piece of a row: small enough that all rows of a window stay in the first-level
/// cache.
constexpr std::int32_t resize_piece(std::int32_t row_taps) { return row_taps <= 4 ? 1024 : row_taps <= 16 ? 512 : 256; }
}

/// Returns the bytes that resize_2d wants, a multiple of 64: per row tap one piece of a row, room for a whole vector at
/// its end, and two numbers.
constexpr std::int64_t resize_2d_scratch_bytes(std::int32_t row_taps) {
  return (std::int64_t{row_taps} * ((impl::resize_piece(row_taps) + 16) * 4 + 8) + 63) / 64 * 64;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
