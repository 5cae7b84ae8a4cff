// SPDX-License-Identifier: MIT
#pragma once
/// Expands an LZ4 block (lz4.org, "LZ4 Block Format"): a token, literals, and copies of bytes before.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/core/span.hpp>

NSK_BEGIN
namespace impl {

/// What is left of a block.
struct lz4_reader {
  const std::byte *at, *end;

  std::size_t left() const { return static_cast<std::size_t>(end - at); }
  /// A length of 4 bits, continued by bytes while they are 255. False where the block ends before.
  bool extend(std::size_t& length) {
    if (length < 15) return true;
    for (std::uint8_t more = 255; more == 255; length += more) {
      if (at == end || length > PTRDIFF_MAX - 255) return false;
      more = static_cast<std::uint8_t>(*at++);
    }
    return true;
  }
};

/// Expands `block` to exactly `to`; false where it is not such a block. Nothing outside of both is read or written.
NSK_COLD inline bool decompress(span<const std::byte> block, span<std::byte> to) {
  lz4_reader in{block.data(), block.data() + block.size()};
  std::byte *out = to.data(), *const end = out + to.size();
  while (in.at != in.end) {
    const auto token = static_cast<std::uint8_t>(*in.at++);
    std::size_t literals = token >> 4, copied = token & 15;
    if (!in.extend(literals) || literals > in.left() || literals > static_cast<std::size_t>(end - out)) return false;
    if (literals != 0) std::memcpy(out, in.at, literals);
    in.at += literals;
    out += literals;
    if (in.at == in.end) return out == end;
    if (in.left() < 2) return false;
    const std::size_t distance = static_cast<std::size_t>(in.at[0]) | static_cast<std::size_t>(in.at[1]) << 8;
    in.at += 2;
    if (!in.extend(copied)) return false;
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
