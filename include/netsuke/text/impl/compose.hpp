// SPDX-License-Identifier: MIT
#pragma once
/// Canonical order of marks, and composition (Unicode, annex 15). A map step has decomposed the text before.
///
/// The combining class of a character that is no mark, but may compose with what is in front of it, is stored as 255.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/text_view.hpp>
#include <netsuke/text/impl/text_memory.hpp>

NSK_BEGIN
namespace text {
namespace impl {

inline constexpr unsigned composing_starter = 255;

/// Syllables of Hangul are numbered: (lead * 21 + vowel) * 28 + tail.
inline constexpr std::uint32_t syllables = 0xac00, leads = 0x1100, vowels = 0x1161, tails = 0x11a7;
inline constexpr std::uint32_t lead_count = 19, vowel_count = 21, tail_count = 28, syllable_count = 11172;

inline void put_syllable(std::uint32_t code, text_memory& m) {
  const std::uint32_t number = code - syllables, tail = number % tail_count;
  m.put_code(leads + number / (vowel_count * tail_count));
  m.put_code(vowels + number / tail_count % vowel_count);
  if (tail != 0) m.put_code(tails + tail);
}

/// The character that two compose to, 0 where they do not.
inline std::uint32_t composed(const text_tables& t, std::uint32_t a, std::uint32_t b) {
  if (a - leads < lead_count && b - vowels < vowel_count)
    return syllables + ((a - leads) * vowel_count + (b - vowels)) * tail_count;
  if (a - syllables < syllable_count && (a - syllables) % tail_count == 0 && b - tails - 1 < tail_count - 1)
    return a + (b - tails);
  const std::uint64_t key = std::uint64_t{a} << 42 | std::uint64_t{b} << 21;
  std::size_t low = 0, high = t.compositions.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (t.compositions.data()[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  constexpr std::uint64_t code = 0x1fffff;
  const bool found = low < t.compositions.size() && (t.compositions.data()[low] & ~code) == key;
  return found ? static_cast<std::uint32_t>(t.compositions.data()[low] & code) : 0;
}

/// Whether ordering or composing could change a text.
inline bool needs_order(const text_tables& t, piece text, bool composes) {
  for (const byte_type* p = text.begin; p != text.end;) {
    if (*p < 0x80) {
      ++p;
      continue;
    }
    const character c = character_at(p);
    const unsigned combining = t.combining.of(c.code);
    if (combining != 0 && (composes || combining != composing_starter)) return true;
    p += c.bytes;
  }
  return false;
}

/// Puts characters that come in canonical order.
class composer {
 public:
  composer(const text_tables& t, bool composes, text_memory& m) : m_tables(t), m_composes(composes), m_memory(m) {}

  void add(std::uint32_t code, unsigned combining) {
    const bool starter = combining == 0 || combining == composing_starter;
    if (m_slot != nullptr && m_composes && combining != 0 && (m_last == 0 || (!starter && m_last < combining))) {
      if (const std::uint32_t both = composed(m_tables, m_starter, code)) {
        m_starter = both;
        return;
      }
    }
    if (starter) {
      finish();
      m_slot = m_memory.top(), m_starter = code, m_last = 0;
      for (unsigned i = 0; i < max_character_bytes; ++i) m_memory.put(0);
    } else {
      m_memory.put_code(code);
      m_last = combining;
    }
  }
  /// Puts the starter into the place that was kept for it, and moves its marks down to it.
  void finish() {
    if (m_slot == nullptr || m_memory.overflowed()) return;
    const piece marks = m_memory.since(m_slot + max_character_bytes);
    m_memory.move_down(marks, m_slot + put_character(m_starter, m_slot));
    m_slot = nullptr;
  }

 private:
  const text_tables& m_tables;
  bool m_composes;
  text_memory& m_memory;
  byte_type* m_slot = nullptr;
  std::uint32_t m_starter = 0;
  unsigned m_last = 0;  ///< class of the last mark behind the starter
};

/// The marks at the start of a text, by rising class; those of one class stay as they are.
inline void put_marks(const text_tables& t, piece marks, composer& to) {
  for (unsigned last = 0; last < composing_starter;) {
    unsigned next = composing_starter;
    for (const byte_type* p = marks.begin; p != marks.end; p += bytes_of_lead(*p)) {
      const unsigned combining = t.combining.of(character_at(p).code);
      if (combining > last && combining < next) next = combining;
    }
    for (const byte_type* p = marks.begin; next != composing_starter && p != marks.end; p += bytes_of_lead(*p)) {
      const std::uint32_t code = character_at(p).code;
      if (t.combining.of(code) == next) to.add(code, next);
    }
    last = next;
  }
}

inline void put_ordered(const text_tables& t, piece text, bool composes, text_memory& m) {
  composer to(t, composes, m);
  for (const byte_type* p = text.begin; p != text.end;) {
    const byte_type* first = p;
    for (; p != text.end; p += bytes_of_lead(*p)) {
      const unsigned combining = *p < 0xcc ? 0 : t.combining.of(character_at(p).code);
      if (combining == 0 || combining == composing_starter) break;
    }
    if (p != first) put_marks(t, {first, p}, to);
    if (p == text.end) break;
    const character c = character_at(p);
    to.add(c.code, t.combining.of(c.code));
    p += c.bytes;
  }
  to.finish();
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
