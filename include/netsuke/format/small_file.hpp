// SPDX-License-Identifier: MIT
#pragma once
/// Small files: what nsk::prepare (netsuke/prepare.hpp) expands to the file that nsk::open opens. One source for the
/// converter and the engine; docs/format.md draws them.
///
/// [header 64][parts, 32 bytes each][what the parts store, one behind the other]
///
/// The header is a file_header with the bit feature_small: its table is the list of parts, its weights section what
/// they store. Each part makes the next bytes of the file, from its header on.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/format/file_header.hpp>

NSK_BEGIN
enum class part_kind : std::uint8_t {
  bytes,       ///< stored as they are
  compressed,  ///< an LZ4 block: literals, and copies of what the part has made
  panels,      ///< float32 panels of a matrix
  winograd4,   ///< panels for F(4x4, 3x3), of 3x3 kernels
  winograd2    ///< panels for F(2x2, 3x3), of 3x3 kernels
};
constexpr bool is_known(part_kind k) { return k <= part_kind::winograd2; }

/// How the numbers of panels are stored; biases are float32 always.
enum class stored_number : std::uint8_t {
  float32,
  float16,
  byte  ///< (stored - zero) * scale, with a float32 scale and zero for each channel
};
constexpr bool is_known(stored_number n) { return n <= stored_number::byte; }
/// Bytes of one number.
constexpr std::uint64_t size_of(stored_number n) {
  return n == stored_number::float32 ? 4 : n == stored_number::float16 ? 2 : 1;
}

/// One part. Panels are stored panel by panel without the columns that fill the last one up: [bias][scale, zero of
/// bytes][rows]. A row has a number for each channel; of a sparse part, ceil(channels / 8) bytes of bits say which
/// numbers are there, the others are +0. Kernels have 9 rows for each input channel, by row and column of the kernel.
struct small_part {
  part_kind kind;
  stored_number numbers;
  std::uint8_t sparse;  ///< 0 or 1
  std::uint8_t reserved;
  std::uint32_t channels, depth;  ///< of panels: columns and rows; of kernels, `depth` is the number of input channels
  std::uint32_t zeros;            ///< bytes that follow panels, all 0
  std::uint64_t stored_bytes;     ///< in the small file
  std::uint64_t bytes;            ///< of the file that it makes, zeros included
};
static_assert(sizeof(small_part) == 32, "a part has no padding");

inline constexpr std::uint32_t max_part_length = 1u << 28;  ///< of channels and depth: their products fit 64 bits

/// Floats of a part's panels.
constexpr std::uint64_t floats_of(const small_part& p) {
  const std::uint64_t points = p.kind == part_kind::winograd4 ? 36 : p.kind == part_kind::winograd2 ? 16 : 1;
  return static_cast<std::uint64_t>(padded_channels(p.channels)) * (points * p.depth + 1);
}
/// Rows of numbers that are stored for each panel of a part.
constexpr std::uint64_t rows_of(const small_part& p) {
  return p.kind == part_kind::panels ? p.depth : std::uint64_t{9} * p.depth;
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
