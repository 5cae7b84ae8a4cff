// SPDX-License-Identifier: MIT
#pragma once
/// A tokenizer on its way to a .nskt file: the tables of schema/text.fbs in memory.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <netsuke/format/text_view.hpp>

#include "text/characters.hpp"
#include "text/patterns.hpp"
#include "text/trie_builder.hpp"

namespace nsk::tool {

/// One step of normalisation or of splitting.
struct made_step {
  text::impl::step_kind kind = text::impl::step_kind::map;
  std::uint8_t flags = 0;
  int set = -1;
  character_map map;
  std::map<std::string, std::string> charsmap;
  std::string pool;
  compiled_pattern pattern;
};

struct added_token {
  std::string content, looked_for;  ///< `looked_for`: as it is in the text where it is looked for
  std::uint32_t id = 0;
  bool special = false, whole_word = false, takes_left = false, takes_right = false, normalized = false, in_text = true;
};

/// What the source says; write_text() computes the tables.
struct made_tokenizer {
  std::string source;  ///< begins messages
  set_list sets;
  std::vector<made_step> normalize, split;

  text::impl::model_kind model = text::impl::model_kind::byte_pairs;
  std::uint32_t flags = 0, max_word = 0, max_length = 0, stripped_spaces = 0;
  std::int64_t unknown = -1;
  std::map<std::string, std::uint32_t> vocabulary;  ///< what is looked up: bytes, where symbols are bytes
  std::map<std::string, std::uint32_t> inner;       ///< of WordPiece: tokens inside words, without their prefix
  std::map<std::uint32_t, std::string> names;       ///< of all ids, as the source spells them
  std::string suffix;
  struct merge {
    std::uint32_t left, right, merged;
  };
  std::vector<merge> merges;  ///< by rank
  std::vector<std::int32_t> bytes, last_bytes;
  std::vector<double> scores;
  double unknown_score = 0;

  std::vector<added_token> added;
  std::vector<std::int32_t> before, after;
  std::vector<std::string> texts, first_texts;  ///< of each id: what it decodes to, and what at the start
  std::vector<bool> is_byte;                    ///< of each id: it stands for one byte

  std::uint32_t token_count() const { return names.empty() ? 0 : names.rbegin()->first + 1; }
};

/// Sets what added tokens are looked for as: normalised where they are looked for behind normalisation.
void normalize_added(made_tokenizer& t);
/// Returns the bytes of a .nskt file, which nsk::text::open accepts.
std::vector<std::byte> write_text(made_tokenizer& t);

}
