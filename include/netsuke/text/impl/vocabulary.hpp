// SPDX-License-Identifier: MIT
#pragma once
/// The hash tables of a file: words to ids, and pairs of ids to merges. Both are open addressing with at least one free
/// slot.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/format/text_view.hpp>
#include <netsuke/text/impl/utf8.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// The hash of a word, which is part of the format: 8 bytes at a time, little endian, the last ones filled with zeros.
inline std::uint64_t word_hash(const byte_type* p, std::size_t bytes) {
  constexpr std::uint64_t prime = 0x9e3779b97f4a7c15u;
  std::uint64_t hash = bytes * prime;
  while (bytes != 0) {
    const std::size_t count = bytes < 8 ? bytes : 8;
    std::uint64_t word = 0;
    std::memcpy(&word, p, count);
    hash = (hash ^ word) * prime;
    hash ^= hash >> 32;
    p += count, bytes -= count;
  }
  return hash;
}

inline constexpr std::uint32_t no_id = 0xffffffffu;
inline constexpr unsigned slot_id_bits = 20;

/// The text that is stored for an id: its bytes in `pool`, by the ends of all.
inline piece text_at(span<const std::uint8_t> pool, span<const std::uint32_t> ends, std::uint32_t id) {
  const std::uint32_t begin = id == 0 ? 0 : ends.data()[id - 1];
  return {pool.data() + begin, pool.data() + ends.data()[id]};
}

/// The id whose key is `word`, or no_id.
inline std::uint32_t find_word(const text_tables& t, piece word) {
  if (t.key_slots.empty()) return no_id;
  const std::uint64_t hash = word_hash(word.begin, word.size());
  const std::size_t mask = t.key_slots.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash >> 52);
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const std::uint32_t slot = t.key_slots.data()[i];
    if (slot == free_slot) return no_id;
    if (slot >> slot_id_bits != tag) continue;
    const std::uint32_t id = slot & max_token_count;
    const piece key = text_at(t.keys, t.key_ends, id);
    if (key.size() == word.size() && std::memcmp(key.begin, word.begin, word.size()) == 0) return id;
  }
}

inline constexpr std::uint32_t no_rank = 0xffffffffu;
inline constexpr unsigned merge_left_shift = 44, merge_right_shift = 24;

/// Where the search for a merge starts, in a table of `mask` + 1 slots.
inline std::size_t merge_slot(std::uint32_t left, std::uint32_t right, std::size_t mask) {
  const std::uint64_t hash = (std::uint64_t{left} << slot_id_bits | right) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(hash >> 32) & mask;
}

/// The rank of the merge of two ids, or no_rank.
inline std::uint32_t find_merge(const text_tables& t, std::uint32_t left, std::uint32_t right) {
  if (t.merges.empty()) return no_rank;
  const std::uint64_t pair = std::uint64_t{left} << slot_id_bits | right;
  const std::size_t mask = t.merges.size() - 1;
  for (std::size_t i = merge_slot(left, right, mask);; i = (i + 1) & mask) {
    const std::uint64_t slot = t.merges.data()[i];
    if (slot >> merge_right_shift == pair) return static_cast<std::uint32_t>(slot & 0xffffff);
    if (slot == free_merge) return no_rank;
  }
}

/// Whether a merge can join text that ends with `a` and text that starts with `b`.
inline bool may_join(const text_tables& t, byte_type a, byte_type b) {
  const unsigned bit = a * 256u + b;
  return (t.joins.data()[bit >> 3] >> (bit & 7) & 1) != 0;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
