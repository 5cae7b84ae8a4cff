// SPDX-License-Identifier: MIT
#pragma once
/// The table of a .nskt file, schema/text.fbs, as plain lists.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <netsuke/format/text_view.hpp>

namespace nsk::tool {

/// A number for each character, blocks of 256 that are equal stored once.
template <class T>
struct character_list {
  std::vector<std::uint16_t> index;
  std::vector<T> values;
};

struct text_step_lists {
  text::impl::step_kind kind;
  std::uint8_t flags;
  std::uint64_t set;
  std::uint32_t root;
  character_list<std::uint32_t> map;
  std::string pool;
  std::vector<std::uint64_t> pattern, trie;
};

struct text_lists {
  text::impl::model_kind model;
  std::uint32_t flags, token_count, max_word, stripped_spaces, max_expansion, max_length;
  std::int32_t unknown;
  character_list<std::uint8_t> classes, combining, graphemes;
  std::vector<std::uint64_t> compositions;
  std::vector<text_step_lists> normalize, split;
  std::vector<std::uint8_t> token_flags, keys, joins;
  std::string suffix, texts;
  std::vector<std::uint32_t> key_ends, key_slots, merged, text_ends, first_texts;
  std::vector<std::int32_t> bytes, last_bytes, before, after;
  std::vector<std::uint64_t> merges, trie, added_trie, added;
  std::uint32_t word_root = 0, inner_root = 0, added_root = 0, normalized_root = 0;
  std::uint64_t word_set, space_set;
  std::vector<double> scores;
  double unknown_score;
};

/// Returns the bytes of the file.
std::vector<std::byte> file_of(const text_lists& t);

}
