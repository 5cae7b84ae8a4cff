// SPDX-License-Identifier: MIT
#pragma once
/// WordPiece: the longest token at the start of a word, then the longest at the start of the rest, to its end. And
/// models whose tokens are whole words.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/text/impl/id_list.hpp>
#include <netsuke/text/impl/trie.hpp>
#include <netsuke/text/impl/vocabulary.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// Whether a text has more than `maximum` characters.
inline bool is_longer(piece t, std::uint32_t maximum) {
  std::uint32_t count = 0;
  for (const byte_type* p = t.begin; p != t.end; p += bytes_of_lead(*p)) {
    if (++count > maximum) return true;
  }
  return false;
}

inline void encode_word_piece(const text_tables& t, piece word, id_list& out) {
  const std::size_t before = out.count();
  bool whole = is_longer(word, t.max_word);
  std::uint32_t root = t.word_root;
  while (!whole && !word.empty()) {
    const trie_match found = longest_match(t.trie, root, word);
    whole = found.value == 0;
    if (!whole) out.add(found.value - 1);
    word.begin = found.end, root = t.inner_root;
  }
  if (!whole) return;
  out.cut_to(before);
  out.add(static_cast<std::uint32_t>(t.unknown));
}

inline void encode_word_level(const text_tables& t, piece word, id_list& out) {
  const std::uint32_t id = find_word(t, word);
  if (id != no_id)
    out.add(id);
  else if (t.unknown >= 0)
    out.add(static_cast<std::uint32_t>(t.unknown));
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
