// SPDX-License-Identifier: MIT
#pragma once
/// The trie of a file: one array for all words that are looked for by their start. A unit is value << 32 | base << 8 |
/// label; the child of a unit by byte b is unit base ^ b, if that has the label b. No two units with children have one
/// base.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/text/impl/utf8.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// A place in the trie. Units that open() has verified lead to units only.
class trie_walk {
 public:
  trie_walk(span<const std::uint64_t> units, std::uint32_t root) : m_units(units.data()), m_unit(units.data()[root]) {}

  /// Goes to the child by `b`; returns whether there is one.
  bool go(byte_type b) {
    const std::uint64_t unit = m_units[((m_unit >> 8) & 0xffffff) ^ b];
    if ((unit & 0xff) != b) return false;
    m_unit = unit;
    return true;
  }
  /// What ends here, 0 where nothing does.
  std::uint32_t value() const { return static_cast<std::uint32_t>(m_unit >> 32); }

 private:
  const std::uint64_t* m_units;
  std::uint64_t m_unit;
};

struct trie_match {
  std::uint32_t value;
  const byte_type* end;
};

/// The longest word of the trie that the text starts with; value 0 where there is none.
inline trie_match longest_match(span<const std::uint64_t> units, std::uint32_t root, piece t) {
  trie_walk walk(units, root);
  trie_match found = {0, t.begin};
  for (const byte_type* p = t.begin; p != t.end && walk.go(*p);) {
    ++p;
    if (walk.value() != 0) found = {walk.value(), p};
  }
  return found;
}

/// The shortest one.
inline trie_match shortest_match(span<const std::uint64_t> units, std::uint32_t root, piece t) {
  trie_walk walk(units, root);
  for (const byte_type* p = t.begin; p != t.end && walk.go(*p);) {
    ++p;
    if (walk.value() != 0) return {walk.value(), p};
  }
  return {0, t.begin};
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
