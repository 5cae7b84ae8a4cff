// SPDX-License-Identifier: MIT
#pragma once
/// Small files: what nsk::prepare (netsuke/prepare.hpp) expands to the file that nsk::open opens. One source for the
/// converter and the engine; docs/reference/file.md draws them.
///
/// [header 64][parts, 32 bytes each][what the parts store, one behind the other]
///
/// The header is a file_header with the bit feature_small: its table is the list of parts, its weights section what
/// they store. Each part makes the next bytes of the file, from its header on.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/format/file_header.hpp>

NSK_BEGIN
enum class part_kind : std::uint8_t {
  bytes,          ///< stored as they are
  compressed,     ///< an LZ4 block: literals, and copies of what the part has made
  panels,         ///< float32 panels of a matrix
  winograd4,      ///< panels for F(4x4, 3x3), of 3x3 kernels
  winograd2,      ///< panels for F(2x2, 3x3), of 3x3 kernels
  compressed_far  ///< an LZ4 block whose distances have three bytes in place of two
};
constexpr bool is_known(part_kind k) { return k <= part_kind::compressed_far; }
constexpr bool is_compressed(part_kind k) { return k == part_kind::compressed || k == part_kind::compressed_far; }
/// Bytes of a distance in a compressed part.
constexpr std::size_t distance_bytes(part_kind k) { return k == part_kind::compressed_far ? 3 : 2; }

/// How the numbers of panels are stored; biases are float32 always.
enum class stored_number : std::uint8_t {
  float32,
  float16,
  byte,           ///< (stored - zero) * scale, with a float32 scale and zero for each channel
  centred_byte,   ///< (stored - 128) * scale, with a float32 scale for each channel
  scaled_float16  ///< stored * scale, with a float32 scale for each channel
};
constexpr bool is_known(stored_number n) { return n <= stored_number::scaled_float16; }
/// Float32 numbers that a channel has before its rows: bias, scale, zero.
constexpr int heads_of(stored_number n) {
  return n == stored_number::byte ? 3 : n >= stored_number::centred_byte ? 2 : 1;
}
/// Bytes of one number.
constexpr std::uint64_t size_of(stored_number n) {
  const bool half = n == stored_number::float16 || n == stored_number::scaled_float16;
  return n == stored_number::float32 ? 4 : half ? 2 : 1;
}

/// Whether what a part stores are codes of its bytes, and by which prefix code. Stored are then [code lengths of an own
/// code, code_lengths_bytes][number of bytes, u64][codes]. A length has 4 bits, that of byte 2k in the lower half of
/// byte k, 0 where the byte has no code. Codes count up from 0 by length, then by byte; they follow each other from the
/// highest bit of each byte down.
enum class code_source : std::uint8_t { none, own, before };
inline constexpr int max_code_bits = 12;
inline constexpr std::size_t code_lengths_bytes = 128;

/// One part. Panels are stored panel by panel without the columns that fill the last one up: [bias][scale, zero of
/// bytes, scale of other numbers with one][rows]. A row has a number for each channel; of a sparse part, ceil(channels
/// / 8) bytes of bits say which numbers are there, the others are +0. Kernels have 9 rows for each input channel, by
/// row and column of the kernel.
struct small_part {
  part_kind kind;
  stored_number numbers;
  std::uint8_t flags;  ///< 1: sparse; code_source times 2
  std::uint8_t reserved;
  std::uint32_t channels, depth;  ///< of panels: columns and rows; of kernels, `depth` is the number of input channels
  std::uint32_t zeros;            ///< bytes that follow panels, all 0
  std::uint64_t stored_bytes;     ///< in the small file
  std::uint64_t bytes;            ///< of the file that it makes, zeros included
};
static_assert(sizeof(small_part) == 32, "a part has no padding");
constexpr bool is_sparse(const small_part& p) { return (p.flags & 1) != 0; }
constexpr code_source codes_of(const small_part& p) { return static_cast<code_source>(p.flags >> 1); }

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
