// SPDX-License-Identifier: MIT
#include "text/text_tables.hpp"

#include <netsuke/text/impl/added_tokens.hpp>
#include <netsuke/text/impl/compose.hpp>
#include <netsuke/text/impl/normalize.hpp>
#include <netsuke/text/impl/vocabulary.hpp>

#include "errors.hpp"

namespace nsk::tool {
namespace {

using text::impl::model_kind;

/// The smallest power of 2 with at least a third of its slots free.
std::size_t slots_for(std::size_t count) {
  std::size_t slots = 16;
  while (slots * 2 < count * 3) slots *= 2;
  return slots;
}

std::string utf8_of(const std::u32string& text) {
  std::string bytes;
  for (const std::uint32_t code : text) bytes += utf8_of_character(code);
  return bytes;
}

/// Packs text that is put into a pool: place * 256 + bytes.
std::uint32_t pooled(const std::string& text, std::string& pool, std::map<std::string, std::uint32_t>& known,
                     const std::string& source) {
  if (text.size() > 255 || pool.size() >= 1u << 24)
    refuse(source +
           " replaces a character by more than 255 bytes, which a .nskt file cannot hold. Shorten the replacement.");
  const auto [found, is_new] = known.try_emplace(text, static_cast<std::uint32_t>(pool.size() << 8 | text.size()));
  if (is_new) pool += text;
  return found->second;
}

void add_keys(const made_tokenizer& t, text_lists& m) {
  std::vector<const std::string*> keys(t.token_count());
  for (const auto& [key, id] : t.vocabulary) keys[id] = &key;
  const bool has_texts = (t.flags & text::impl::flag_lossy_bytes) == 0;
  const bool looked_up = t.model == model_kind::byte_pairs || t.model == model_kind::word_level;
  for (std::size_t id = 0; id < keys.size(); ++id) {
    const std::string* key = keys[id] != nullptr && looked_up ? keys[id] : nullptr;
    if (!has_texts) key = &t.texts[id];
    if (key != nullptr) m.keys.insert(m.keys.end(), key->begin(), key->end());
    m.key_ends.push_back(static_cast<std::uint32_t>(m.keys.size()));
  }
  if (!looked_up) return;
  m.key_slots.assign(slots_for(t.vocabulary.size()), text::impl::free_slot);
  for (const auto& [key, id] : t.vocabulary) {
    if (!has_texts && t.texts[id] != key) continue;  // an added token's text that no merge gives
    const std::uint64_t hash = text::impl::word_hash(reinterpret_cast<const std::uint8_t*>(key.data()), key.size());
    std::size_t slot = hash & (m.key_slots.size() - 1);
    while (m.key_slots[slot] != text::impl::free_slot) slot = (slot + 1) & (m.key_slots.size() - 1);
    m.key_slots[slot] = static_cast<std::uint32_t>(hash >> 52) << text::impl::slot_id_bits | id;
  }
}

void add_merges(const made_tokenizer& t, text_lists& m) {
  if (t.merges.size() > text::impl::max_rank) refuse(t.source + " has more merges than a .nskt file can hold.");
  std::vector<const std::string*> keys(t.token_count());
  for (const auto& [key, id] : t.vocabulary) keys[id] = &key;
  m.merges.assign(slots_for(t.merges.size()), text::impl::free_merge);
  m.joins.assign(8192, 0);
  const std::size_t mask = m.merges.size() - 1;
  for (std::size_t rank = 0; rank < t.merges.size(); ++rank) {
    const made_tokenizer::merge& x = t.merges[rank];
    m.merged.push_back(x.merged);
    const std::uint64_t pair = std::uint64_t{x.left} << text::impl::slot_id_bits | x.right;
    std::size_t slot = text::impl::merge_slot(x.left, x.right, mask);
    while (m.merges[slot] != text::impl::free_merge && m.merges[slot] >> text::impl::merge_right_shift != pair)
      slot = (slot + 1) & mask;
    m.merges[slot] = pair << text::impl::merge_right_shift | rank;  // of two merges of one pair the later one holds
    const unsigned bit =
        static_cast<std::uint8_t>(keys[x.left]->back()) * 256u + static_cast<std::uint8_t>(keys[x.right]->front());
    m.joins[bit / 8] |= static_cast<std::uint8_t>(1u << bit % 8);
  }
}

}

std::vector<std::uint8_t> combining_classes(const made_tokenizer& t) {
  std::vector<std::uint8_t> classes(character_count);
  for (std::uint32_t code = 0; code < character_count; ++code) classes[code] = kind_of(code).combining;
  const auto look_at = [&classes](std::uint32_t code) {
    if (classes[code] == 0) classes[code] = text::impl::composing_starter;
  };
  std::vector<bool> composed(character_count);
  const character_map canonical = canonical_decomposition(false);
  for (const composition& c : all_compositions()) look_at(c.second), composed[c.to] = true;
  for (std::uint32_t code = text::impl::vowels; code < text::impl::vowels + text::impl::vowel_count; ++code)
    look_at(code);
  for (std::uint32_t code = text::impl::tails + 1; code < text::impl::tails + text::impl::tail_count; ++code)
    look_at(code);
  for (const made_step& s : t.normalize)  // what composition does not give back
    for (const auto& [code, to] : s.map.to)
      if (s.kind == text::impl::step_kind::map && s.flags != 0 && (!composed[code] || to != canonical.of(code)))
        look_at(code);
  return classes;
}

std::vector<std::uint8_t> grapheme_parts() {
  std::vector<std::uint8_t> parts(character_count);
  for (std::uint32_t code = 0; code < character_count; ++code) parts[code] = kind_of(code).grapheme;
  return parts;
}

std::vector<std::uint64_t> packed_compositions() {
  std::vector<std::uint64_t> packed;
  for (const composition& c : all_compositions())
    packed.push_back(std::uint64_t{c.first} << 42 | std::uint64_t{c.second} << 21 | c.to);
  std::sort(packed.begin(), packed.end());
  return packed;
}

std::vector<std::uint32_t> packed_map(const character_map& map, std::string& pool, const std::string& source) {
  std::vector<std::uint32_t> packed(character_count);
  std::map<std::string, std::uint32_t> known;
  pool.push_back('\0');  // place 0 is for characters that stay
  for (std::uint32_t code = text::impl::syllables;
       map.syllables && code < text::impl::syllables + text::impl::syllable_count; ++code)
    packed[code] = text::impl::map_syllable;
  for (const auto& [code, to] : map.to)
    packed[code] = to == std::u32string{U' ', static_cast<char32_t>(code), U' '}
                       ? text::impl::map_spaced
                       : pooled(utf8_of(to), pool, known, source);
  return packed;
}

built_trie charsmap_trie(const made_step& step, std::string& pool, const std::string& source) {
  trie_words words;
  std::map<std::string, std::uint32_t> known;
  pool.push_back('\0');
  for (const auto& [from, to] : step.charsmap) words[from] = pooled(to, pool, known, source);
  return build_trie({words}, source);
}

void add_model_tables(const made_tokenizer& t, text_lists& lists) {
  add_keys(t, lists);
  if (t.model == model_kind::byte_pairs) add_merges(t, lists);
  if (t.model != model_kind::unigram && t.model != model_kind::word_piece) return;
  std::vector<trie_words> words(2);
  for (const auto& [word, id] : t.vocabulary)
    if (!word.empty()) words[0][word] = id + 1;
  for (const auto& [word, id] : t.inner)
    if (!word.empty()) words[1][word] = id + 1;
  built_trie trie = build_trie(words, t.source);
  lists.trie = std::move(trie.units), lists.word_root = trie.roots[0], lists.inner_root = trie.roots[1];
}

void add_texts(const made_tokenizer& t, text_lists& lists) {
  if ((t.flags & text::impl::flag_lossy_bytes) != 0) return;
  const auto dropped = [](const std::string& s) { return !s.empty() && s.front() == ' ' ? s.substr(1) : s; };
  std::size_t equal = 0, dropping = 0;
  for (const auto& [id, name] : t.names)
    equal += t.texts[id] == t.first_texts[id], dropping += dropped(t.texts[id]) == t.first_texts[id];
  const bool drops = dropping > equal;
  if (drops) lists.flags |= text::impl::flag_drop_space;
  for (const std::string& text : t.texts) {
    lists.texts += text;
    lists.text_ends.push_back(static_cast<std::uint32_t>(lists.texts.size()));
  }
  for (const auto& [id, name] : t.names) {
    const std::string& first = t.first_texts[id];
    if (first == (drops ? dropped(t.texts[id]) : t.texts[id])) continue;
    lists.first_texts.insert(lists.first_texts.end(), {id, static_cast<std::uint32_t>(lists.texts.size()),
                                                       static_cast<std::uint32_t>(first.size())});
    lists.texts += first;
  }
}

std::vector<std::uint8_t> token_flags_of(const made_tokenizer& t) {
  std::vector<std::uint8_t> flags(t.token_count());
  for (std::size_t id = 0; id < flags.size(); ++id)
    if (t.is_byte[id]) flags[id] |= text::impl::token_byte;
  for (const added_token& a : t.added)
    if (a.special) flags[a.id] |= text::impl::token_special;
  return flags;
}

void add_added_tokens(const made_tokenizer& t, text_lists& lists) {
  using namespace text::impl;
  std::vector<trie_words> words(2);
  for (std::size_t i = 0; i < t.added.size(); ++i) {
    const added_token& a = t.added[i];
    const unsigned flags = (a.whole_word ? unsigned{added_whole_word} : 0) |
                           (a.takes_left ? unsigned{added_takes_left} : 0) |
                           (a.takes_right ? unsigned{added_takes_right} : 0);
    lists.added.push_back(std::uint64_t{a.id} << 8 | flags);
    if (!a.looked_for.empty() && a.in_text)
      words[a.normalized ? 1 : 0].try_emplace(a.looked_for, static_cast<std::uint32_t>(i + 1));
  }
  built_trie trie = build_trie(words, t.source);
  lists.added_trie = std::move(trie.units), lists.added_root = trie.roots[0], lists.normalized_root = trie.roots[1];
}

std::uint32_t max_expansion(const made_tokenizer& t) {
  std::uint64_t product = 1;
  const auto times = [](std::uint64_t to, std::uint64_t from) { return (to + from - 1) / (from == 0 ? 1 : from); };
  for (const std::vector<made_step>* steps : {&t.normalize, &t.split})
    for (const made_step& s : *steps) {
      std::uint64_t factor = s.map.syllables ? 3 : 1;
      for (const auto& [code, to] : s.map.to)
        factor = std::max(factor, times(utf8_of(to).size(), utf8_of_character(code).size()));
      for (const auto& [from, to] : s.charsmap) factor = std::max(factor, times(to.size(), from.size()));
      if (s.kind != text::impl::step_kind::map && s.kind != text::impl::step_kind::charsmap) factor += s.pool.size();
      product = std::min<std::uint64_t>(product * factor, 4096);
    }
  return static_cast<std::uint32_t>(product);
}

}
