// SPDX-License-Identifier: MIT
#pragma once
/// Sizes of packed weights and of lane scratch: one source for converter, verifier and kernels. docs/reference/file.md
/// draws the layouts.
///
/// Output channels are in panels of 16 (one AVX-512 register, two AVX2, four NEON). The last panel is 8 wide when there
/// are at most 8 channels, 24 wide when 1 to 8 channels would remain after the full panels, 16 otherwise; missing
/// channels are zeros. A panel is [bias W][depth][W] floats with W its width, so panel p starts at 16 * p * (depth + 1)
/// floats. Weights may be float16; the bias stays float, and panel p starts at 16 * p * (depth + 2) halves. Or they are
/// int8 times a float for each channel: [bias W][scale W][depth][W], and panel p starts at byte 16 * p * (depth + 8).
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/format/params.hpp>

NSK_BEGIN
/// How the elements of a constant are arranged. Values are part of the file format.
enum class packing : std::uint8_t { plain, panels, winograd4, winograd2, quads, safe_quads };
constexpr bool is_known(packing p) { return p <= packing::safe_quads; }
constexpr bool is_quads(packing p) { return p == packing::quads || p == packing::safe_quads; }

inline constexpr int panel_width = 16, max_panel_width = 24;
/// Largest number of rows that any instruction set's GEMM tile has: scratch that gathers rows is sized by it, so that
/// it is the same everywhere.
inline constexpr int max_tile_rows = 16;
/// Bytes that kernels may read past the end of a tensor; arena and weights section end with this pad.
inline constexpr std::size_t over_read = 64;
inline constexpr std::size_t arena_alignment = 64;

constexpr std::int64_t padded_channels(std::int64_t channels) { return (channels + 7) / 8 * 8; }

/// Number of panels that hold `channels` output channels.
constexpr std::int64_t panel_count(std::int64_t channels) {
  const std::int64_t padded = padded_channels(channels);
  return padded <= panel_width ? 1 : padded / panel_width;
}
/// Width of panel `panel`: 16, except for the last one (8, 16 or 24).
constexpr std::int64_t width_of_panel(std::int64_t channels, std::int64_t panel) {
  return panel + 1 < panel_count(channels) ? panel_width : padded_channels(channels) - panel * panel_width;
}
/// Bits of an IEEE binary16 number: how kernels see float16 weights.
using half_bits = std::uint16_t;
/// Weights that take the bytes of one bias, and of the scale of int8.
template <class Weight>
inline constexpr int weights_per_bias = static_cast<int>(sizeof(float) / sizeof(Weight));
template <>
inline constexpr int weights_per_bias<std::int8_t> = 8;
/// Elements of type `Weight` of a matrix of `depth` rows and `channels` columns packed in panels, bias included.
template <class Weight>
constexpr std::int64_t panel_elements(std::int64_t channels, std::int64_t depth) {
  return padded_channels(channels) * (depth + weights_per_bias<Weight>);
}
/// Floats of a matrix of `depth` rows and `channels` columns packed in panels of float32, bias included.
constexpr std::int64_t panel_floats(std::int64_t channels, std::int64_t depth) {
  return panel_elements<float>(channels, depth);
}

/// Quads of four bytes that hold a run of `length` int8 weights; what is missing in the last one is zeros.
constexpr std::int64_t quads_of(std::int64_t length) { return (length + 3) / 4; }
/// Bytes of a matrix of `quads` quads and `channels` columns packed in int8 panels: per panel [bias W int32][scale W
/// float32][quads][W][4 int8]. Panel p starts at byte 64 * p * (quads + 2).
constexpr std::int64_t quad_panel_bytes(std::int64_t channels, std::int64_t quads) {
  return padded_channels(channels) * 4 * (quads + 2);
}

/// Rows of a depthwise window have so many places in quads, four in each group of quads. There may be more places than
/// rows: then neighbours share rows, so that the weight of one can be cut in two where a pair would not be safe.
constexpr int depthwise_places(int kernel_h) { return (kernel_h + 3) / 4 * 4; }
/// The row of a place: 0, 1, 1, 2 of three rows.
constexpr int row_of_place(int place, int kernel_h) {
  const std::int64_t last = depthwise_places(kernel_h) - 1;
  return static_cast<int>((2 * std::int64_t{place} * (kernel_h - 1) + last) / (2 * last));
}
/// Quads of one channel of depthwise weights: by group of places, then by column of the window.
constexpr std::int64_t depthwise_quads(int kernel_h, int kernel_w) {
  return std::int64_t{depthwise_places(kernel_h) / 4} * kernel_w;
}

/// Elements of the recurrent weights of one direction. The hidden gate of a gru stands alone where it is given r * h.
template <class Weight>
constexpr std::int64_t recurrent_weight_elements(recurrent_kind k, bool linear_before_reset, std::int64_t hidden) {
  if (k == recurrent_kind::gru && !linear_before_reset)
    return panel_elements<Weight>(2 * hidden, hidden) + panel_elements<Weight>(hidden, hidden);
  return panel_elements<Weight>(recurrent_gates(k) * hidden, hidden);
}
constexpr std::int64_t recurrent_weight_floats(recurrent_kind k, bool linear_before_reset, std::int64_t hidden) {
  return recurrent_weight_elements<float>(k, linear_before_reset, hidden);
}

/// Output rows and columns of one Winograd tile: 4 for F(4x4, 3x3), 2 for F(2x2, 3x3).
constexpr int winograd_outputs(conv_algorithm a) { return a == conv_algorithm::winograd4 ? 4 : 2; }
/// Transformed points per tile: 36 or 16.
constexpr int winograd_points(conv_algorithm a) { return (winograd_outputs(a) + 2) * (winograd_outputs(a) + 2); }
/// Floats of Winograd weights: per panel [bias W][points][depth][W].
constexpr std::int64_t winograd_floats(conv_algorithm a, std::int64_t channels, std::int64_t depth) {
  return padded_channels(channels) * (winograd_points(a) * depth + 1);
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
