// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include <netsuke/text/tokenizer.hpp>

#include "errors.hpp"
#include "text/text_file.hpp"
#include "text/text_tables.hpp"

namespace nsk::tool {
namespace {

using text::impl::step_kind;

/// Computes the tables of a tokenizer once; the flags of its ids may change.
class writer {
 public:
  explicit writer(made_tokenizer& t) : m_made(t), m_lists() {
    const int word_set = t.sets.add(character_set::of_flag(is_word));
    const int space_set = t.sets.add(character_set::of_flag(is_space));
    const std::vector<std::uint8_t> classes = t.sets.classes();
    m_masks = t.sets.masks(classes);
    m_lists.classes = two_stage_of(classes);
    m_lists.word_set = mask(word_set), m_lists.space_set = mask(space_set);
    if (uses(step_kind::order)) {
      m_lists.combining = two_stage_of(combining_classes(t));
      m_lists.compositions = packed_compositions();
    }
    if (uses(step_kind::charsmap)) m_lists.graphemes = two_stage_of(grapheme_parts());
    m_lists.normalize = steps(t.normalize), m_lists.split = steps(t.split);
    add_numbers();
    add_model_tables(t, m_lists);
    add_texts(t, m_lists);
    add_added_tokens(t, m_lists);
  }
  std::vector<std::byte> file(const std::vector<std::uint8_t>& token_flags) {
    m_lists.token_flags = token_flags;
    return file_of(m_lists);
  }

 private:
  std::uint64_t mask(int set) const { return set < 0 ? 0 : m_masks[static_cast<std::size_t>(set)]; }
  bool uses(step_kind kind) const {
    const auto is = [kind](const made_step& s) { return s.kind == kind; };
    return std::any_of(m_made.normalize.begin(), m_made.normalize.end(), is) ||
           std::any_of(m_made.split.begin(), m_made.split.end(), is);
  }
  void add_numbers() {
    m_lists.model = m_made.model, m_lists.flags = m_made.flags, m_lists.token_count = m_made.token_count();
    m_lists.unknown = static_cast<std::int32_t>(m_made.unknown);
    m_lists.suffix = m_made.suffix, m_lists.bytes = m_made.bytes, m_lists.last_bytes = m_made.last_bytes;
    m_lists.scores = m_made.scores, m_lists.unknown_score = m_made.unknown_score, m_lists.max_word = m_made.max_word;
    m_lists.before = m_made.before, m_lists.after = m_made.after;
    m_lists.stripped_spaces = m_made.stripped_spaces, m_lists.max_length = m_made.max_length;
    m_lists.max_expansion = max_expansion(m_made);
  }
  std::vector<text_step_lists> steps(const std::vector<made_step>& made) const {
    if (made.size() > text::impl::max_text_steps)
      refuse(m_made.source + " has more steps of normalisation or splitting than a .nskt file can hold (" +
             std::to_string(text::impl::max_text_steps) + "). Merge some of them.");
    std::vector<text_step_lists> all;
    for (const made_step& s : made) all.push_back(step(s));
    return all;
  }
  text_step_lists step(const made_step& s) const {
    text_step_lists lists = {s.kind, s.flags, mask(s.set), 0, {}, s.pool, words_of(s.pattern, m_masks), {}};
    if (s.kind == step_kind::map) {
      lists.map = two_stage_of(packed_map(s.map, lists.pool, m_made.source));
    } else if (s.kind == step_kind::charsmap) {
      const built_trie trie = charsmap_trie(s, lists.pool, m_made.source);
      lists.trie = trie.units, lists.root = trie.roots[0];
    }
    return lists;
  }

  made_tokenizer& m_made;
  text_lists m_lists;
  std::vector<std::uint64_t> m_masks;
};

/// The bytes of a file at an address that nsk::text::open takes.
class opened_text {
 public:
  explicit opened_text(const std::vector<std::byte>& file) : m_words((file.size() + 15) / 8 + 1) {
    auto* p = reinterpret_cast<std::byte*>(m_words.data());
    p += reinterpret_cast<std::uintptr_t>(p) % 16;
    std::memcpy(p, file.data(), file.size());
    const status s = text::open({p, file.size()}, words);
    if (!s)
      refuse(std::string("the tokenizer that was made cannot be opened: ") + s.message() +
             ". Report it with its source.");
  }
  text::tokenizer words;

 private:
  std::vector<std::uint64_t> m_words;
};

/// Flags of ids whose text, as a word, merges make one token of again.
void add_direct_flags(const made_tokenizer& t, const text::tokenizer& words, std::vector<std::uint8_t>& flags) {
  if (t.model != text::impl::model_kind::byte_pairs) return;
  text::impl::text_tables tables = words.tables();
  tables.flags &= ~std::uint32_t{text::impl::flag_ignore_merges};
  std::vector<std::byte> memory(1 << 16);
  for (const auto& [key, id] : t.vocabulary) {
    const bool ends = t.suffix.empty() || (key.size() > t.suffix.size() &&
                                           key.compare(key.size() - t.suffix.size(), std::string::npos, t.suffix) == 0);
    if (!ends || key.empty() || key.size() > 1024) continue;
    const auto* first = reinterpret_cast<const std::uint8_t*>(key.data());
    if (!tables.has(text::impl::flag_byte_level) &&
        text::impl::valid_end({first, first + key.size()}) != first + key.size())
      continue;
    std::int32_t made[2];
    text::impl::id_list ids(made);
    text::impl::text_memory stack({memory.data(), memory.size()});
    text::impl::byte_pair_word(tables, {first, first + key.size() - t.suffix.size()}, stack, ids).encode();
    if (ids.count() == 1 && !stack.overflowed() && static_cast<std::uint32_t>(made[0]) == id)
      flags[id] |= text::impl::token_direct;
  }
}

}

void normalize_added(made_tokenizer& t) {
  made_tokenizer other;  // the same steps, without a vocabulary
  other.source = t.source, other.sets = t.sets, other.normalize = t.normalize;
  other.model = text::impl::model_kind::word_level;
  other.names[0] = "", other.texts = other.first_texts = {""}, other.is_byte = {false};
  const opened_text opened(writer(other).file({0}));
  for (added_token& a : t.added) {
    a.looked_for = a.content;
    if (!a.normalized) continue;
    const auto* first = reinterpret_cast<const std::uint8_t*>(a.content.data());
    std::vector<std::byte> memory(opened.words.memory_bytes(a.content.size()));
    text::impl::text_memory stack({memory.data(), memory.size()});
    bool complete = true, starts = true;
    const text::impl::piece made =
        text::impl::normalized(opened.words.tables(), {first, first + a.content.size()}, starts, stack, complete);
    a.looked_for.assign(made.begin, made.end);
  }
}

std::vector<std::byte> write_text(made_tokenizer& t) {
  if (t.token_count() == 0 || t.token_count() > text::impl::max_token_count)
    refuse(t.source + " has no tokens, or more than a .nskt file can hold (" +
           std::to_string(text::impl::max_token_count) + ").");
  writer w(t);
  std::vector<std::uint8_t> flags = token_flags_of(t);
  add_direct_flags(t, opened_text(w.file(flags)).words, flags);
  const std::vector<std::byte> file = w.file(flags);
  opened_text last(file);
  return file;
}

}
