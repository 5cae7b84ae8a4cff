// SPDX-License-Identifier: MIT
#pragma once
/// The first 64 bytes of a .nsk file and the hash of the rest: one source for the converter and the engine. All numbers
/// little endian.
///
/// [header 64][table, 64-byte aligned][weights section, 64-byte aligned, its last over_read bytes are zeros]
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/format/packing.hpp>
#include <netsuke/core/span.hpp>

NSK_BEGIN
/// Offsets count bytes from the start of the file.
struct file_header {
  char magic[8];                 ///< "NSKMODEL"
  std::uint32_t format_version;  ///< NSK_FORMAT_VERSION
  std::uint32_t features;        ///< bits of `feature`: what a reader of the file must know
  std::uint64_t table_offset;    ///< multiple of 64
  std::uint64_t table_bytes;     ///< at most max_table_bytes
  std::uint64_t weights_offset;  ///< multiple of 64, at or after the end of the table
  std::uint64_t weights_bytes;   ///< at least over_read: the pad that kernels may read is part of the section
  std::uint64_t file_bytes;      ///< end of the weights section
  std::uint64_t content_hash;    ///< content_hash of the bytes [64, file_bytes)
};
static_assert(sizeof(file_header) == 64, "the header has no padding");

/// Additions to the format that an engine which does not know them would misread. A file that uses one has its bit, and
/// an engine refuses files with bits that it does not know. Append-only. Additions that such an engine refuses anyway,
/// as it does new operators, need none.
enum feature : std::uint32_t {
  feature_batch = 1,           ///< Variant.batch: a run may compute fewer rows
  feature_cell_clip = 2,       ///< Recurrent.cell_clip
  feature_half_weights = 4,    ///< panels of float16
  feature_int8_weights = 8,    ///< panels of int8
  feature_small = 16,          ///< a small file (small_file.hpp), which nsk::prepare expands
  feature_weight_offset = 32,  ///< weight_offset of QuantizedConv2D and QuantizedDepthwiseConv2D
  feature_lengths = 64,        ///< Variant.lengths: a run may choose lengths below their bounds
  feature_length_sums = 128,   ///< Length.also, or a length of 0
  feature_length_counts = 256  ///< Length.counted: a step counts a length
};
inline constexpr std::uint32_t known_features = feature_batch | feature_cell_clip | feature_half_weights |
                                                feature_int8_weights | feature_weight_offset | feature_lengths |
                                                feature_length_sums | feature_length_counts;

inline constexpr char file_magic[8] = {'N', 'S', 'K', 'M', 'O', 'D', 'E', 'L'};
inline constexpr std::uint64_t file_alignment = 64;
/// FlatBuffers addresses its table with signed 32-bit offsets.
inline constexpr std::uint64_t max_table_bytes = 0x7fffffff;

namespace impl {
constexpr std::uint64_t hash_prime = 0x9e3779b97f4a7c15u;
/// The multiplication carries low bits up, the rotation brings them down again. A bijection of `hash` for each `word`.
constexpr std::uint64_t hash_mix(std::uint64_t hash, std::uint64_t word) {
  const std::uint64_t product = (hash ^ word) * hash_prime;
  return (product << 29) | (product >> 35);
}
}  // namespace impl

/// Returns the 64-bit hash of a file's content: four lanes of 64-bit words, word i of each 32-byte block going to lane
/// i as lane = rotate_left((lane ^ word) * 0x9e3779b97f4a7c15, 29), the last block padded with zeros; lanes start at 1,
/// 2, 3, 4; then the number of bytes and the lanes are mixed in the same way, and the upper half is folded into the
/// lower. It finds damage; it is no protection against forgery. Several GB/s on one core.
inline std::uint64_t content_hash(span<const std::byte> bytes) {
  std::uint64_t lane[4] = {1, 2, 3, 4};
  const std::size_t whole = bytes.size() / 32 * 32;
  const auto take = [&lane](const std::uint64_t(&word)[4]) {
    for (int i = 0; i < 4; ++i) lane[i] = impl::hash_mix(lane[i], word[i]);
  };
  for (std::size_t at = 0; at < whole; at += 32) {
    std::uint64_t word[4];
    std::memcpy(word, bytes.data() + at, sizeof word);
    take(word);
  }
  if (whole != bytes.size()) {
    std::uint64_t word[4] = {};
    std::memcpy(word, bytes.data() + whole, bytes.size() - whole);
    take(word);
  }
  std::uint64_t hash = impl::hash_mix(0, bytes.size());
  for (const std::uint64_t l : lane) hash = impl::hash_mix(hash, l);
  return hash ^ (hash >> 32);
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
