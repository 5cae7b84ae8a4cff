// SPDX-License-Identifier: MIT
#pragma once
/// Bytes of lane scratch that a kernel needs, from plain numbers: converter, verifier and kernels agree because they
/// call the same functions. Results are multiples of 64. They depend neither on the instruction set nor on the tile.
/// What has no function here needs 0.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/tensor.hpp>
#include <netsuke/format/packing.hpp>
#include <netsuke/format/params.hpp>

NSK_BEGIN
namespace kernels {

/// What decides how a convolution reads its input. Lengths in pixels and channels.
struct conv_2d_shape {
  std::int32_t input_h, input_w, input_channels, output_h, output_w, output_channels, groups;
  halo border;  ///< of the input
  float fill;   ///< of the input's border
  window w;
  conv_algorithm algorithm;
};

constexpr std::int64_t whole_lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Returns whether taps fall on pixels that are neither elements nor border with fill 0: such windows are gathered in
/// scratch.
constexpr bool conv_2d_reads_outside(const conv_2d_shape& s) {
  const bool zeros = s.fill == 0;
  const std::int64_t last_y =
      std::int64_t{s.output_h - 1} * s.w.stride_h - s.w.pad_top + std::int64_t{s.w.kernel_h - 1} * s.w.dilation_h;
  const std::int64_t last_x =
      std::int64_t{s.output_w - 1} * s.w.stride_w - s.w.pad_left + std::int64_t{s.w.kernel_w - 1} * s.w.dilation_w;
  return s.w.pad_top > (zeros ? s.border.top : 0) || s.w.pad_left > (zeros ? s.border.left : 0) ||
         last_y >= s.input_h + (zeros ? s.border.bottom : 0) || last_x >= s.input_w + (zeros ? s.border.right : 0);
}

/// Winograd cells that are transformed together: few for many channels, so that they stay in the second-level cache.
constexpr int winograd_batch(conv_algorithm a, std::int64_t input_channels) {
  const std::int64_t fit = std::int64_t{98304} / (winograd_points(a) * input_channels);
  return fit >= 48 ? 48 : fit >= 16 ? static_cast<int>(fit / 6 * 6) : 16;
}

/// Scratch of conv_2d. Direct: patches in the space of max_tile_rows windows, or nothing. Winograd: the transformed
/// input of one batch of cells, and the products of one panel (at most 24 channels, in whole registers).
constexpr std::int64_t conv_2d_scratch_bytes(const conv_2d_shape& s) {
  const std::int64_t depth = s.input_channels / s.groups;
  if (s.algorithm == conv_algorithm::direct)
    return conv_2d_reads_outside(s) ? whole_lines(4 * max_tile_rows * depth * s.w.kernel_h * s.w.kernel_w) : 0;
  const std::int64_t cells = winograd_batch(s.algorithm, depth), points = winograd_points(s.algorithm);
  return whole_lines(4 * points * (cells * padded_channels(depth) + 16)) + whole_lines(4 * points * cells * 32);
}

/// Scratch of non_max_suppression: two lists of box numbers.
constexpr std::int64_t non_max_suppression_scratch_bytes(std::int64_t boxes) { return whole_lines(8 * boxes); }

/// Maximum number of rows of a batch whose products with the recurrent weights are computed at once.
inline constexpr int recurrent_block_rows = 24;
/// Scratch of recurrent: the gates of one block of rows, and a register beyond.
constexpr std::int64_t recurrent_scratch_bytes(recurrent_kind k, std::int64_t batch, std::int64_t hidden) {
  const std::int64_t rows = batch < recurrent_block_rows ? batch : recurrent_block_rows;
  return whole_lines(4 * rows * padded_channels(recurrent_gates(k) * hidden) + 64);
}

namespace impl {
/// Floats of one horizontally resampled piece of a row: small enough that all rows of a window stay in the first-level
/// cache.
constexpr std::int32_t resize_piece(std::int32_t row_taps) { return row_taps <= 4 ? 1024 : row_taps <= 16 ? 512 : 256; }
}

/// Scratch of resize_2d: per row tap one piece of a row, space for a whole vector at its end, and two numbers.
constexpr std::int64_t resize_2d_scratch_bytes(std::int32_t row_taps) {
  return whole_lines(std::int64_t{row_taps} * ((impl::resize_piece(row_taps) + 16) * 4 + 8));
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
