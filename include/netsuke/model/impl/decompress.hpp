// SPDX-License-Identifier: MIT
#pragma once
/// Expands an LZ4 block (lz4.org, "LZ4 Block Format"): a token, literals, and copies of bytes before.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/core/span.hpp>
#include <netsuke/model/impl/stored_bytes.hpp>

NSK_BEGIN
namespace impl {

/// Reads on from a length of 4 bits, continued by bytes while they are 255. False where the block ends before.
template <class Bytes>
NSK_INLINE bool extend_length(Bytes& block, std::size_t& length) {
  if (length < 15) return true;
  for (std::uint8_t more = 255; more == 255; length += more)
    if (length > PTRDIFF_MAX - 255 || !block.take(more)) return false;
  return true;
}

/// Expands all of `block` to exactly `to`; false where it is not such a block. Distances have two bytes, as in LZ4's
/// own blocks, or three. Nothing outside of both is read or written.
template <class Bytes>
NSK_COLD bool decompress(Bytes block, std::size_t distance_size, span<std::byte> to) {
  std::byte *out = to.data(), *const end = out + to.size();
  std::uint8_t token = 0, distances[3] = {};
  while (block.take(token)) {
    std::size_t literals = token >> 4, copied = token & 15;
    if (!extend_length(block, literals) || literals > static_cast<std::size_t>(end - out) || !block.take(out, literals))
      return false;
    out += literals;
    if (block.left() == 0) return out == end && block.is_done();
    for (std::size_t i = 0; i < distance_size; ++i)
      if (!block.take(distances[i])) return false;
    if (!extend_length(block, copied)) return false;
    const std::size_t distance =
        distances[0] | static_cast<std::size_t>(distances[1]) << 8 | static_cast<std::size_t>(distances[2]) << 16;
    copied += 4;
    if (distance == 0 || distance > static_cast<std::size_t>(out - to.data()) ||
        copied > static_cast<std::size_t>(end - out))
      return false;
    const std::byte* const source = out - distance;
    while (copied != 0) {  // what has been copied repeats
      const auto known = static_cast<std::size_t>(out - source), count = copied < known ? copied : known;
      std::memcpy(out, source, count);
      out += count;
      copied -= count;
    }
  }
  return false;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
