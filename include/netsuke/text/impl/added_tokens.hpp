// SPDX-License-Identifier: MIT
#pragma once
/// Tokens that are looked for in the text itself, before any model sees it: those of conversations, masks, and the
/// like.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/text/impl/pattern.hpp>
#include <netsuke/text/impl/trie.hpp>
#include <netsuke/text/impl/vocabulary.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// Bits of an entry of TextFile.added.
enum added_flag : unsigned { added_whole_word = 1, added_takes_left = 2, added_takes_right = 4, known_added_flags = 7 };

/// Finds the tokens of one of the tries in a text, from left to right, of those that start at one place the longest.
class added_search {
 public:
  added_search(const text_tables& t, std::uint32_t root, piece text)
      : m_tables(t), m_classes(t.classes), m_root(root), m_text(text), m_at(text.begin), m_done(text.begin) {}

  /// The next token, what is in front of it, and its id. At the end the rest, and no_id.
  struct found {
    piece before;
    std::uint32_t id;
  };
  found next() {
    while (m_at != m_text.end) {
      const trie_match match = longest_match(m_tables.added_trie, m_root, {m_at, m_text.end});
      if (match.value == 0) {
        ++m_at;
        continue;
      }
      const std::uint64_t entry = m_tables.added.data()[match.value - 1];
      const piece token = {m_at, match.end};
      m_at = match.end;
      if ((entry & added_whole_word) != 0 && !is_whole(token)) continue;
      return taken(token, entry);
    }
    const piece rest = {m_done, m_text.end};
    m_done = m_text.end;
    return {rest, no_id};
  }

 private:
  bool is_whole(piece token) const {
    unsigned bytes;
    const bool left =
        token.begin != m_text.begin && m_classes.has(m_tables.word_set, previous_character(token.begin), bytes);
    return !left && !(token.end != m_text.end && m_classes.has(m_tables.word_set, token.end, bytes));
  }
  /// A token with the spaces that belong to it.
  found taken(piece token, std::uint64_t entry) {
    unsigned bytes;
    while ((entry & added_takes_left) != 0 && token.begin > m_done) {
      const byte_type* space = previous_character(token.begin);
      if (!m_classes.has(m_tables.space_set, space, bytes)) break;
      token.begin = space;
    }
    while ((entry & added_takes_right) != 0 && token.end != m_text.end &&
           m_classes.has(m_tables.space_set, token.end, bytes))
      token.end += bytes;
    // A token in front may have taken the spaces that this one starts with.
    const piece before = {m_done, token.begin > m_done ? token.begin : m_done};
    m_done = token.end > m_done ? token.end : m_done;
    return {before, static_cast<std::uint32_t>(entry >> 8)};
  }

  const text_tables& m_tables;
  character_classes m_classes;
  std::uint32_t m_root;
  piece m_text;
  const byte_type *m_at, *m_done;
};

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
