// SPDX-License-Identifier: MIT
#pragma once
/// The tables of a .nskt file, computed from what its source says.
#include <algorithm>
#include <map>

#include "text/text_file.hpp"
#include "write/text_table.hpp"

namespace nsk::tool {

/// A number for each character, in blocks.
template <class T>
character_list<T> two_stage_of(const std::vector<T>& of_characters) {
  character_list<T> t;
  std::map<std::vector<T>, std::uint16_t> known;
  for (std::size_t at = 0; at < of_characters.size(); at += 256) {
    const auto first = of_characters.begin() + static_cast<std::ptrdiff_t>(at);
    const std::vector<T> block(first, first + 256);
    const auto [found, is_new] = known.try_emplace(block, static_cast<std::uint16_t>(known.size()));
    if (is_new) t.values.insert(t.values.end(), block.begin(), block.end());
    t.index.push_back(found->second);
  }
  return t;
}

/// Combining classes of all characters, with composing_starter (include/netsuke/text/impl/compose.hpp) where a step has
/// to look at a text that holds the character.
std::vector<std::uint8_t> combining_classes(const made_tokenizer& t);
std::vector<std::uint8_t> grapheme_parts();
std::vector<std::uint64_t> packed_compositions();
/// What a map makes of all characters, as places in `pool`, to which it adds.
std::vector<std::uint32_t> packed_map(const character_map& map, std::string& pool, const std::string& source);
built_trie charsmap_trie(const made_step& step, std::string& pool, const std::string& source);

/// Words, merges and the trie of words.
void add_model_tables(const made_tokenizer& t, text_lists& lists);
/// What ids decode to.
void add_texts(const made_tokenizer& t, text_lists& lists);
/// Tokens that are looked for in the text itself.
void add_added_tokens(const made_tokenizer& t, text_lists& lists);
/// Flags of special tokens and of tokens of one byte.
std::vector<std::uint8_t> token_flags_of(const made_tokenizer& t);

/// Bytes that normalisation and splitting make of one byte at most.
std::uint32_t max_expansion(const made_tokenizer& t);

}
