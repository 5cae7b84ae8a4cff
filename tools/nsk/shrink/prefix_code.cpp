// SPDX-License-Identifier: MIT
#include "shrink/prefix_code.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace nsk::tool {
namespace {

constexpr std::size_t byte_values = 256;

/// Lengths of the shortest code of any length.
std::array<int, byte_values> shortest_lengths(const byte_counts& counts) {
  std::vector<std::size_t> parent(byte_values);
  using item = std::pair<std::uint64_t, std::size_t>;  // how often, and which: bytes, then what joins two others
  std::priority_queue<item, std::vector<item>, std::greater<>> rarest;
  for (std::size_t byte = 0; byte < byte_values; ++byte)
    if (counts[byte] != 0) rarest.emplace(counts[byte], byte);
  while (rarest.size() > 1) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 2; ++i) {
      sum += rarest.top().first;
      parent[rarest.top().second] = parent.size();
      rarest.pop();
    }
    rarest.emplace(sum, parent.size());
    parent.push_back(0);
  }
  std::array<int, byte_values> lengths = {};
  for (std::size_t byte = 0; byte < byte_values; ++byte)
    for (std::size_t at = byte; counts[byte] != 0 && at + 1 < parent.size(); at = parent[at]) ++lengths[byte];
  return lengths;
}

/// shortest_lengths() with none above max_code_bits: counts are brought nearer to each other until that is so.
std::array<int, byte_values> limited_lengths(byte_counts counts) {
  for (;;) {
    const std::array<int, byte_values> lengths = shortest_lengths(counts);
    if (*std::max_element(lengths.begin(), lengths.end()) <= max_code_bits) return lengths;
    for (std::uint64_t& n : counts) n = (n + 1) / 2;
  }
}

}

byte_counts count_bytes(span<const std::byte> bytes) {
  byte_counts counts = {};
  for (std::size_t i = 0; i < bytes.size(); ++i) ++counts[std::to_integer<std::size_t>(bytes[i])];
  return counts;
}

prefix_code::prefix_code(const byte_counts& counts) {
  byte_counts two = counts;
  for (std::size_t byte = 0; std::count(two.begin(), two.end(), 0u) > static_cast<std::ptrdiff_t>(byte_values) - 2;
       ++byte)
    two[byte] = std::max<std::uint64_t>(two[byte], 1);
  m_lengths = limited_lengths(two);
  std::uint32_t code = 0;
  for (int bits = 1; bits <= max_code_bits; ++bits, code <<= 1)
    for (std::size_t byte = 0; byte < byte_values; ++byte)
      if (m_lengths[byte] == bits) m_codes[byte] = code++;
}

std::uint64_t prefix_code::size_of(span<const std::byte> bytes, code_source from) const {
  const byte_counts counts = count_bytes(bytes);
  std::uint64_t bits = 0;
  for (std::size_t byte = 0; byte < byte_values; ++byte) {
    if (counts[byte] != 0 && m_lengths[byte] == 0) return std::numeric_limits<std::uint64_t>::max();
    bits += counts[byte] * static_cast<std::uint64_t>(m_lengths[byte]);
  }
  return (from == code_source::own ? code_lengths_bytes : 0) + sizeof(std::uint64_t) + (bits + 7) / 8;
}

std::vector<std::byte> prefix_code::encode(span<const std::byte> bytes, code_source from) const {
  std::vector<std::byte> stored;
  for (std::size_t byte = 0; from == code_source::own && byte < byte_values; byte += 2)
    stored.push_back(static_cast<std::byte>(m_lengths[byte] | m_lengths[byte + 1] << 4));
  for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i)
    stored.push_back(static_cast<std::byte>(std::uint64_t{bytes.size()} >> (8 * i) & 255));
  std::uint64_t bits = 0;
  int count = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = std::to_integer<std::size_t>(bytes[i]);
    bits = bits << m_lengths[byte] | m_codes[byte];
    for (count += m_lengths[byte]; count >= 8; count -= 8)
      stored.push_back(static_cast<std::byte>(bits >> (count - 8) & 255));
  }
  if (count != 0) stored.push_back(static_cast<std::byte>(bits << (8 - count) & 255));
  return stored;
}

}
