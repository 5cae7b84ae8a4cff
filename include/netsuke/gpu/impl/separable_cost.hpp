// SPDX-License-Identifier: MIT
#pragma once
/// Whether a depthwise convolution and the 1 x 1 convolution behind it cost less as one dispatch than as two. The
/// converter asks as well, so that it keeps what such a dispatch reads.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/format/params.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Number of a window that kernels have as constants (WINDOW of shaders/depthwise_window.comp), 0 for all others.
constexpr std::uint8_t window_number(const window& w) {
  const bool square = w.kernel_h == w.kernel_w && w.stride_h == w.stride_w && w.dilation_h == 1 && w.dilation_w == 1;
  if (!square || (w.kernel_h != 3 && w.kernel_h != 5) || w.stride_h > 2) return 0;
  return static_cast<std::uint8_t>((w.kernel_h == 5 ? 2 : 0) + w.stride_h);
}

/// What is between the two: lines of all images by width by channels; channels of the 1 x 1 convolution's result.
struct separable_shape {
  std::uint8_t window = 0;  ///< window_number()
  std::uint64_t lines = 0, width = 0, channels = 0, outputs = 0;
  std::uint64_t element_bytes = 4;

  /// Neighbours that a thread of the merged kernel computes: a line counts as a multiple of them.
  constexpr std::uint64_t neighbours() const { return window > 2 ? 2 : 4; }
  constexpr std::uint64_t padded_width() const { return (width + neighbours() - 1) / neighbours() * neighbours(); }
  /// Blocks of 64 pixels, of 32 outputs, of 16 channels.
  constexpr std::uint64_t tiles() const { return (lines * padded_width() + 63) / 64; }
  constexpr std::uint64_t blocks() const { return (outputs + 31) / 32; }
  constexpr std::uint64_t slices() const { return (channels + 15) / 16; }
  constexpr std::uint64_t elements() const { return lines * width * channels; }
};

/// Depthwise sums of 64 pixels by 16 channels in instructions of 64 threads, as RADV makes them for navi21
/// (bench/gpu_statistics.py): in the merged kernel, and in depthwise_window.
struct depthwise_cost {
  std::uint64_t merged, alone;
};
constexpr depthwise_cost depthwise_cost_of(std::uint8_t window) {
  switch (window) {
    case 1: return {500, 1100};
    case 2: return {600, 1200};
    case 3: return {1400, 2000};
    default: return {1500, 2100};
  }
}
/// Likewise: their products with 32 outputs in group memory; reading them there; products of 4 outputs from registers.
inline constexpr std::uint64_t tile_cost = 600, tile_read_cost = 60, quad_cost = 120;
inline constexpr std::uint64_t part_elements = 64 * 16;
/// Bytes of memory that count as an instruction: twice those of a console (560 GB/s at 12 TFLOP/s), because caches hold
/// some of what is read soon after it was written.
inline constexpr std::uint64_t bytes_per_instruction = 13;
/// Fewer groups leave most of a device idle, while each of them computes its depthwise sums one after the other.
inline constexpr std::uint64_t min_separable_groups = 32;

/// Whether what each block of 32 outputs computes again costs less than writing and reading what is between.
constexpr bool pays_to_merge(const separable_shape& s) {
  if (s.window == 0 || s.tiles() * s.blocks() < min_separable_groups) return false;
  const depthwise_cost c = depthwise_cost_of(s.window);
  const std::uint64_t tiled = s.tiles() * s.blocks() * s.slices();
  const std::uint64_t direct = s.elements() * ((s.outputs + 3) / 4) * quad_cost / part_elements;
  const std::uint64_t products = s.channels >= 16 && s.outputs >= 32 ? tiled * (tile_cost + tile_read_cost) : direct;
  const std::uint64_t saved = 2 * s.elements() * s.element_bytes / bytes_per_instruction;
  return tiled * (c.merged + tile_cost) <= s.elements() * c.alone / part_elements + products + saved;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
