// SPDX-License-Identifier: MIT
#include "shrink/compress.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <cstring>

namespace nsk::tool {
namespace {

// Of the format: a copy has at least four bytes and begins at least twelve before the end, of which the last five are
// literals.
constexpr std::size_t min_copy = 4, last_start = 12, last_literals = 5;

constexpr std::size_t max_parsed = std::size_t{1} << 20;  ///< more bytes take the first copy that there is

/// How many places a copy is looked for at: of few bytes, all that are likely.
int looks_of(std::size_t bytes) { return bytes < (1 << 17) ? 1024 : 64; }

/// A copy of bytes `distance` before; none where the length is 0.
struct copy {
  std::uint32_t length = 0, distance = 0;
};

/// Places where the same four bytes begin, the last one first.
class places {
 public:
  places(span<const std::byte> bytes, std::size_t distance_size)
      : m_bytes(bytes),
        m_max_distance((std::size_t{1} << (8 * distance_size)) - 1),
        m_looks(looks_of(bytes.size())),
        m_head(size, -1),
        m_next(bytes.size(), -1) {}

  void add(std::size_t at) {
    std::int64_t& head = m_head[hash(at)];
    m_next[at] = head;
    head = static_cast<std::int64_t>(at);
  }
  /// The longest copy of what begins at `at`, which has not been added yet, before `end`. `before`: the longest one
  /// that begins a byte before.
  copy longest(std::size_t at, std::size_t end, copy before) const {
    constexpr std::uint32_t long_enough = 256;
    if (before.length > long_enough) return {before.length - 1, before.distance};
    const std::size_t limit = end - at;
    copy best;
    std::int64_t from = m_head[hash(at)];
    for (int look = 0; look < m_looks && from >= 0; ++look, from = m_next[static_cast<std::size_t>(from)]) {
      const auto place = static_cast<std::size_t>(from);
      if (at - place > m_max_distance) break;
      std::size_t length = 0;
      while (length < limit && m_bytes[place + length] == m_bytes[at + length]) ++length;
      if (length > best.length) best = {static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(at - place)};
    }
    return best.length < min_copy ? copy() : best;
  }

 private:
  static constexpr std::size_t size = std::size_t{1} << 16;
  std::size_t hash(std::size_t at) const {
    std::uint32_t word;
    std::memcpy(&word, m_bytes.data() + at, sizeof word);
    return word * 2654435761u >> 16;
  }
  span<const std::byte> m_bytes;
  std::size_t m_max_distance;
  int m_looks;
  std::vector<std::int64_t> m_head, m_next;
};

/// Bytes that say how long something is whose first 15 fit its head.
std::size_t extra_bytes(std::size_t length) { return length < 15 ? 0 : 1 + (length - 15) / 255; }

/// Chooses the copies of a part of the bytes that take the fewest bytes, the part's first byte being a head of its own.
class part_parser {
 public:
  /// `longest` copies at each byte of the part.
  part_parser(const std::vector<copy>& longest, std::size_t distance_size)
      : m_head(static_cast<std::uint32_t>(1 + distance_size)),
        m_longest(longest),
        m_best(longest.size()),
        m_is_copied(longest.size()),
        m_rest(longest.size() + 1) {
    std::array<std::uint32_t, literal_states> behind = {}, here = {};
    for (std::size_t at = longest.size(); at-- > 0; behind = here) {
      const std::uint32_t with_copy = find_copy(at);
      for (std::size_t run = 0; run < literal_states; ++run) {
        const bool grows =
            run + 2 == literal_states;  // the 15th literal takes another byte; what 255 more take is left out
        here[run] = behind[std::min(run + 1, literal_states - 1)] + 1 + (grows ? 1 : 0);
        m_is_copied[at][run] = with_copy <= here[run];
        here[run] = std::min(here[run], with_copy);
      }
      m_rest[at] = here[0];
    }
  }
  /// The copy to take at a byte behind `run` literals; none: it is a literal too.
  copy at(std::size_t place, std::size_t run) const {
    return m_is_copied[place][std::min(run, literal_states - 1)] ? m_best[place] : copy();
  }

 private:
  static constexpr std::size_t literal_states = 16;

  /// The length of a copy at a byte by which the rest of the part takes least. Returns what that is.
  std::uint32_t find_copy(std::size_t at) {
    constexpr std::uint32_t none = 1u << 30, max_tried = 512;
    std::uint32_t min_cost = none;
    const copy whole = m_longest[at];
    const auto first = static_cast<std::uint32_t>(min_copy);
    for (std::uint32_t length = whole.length; length >= first && whole.length - length < max_tried; --length) {
      const auto cost = static_cast<std::uint32_t>(m_head + extra_bytes(length - min_copy)) + m_rest[at + length];
      if (cost < min_cost) min_cost = cost, m_best[at] = {length, whole.distance};
    }
    return min_cost;
  }

  std::uint32_t m_head;  ///< bytes of a copy before those of a length beyond 4 bits
  const std::vector<copy>& m_longest;
  std::vector<copy> m_best;
  std::vector<std::bitset<literal_states>> m_is_copied;  ///< by how many literals are before
  std::vector<std::uint32_t> m_rest;                     ///< bytes from a place on, behind a copy
};

class block_writer {
 public:
  explicit block_writer(std::size_t distance_size) : m_distance_size(distance_size) {}
  /// Appends literals and a copy of bytes `distance` before; without a copy they are the end of the block.
  void add(span<const std::byte> literals, std::size_t copied, std::size_t distance) {
    const std::size_t extra = copied == 0 ? 0 : copied - min_copy;
    byte(std::min<std::size_t>(literals.size(), 15) << 4 | std::min<std::size_t>(extra, 15));
    extend(literals.size());
    bytes.insert(bytes.end(), literals.data(), literals.data() + literals.size());
    if (copied == 0) return;
    for (std::size_t i = 0; i < m_distance_size; ++i) byte(distance >> (8 * i) & 255);
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
  std::size_t m_distance_size;
};

/// Bytes of which a copy may begin at the first ones.
std::size_t starts_of(span<const std::byte> bytes) { return bytes.size() < last_start ? 0 : bytes.size() - last_start; }

/// Takes the longest copy where there is one. Returns how many bytes are written.
std::size_t write_first(block_writer& out, span<const std::byte> bytes, std::size_t distance_size) {
  places known(bytes, distance_size);
  const std::size_t starts = starts_of(bytes), end = bytes.size() - last_literals;
  std::size_t literals = 0;
  for (std::size_t at = 0; at < starts;) {
    const copy c = known.longest(at, end, {});
    if (c.length == 0) {
      known.add(at++);
      continue;
    }
    out.add({bytes.data() + literals, at - literals}, c.length, c.distance);
    for (const std::size_t behind = at + c.length; at < behind; ++at)
      if (at < starts) known.add(at);
    literals = at;
  }
  return literals;
}

/// Takes the copies that make the block shortest, part by part. Returns how many bytes are written.
std::size_t write_shortest(block_writer& out, span<const std::byte> bytes, std::size_t distance_size) {
  constexpr std::size_t part_bytes = 1 << 17;
  places known(bytes, distance_size);
  const std::size_t starts = starts_of(bytes);
  std::size_t literals = 0;
  for (std::size_t from = 0; from < starts; from += part_bytes) {
    const std::size_t end = std::min(bytes.size() - last_literals, from + part_bytes);
    std::vector<copy> longest(end - from);
    for (std::size_t i = from; i < std::min(end, starts); known.add(i++))
      longest[i - from] = known.longest(i, end, i == from ? copy() : longest[i - from - 1]);
    const part_parser parser(longest, distance_size);
    for (std::size_t i = from; i < end;) {
      const copy c = parser.at(i - from, i - std::max(literals, from));
      if (c.length == 0) {
        ++i;
        continue;
      }
      out.add({bytes.data() + literals, i - literals}, c.length, c.distance);
      literals = i += c.length;
    }
  }
  return literals;
}

}

std::vector<std::byte> compress(span<const std::byte> bytes, std::size_t distance_size) {
  block_writer out(distance_size);
  const std::size_t written =
      bytes.size() > max_parsed ? write_first(out, bytes, distance_size) : write_shortest(out, bytes, distance_size);
  out.add({bytes.data() + written, bytes.size() - written}, 0, 0);
  return std::move(out.bytes);
}

}
