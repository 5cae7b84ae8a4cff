// SPDX-License-Identifier: MIT
#pragma once
/// The steps that make another text of a text.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/text/impl/charsmap.hpp>
#include <netsuke/text/impl/compose.hpp>
#include <netsuke/text/impl/pattern.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// Values of a map that are no place in the pool: the decomposition of a syllable of Hangul, and the character between
/// spaces.
inline constexpr std::uint32_t map_syllable = 1, map_spaced = 2;

inline void put_value(const text_step& s, std::uint32_t value, character c, const byte_type* p, text_memory& m) {
  if (value == map_syllable) return put_syllable(c.code, m);
  if (value != map_spaced) return m.put(s.pool.data() + (value >> 8), value & 255);
  m.put(' ');
  m.put(p, c.bytes);
  m.put(' ');
}

/// Puts what a map makes of each character. Runs of characters that stay are copied at once.
inline void put_mapped(const text_step& s, piece t, text_memory& m) {
  const byte_type* kept = t.begin;
  const std::uint32_t* ascii = s.map.values.data() + s.map.index.data()[0] * 256u;
  for (const byte_type* p = t.begin; p != t.end;) {
    const character c = *p < 0x80 ? character{*p, 1} : character_at(p);
    const std::uint32_t to = c.bytes == 1 ? ascii[c.code] : s.map.of(c.code);
    if (to != 0) {
      m.put(kept, static_cast<std::size_t>(p - kept));
      put_value(s, to, c, p, m);
      kept = p + c.bytes;
    }
    p += c.bytes;
  }
  m.put(kept, static_cast<std::size_t>(t.end - kept));
}

/// Puts the text with `pool` in the place of each match. Returns whether the search came to its end.
inline bool put_replaced(const text_tables& t, const text_step& s, piece text, text_memory& m) {
  matcher search(t, s.pattern, text);
  for (const byte_type* at = text.begin; at != text.end && !search.exhausted();) {
    const piece found = search.find(at);
    m.put(at, static_cast<std::size_t>(found.begin - at));
    if (!found.empty()) m.put(s.pool.data(), s.pool.size());
    at = found.end;
  }
  return !search.exhausted();
}

inline piece stripped(const text_tables& t, const text_step& s, piece text) {
  const character_classes classes(t.classes);
  unsigned bytes;
  while ((s.flags & 1) != 0 && !text.empty() && classes.has(s.set, text.begin, bytes)) text.begin += bytes;
  while ((s.flags & 2) != 0 && !text.empty()) {
    const byte_type* last = previous_character(text.end);
    if (!classes.has(s.set, last, bytes)) break;
    text.end = last;
  }
  return text;
}

inline bool starts_with(piece text, span<const std::uint8_t> with) {
  return text.size() >= with.size() && (with.empty() || std::memcmp(text.begin, with.data(), with.size()) == 0);
}

/// Whether a step of kind prepend puts something in front of a piece; `first`: the piece starts the text.
inline bool prepends(const text_step& s, piece text, bool first) {
  return !text.empty() && ((s.flags & 1) == 0 || first) && ((s.flags & 2) == 0 || !starts_with(text, s.pool));
}

/// The text that a step makes, on top of the memory, or part of the text that it was given. `complete` becomes false
/// where the search for matches was given up.
inline piece changed(const text_tables& t, const text_step& s, piece text, bool first, text_memory& m, bool& complete) {
  const byte_type* mark = m.top();
  switch (s.kind) {
    case step_kind::map:
      if ((s.flags & 1) != 0 && !needs_order(t, text, true)) return text;
      put_mapped(s, text, m);
      break;
    case step_kind::order:
      if (!needs_order(t, text, (s.flags & 1) != 0)) return text;
      put_ordered(t, text, (s.flags & 1) != 0, m);
      break;
    case step_kind::replace: complete = put_replaced(t, s, text, m) && complete; break;
    case step_kind::prepend:
      if (!prepends(s, text, first)) return text;
      m.put(s.pool.data(), s.pool.size());
      m.put(text.begin, text.size());
      break;
    case step_kind::strip: return stripped(t, s, text);
    default: put_charsmap(t, s, text, m); break;
  }
  return m.since(mark);
}

/// Whether a step leaves out the first character of a text; `made` is what it makes of it.
inline bool removes_start(const text_step& s, piece text, piece made) {
  if (text.empty()) return false;
  switch (s.kind) {
    case step_kind::map: {
      const std::uint32_t to = s.map.of(character_at(text.begin).code);
      return to != 0 && to != map_syllable && (to & 255) == 0;
    }
    case step_kind::charsmap: {
      const trie_match found = shortest_match(s.trie, s.root, text);
      return found.value != 0 && (found.value & 255) == 0;
    }
    case step_kind::strip: return made.begin != text.begin;
    default: return false;
  }
}

/// Runs all steps on a piece. `first` becomes false where the start of the piece is left out. The result is on top of
/// the memory from `mark` on, or part of the piece.
inline piece normalized(const text_tables& t, piece text, bool& first, text_memory& m, bool& complete) {
  byte_type* mark = m.top();
  bool moved = false;
  for (int i = 0; i < t.normalize.count; ++i) {
    const byte_type* before = m.top();
    piece next = changed(t, t.normalize.steps[i], text, first, m, complete);
    if (m.overflowed() || !complete) return {mark, mark};
    first = first && !removes_start(t.normalize.steps[i], text, next);
    const bool is_new = m.top() != before;
    if (is_new && moved) next = m.move_down(next, mark);
    moved = moved || is_new;
    text = next;
  }
  return text;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
