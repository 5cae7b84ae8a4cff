// SPDX-License-Identifier: MIT
#include "shrink/compress.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace nsk::tool {
namespace {

// Of the format: a copy has at least four bytes and begins at least twelve before the end, of which the last five are
// literals.
constexpr std::size_t min_copy = 4, max_distance = 65535, last_start = 12, last_literals = 5;
constexpr int max_looks = 64;

/// Places where the same four bytes begin, the last one first.
class places {
 public:
  explicit places(span<const std::byte> bytes) : m_bytes(bytes), m_head(size, -1), m_next(bytes.size(), -1) {}

  void add(std::size_t at) {
    std::int64_t& head = m_head[hash(at)];
    m_next[at] = head;
    head = static_cast<std::int64_t>(at);
  }
  /// The longest copy of what begins at `at`, which has not been added yet, and the distance to it; 0 without one.
  std::size_t longest(std::size_t at, std::size_t& distance) const {
    const std::size_t limit = m_bytes.size() - last_literals - at;
    std::size_t best = 0;
    std::int64_t from = m_head[hash(at)];
    for (int look = 0; look < max_looks && from >= 0; ++look, from = m_next[static_cast<std::size_t>(from)]) {
      const auto place = static_cast<std::size_t>(from);
      if (at - place > max_distance) break;
      std::size_t length = 0;
      while (length < limit && m_bytes[place + length] == m_bytes[at + length]) ++length;
      if (length > best) best = length, distance = at - place;
    }
    return best < min_copy ? 0 : best;
  }

 private:
  static constexpr std::size_t size = std::size_t{1} << 16;
  std::size_t hash(std::size_t at) const {
    std::uint32_t word;
    std::memcpy(&word, m_bytes.data() + at, sizeof word);
    return word * 2654435761u >> 16;
  }
  span<const std::byte> m_bytes;
  std::vector<std::int64_t> m_head, m_next;
};

class block_writer {
 public:
  /// Appends literals and a copy of bytes `distance` before; without a copy they are the end of the block.
  void add(span<const std::byte> literals, std::size_t copied, std::size_t distance) {
    const std::size_t extra = copied == 0 ? 0 : copied - min_copy;
    byte(std::min<std::size_t>(literals.size(), 15) << 4 | std::min<std::size_t>(extra, 15));
    extend(literals.size());
    bytes.insert(bytes.end(), literals.data(), literals.data() + literals.size());
    if (copied == 0) return;
    byte(distance & 255);
    byte(distance >> 8);
    extend(extra);
  }
  std::vector<std::byte> bytes;

 private:
  void byte(std::size_t b) { bytes.push_back(static_cast<std::byte>(b)); }
  void extend(std::size_t length) {
    if (length < 15) return;
    for (length -= 15; length >= 255; length -= 255) byte(255);
    byte(length);
  }
};

}

std::vector<std::byte> compress(span<const std::byte> bytes) {
  block_writer out;
  places known(bytes);
  std::size_t at = 0, literals = 0;
  while (at + last_start < bytes.size()) {
    std::size_t distance = 0;
    const std::size_t length = known.longest(at, distance);
    if (length == 0) {
      known.add(at++);
      continue;
    }
    out.add({bytes.data() + literals, at - literals}, length, distance);
    for (const std::size_t end = at + length; at < end; ++at)
      if (at + last_start < bytes.size()) known.add(at);
    literals = at;
  }
  out.add({bytes.data() + literals, bytes.size() - literals}, 0, 0);
  return std::move(out.bytes);
}

}
