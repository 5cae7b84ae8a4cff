// SPDX-License-Identifier: MIT
#pragma once
/// What a .nskt file must be before any of its numbers is used. Every check is linear in the file.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/text/impl/added_tokens.hpp>
#include <netsuke/text/impl/normalize.hpp>
#include <netsuke/text/impl/pattern.hpp>
#include <netsuke/text/impl/vocabulary.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// Whether a table has a number for each character, and `good(number)` for all its numbers.
template <class T, class Good>
bool is_table(const character_table<T>& t, Good&& good) {
  if (t.index.size() != character_blocks || t.values.empty() || t.values.size() % 256 != 0) return false;
  for (const std::uint16_t block : t.index) {
    if (block >= t.values.size() / 256) return false;
  }
  for (const T value : t.values) {
    if (!good(value)) return false;
  }
  return true;
}

inline bool is_power_of_2(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

/// Whether places that rise, from 0 to the size of the pool, are the ends of each id's text.
inline bool are_ends(span<const std::uint32_t> ends, std::size_t count, std::size_t pool) {
  std::uint32_t last = 0;
  for (const std::uint32_t end : ends) {
    if (end < last || end > pool) return false;
    last = end;
  }
  return ends.size() == count;
}

/// Whether a packed place and number of bytes is inside a pool.
inline bool is_inside(std::uint32_t packed, std::size_t pool) {
  return std::uint64_t{packed >> 8} + (packed & 255) <= pool;
}

inline bool is_pattern(span<const std::uint64_t> words) {
  const std::size_t count = words.size() / 2;
  if (words.size() % 2 != 0 || count < 2 || count > max_pattern_nodes) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const pattern_node n = {words.data()[2 * i], words.data()[2 * i + 1]};
    if (n.kind() >= node_kind::known_node_kinds || (n.kind() == node_kind::start) != (i == 0)) return false;
    if (n.kind() != node_kind::accept && (n.next() <= i || n.next() >= count)) return false;
    if (n.kind() == node_kind::fork && (n.other() <= i || n.other() >= count)) return false;
    if (n.minimum() > n.maximum()) return false;
  }
  return true;
}

/// Whether each base leads to units only, and each value is `good`.
template <class Good>
bool is_trie(span<const std::uint64_t> units, Good&& good) {
  for (const std::uint64_t unit : units) {
    if (((unit >> 8 & 0xffffff) | 0xff) >= units.size() || !good(static_cast<std::uint32_t>(unit >> 32))) return false;
  }
  return !units.empty();
}

inline bool is_step(const text_tables& t, const text_step& s, bool splits) {
  const auto any = [](std::uint8_t) { return true; };
  switch (s.kind) {
    case step_kind::map:
      return ((s.flags & 1) == 0 || is_table(t.combining, any)) && is_table(s.map, [&s](std::uint32_t v) {
               return v == map_syllable || v == map_spaced || is_inside(v, s.pool.size());
             });
    case step_kind::order: return is_table(t.combining, any);
    case step_kind::replace: return is_pattern(s.pattern) && !t.classes.empty();
    case step_kind::prepend: return true;
    case step_kind::strip: return !t.classes.empty();
    case step_kind::charsmap:
      return s.root < s.trie.size() && is_table(t.graphemes, any) &&
             is_trie(s.trie, [&s](std::uint32_t v) { return is_inside(v, s.pool.size()); });
    case step_kind::split: return splits && is_pattern(s.pattern) && !t.classes.empty() && (s.flags & 7) <= 4;
    default: return false;
  }
}

inline bool are_steps(const text_tables& t, const text_steps& list, bool splits) {
  for (int i = 0; i < list.count; ++i) {
    if (!is_step(t, list.steps[i], splits)) return false;
  }
  return true;
}

/// Whether a hash table has a size that masks can be made of, one free slot, and good slots.
template <class T, class Good>
bool is_hash_table(span<const T> slots, T free, Good&& good) {
  bool ends = false;
  for (const T slot : slots) {
    ends = ends || slot == free;
    if (slot != free && !good(slot)) return false;
  }
  return slots.empty() || (ends && is_power_of_2(slots.size()));
}

/// Whether each is an id, or `none` and allowed to be.
inline bool are_ids(const text_tables& t, span<const std::int32_t> list, bool may_miss) {
  for (const std::int32_t id : list) {
    if (id >= 0 ? static_cast<std::uint32_t>(id) >= t.token_count : !(may_miss && id == -1)) return false;
  }
  return true;
}

/// Words and merges.
inline bool is_vocabulary(const text_tables& t) {
  const std::size_t count = t.token_count;
  if (count > max_token_count || t.token_flags.size() != count || !are_ends(t.key_ends, count, t.keys.size()))
    return false;
  if (!is_hash_table(t.key_slots, free_slot, [&](std::uint32_t s) { return (s & max_token_count) < count; }))
    return false;
  for (const std::uint32_t id : t.merged) {
    if (id >= count) return false;
  }
  return is_hash_table(t.merges, free_merge, [&](std::uint64_t s) { return (s & 0xffffff) < t.merged.size(); });
}

/// What each model needs.
inline bool is_model(const text_tables& t) {
  const bool fallback = t.has(flag_byte_fallback), bytes = t.has(flag_byte_level);
  if (fallback && (t.bytes.size() != 256 || !are_ids(t, t.bytes, false))) return false;
  if (bytes && (t.bytes.size() != 256 || !are_ids(t, t.bytes, true) || fallback)) return false;
  const auto is_id = [&t](std::uint32_t v) { return v <= t.token_count; };
  const bool roots = t.word_root < t.trie.size() && t.inner_root < t.trie.size();
  switch (t.model) {
    case model_kind::byte_pairs: {
      const bool last = !bytes || t.suffix.empty() || (t.last_bytes.size() == 256 && are_ids(t, t.last_bytes, true));
      return t.joins.size() == 8192 && last && !t.key_slots.empty();
    }
    case model_kind::unigram:
      return roots && is_trie(t.trie, is_id) && t.scores.size() == t.token_count && t.unknown >= 0;
    case model_kind::word_piece: return roots && is_trie(t.trie, is_id) && t.unknown >= 0;
    case model_kind::word_level: return true;
    default: return false;
  }
}

/// Added tokens, templates, and what ids decode to.
inline bool are_tokens(const text_tables& t) {
  const bool roots = t.added_root < t.added_trie.size() && t.normalized_root < t.added_trie.size();
  if (!roots || !is_trie(t.added_trie, [&t](std::uint32_t v) { return v <= t.added.size(); })) return false;
  for (const std::uint64_t entry : t.added) {
    if (entry >> 8 >= t.token_count) return false;
  }
  if (!are_ids(t, t.before, false) || !are_ids(t, t.after, false)) return false;
  if (t.text_ends.empty() ? !t.texts.empty() : !are_ends(t.text_ends, t.token_count, t.texts.size())) return false;
  if (t.first_texts.size() % 3 != 0) return false;
  for (std::size_t i = 0; i < t.first_texts.size(); i += 3) {
    const std::uint32_t* f = t.first_texts.data() + i;
    if (std::uint64_t{f[1]} + f[2] > t.texts.size()) return false;
  }
  return true;
}

/// Verifies all that the encoder and the decoder rely on.
NSK_COLD inline status verify_text(const text_tables& t) {
  const bool classes = t.classes.empty() || is_table(t.classes, [](std::uint8_t c) { return c < 64; });
  const bool unknown = t.unknown == -1 || (t.unknown >= 0 && static_cast<std::uint32_t>(t.unknown) < t.token_count);
  const bool known = (t.flags & ~std::uint32_t{known_text_flags}) == 0;
  const bool spaces = !t.classes.empty() || t.added.empty();
  if (!classes || !unknown || !known || !spaces) return status_code::bad_tokenizer;
  const bool steps = are_steps(t, t.normalize, false) && are_steps(t, t.split, true);
  return steps && is_vocabulary(t) && is_model(t) && are_tokens(t) ? status_code::ok : status_code::bad_tokenizer;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
