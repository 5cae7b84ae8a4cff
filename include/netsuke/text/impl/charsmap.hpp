// SPDX-License-Identifier: MIT
#pragma once
/// The character maps of SentencePiece: texts of a few characters that are replaced by others.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/text_view.hpp>
#include <netsuke/text/impl/text_memory.hpp>
#include <netsuke/text/impl/trie.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// How a character takes part in graphemes: the values of TextFile.graphemes.
enum class grapheme_part : std::uint8_t { other, control, extend, spacing, prepend, pictograph };

/// Graphemes of fewer bytes are looked up whole. Rules of Unicode's annex 29 that join only characters of six bytes or
/// more (Hangul, flags, Indic conjuncts) are left out: what they join is looked up character by character in any case.
inline constexpr std::size_t short_grapheme = 6;

/// The end of the grapheme at the start of a text, which is not empty.
inline const byte_type* grapheme_end(const text_tables& t, piece text) {
  const auto part_of = [&t](std::uint32_t code) { return static_cast<grapheme_part>(t.graphemes.of(code)); };
  constexpr std::uint32_t joiner = 0x200d;
  const character first = character_at(text.begin);
  const byte_type* p = text.begin + first.bytes;
  if (first.code == '\r') return p != text.end && *p == '\n' ? p + 1 : p;
  grapheme_part part = part_of(first.code);
  bool pictograph = part == grapheme_part::pictograph, joined = false;
  if (part == grapheme_part::control) return p;
  while (p != text.end) {
    const character c = character_at(p);
    const grapheme_part next = part_of(c.code);
    const bool continues = next == grapheme_part::extend || next == grapheme_part::spacing ||
                           (part == grapheme_part::prepend && next != grapheme_part::control) ||
                           (joined && next == grapheme_part::pictograph);
    if (!continues) break;
    joined = pictograph && c.code == joiner;
    pictograph = next == grapheme_part::pictograph || (pictograph && next == grapheme_part::extend);
    part = next;
    p += c.bytes;
  }
  return p;
}

/// Puts what a value of the trie stands for: place in the pool * 256 + bytes.
inline void put_from_pool(const text_step& s, std::uint32_t value, text_memory& m) {
  m.put(s.pool.data() + (value >> 8), value & 255);
}

/// Puts a grapheme: all of it by the shortest entry that it starts with, or each character by its own.
inline void put_grapheme(const text_step& s, piece grapheme, text_memory& m) {
  if (grapheme.size() < short_grapheme) {
    if (const trie_match found = shortest_match(s.trie, s.root, grapheme); found.value != 0)
      return put_from_pool(s, found.value, m);
  }
  for (const byte_type* p = grapheme.begin; p != grapheme.end;) {
    const piece one = {p, p + bytes_of_lead(*p)};
    const trie_match found = shortest_match(s.trie, s.root, one);
    if (found.value != 0)
      put_from_pool(s, found.value, m);
    else
      m.put(one.begin, one.size());
    p = one.end;
  }
}

inline void put_charsmap(const text_tables& t, const text_step& s, piece text, text_memory& m) {
  const bool longest = (s.flags & 1) != 0;
  while (!text.empty()) {
    if (!longest) {
      const byte_type* end = grapheme_end(t, text);
      put_grapheme(s, {text.begin, end}, m);
      text.begin = end;
      continue;
    }
    const trie_match found = longest_match(s.trie, s.root, text);
    const byte_type* end = found.value != 0 ? found.end : text.begin + bytes_of_lead(*text.begin);
    if (found.value != 0)
      put_from_pool(s, found.value, m);
    else
      m.put(text.begin, static_cast<std::size_t>(end - text.begin));
    text.begin = end;
  }
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
