// SPDX-License-Identifier: MIT
#pragma once
/// What a .nskt file holds, as ranges of plain numbers: the rest of the library sees nothing of FlatBuffers. The fields
/// are those of schema/text.fbs, which describes them. Ranges are inside the file; what they hold is verified by
/// text/impl/verify_text.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/core/span.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/format/file_header.hpp>
#include <netsuke/format/generated/text.hpp>

NSK_BEGIN
namespace text {
namespace impl {
inline bool is_aligned(const void* p, std::uintptr_t alignment) {
  return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}

/// What a step does to a text, how text is cut, and what a model is: as schema/text.fbs describes them.
enum class step_kind : std::uint8_t { map, order, replace, prepend, strip, charsmap, split };
enum class cut_kind : std::uint8_t { isolated, removed, contiguous, merged_with_previous, merged_with_next };
enum class model_kind : std::uint8_t { byte_pairs, unigram, word_piece, word_level };
static_assert(static_cast<int>(step_kind::split) == static_cast<int>(format::TextStepKind::split) &&
                  static_cast<int>(cut_kind::merged_with_next) ==
                      static_cast<int>(format::TextSplit::merged_with_next) &&
                  static_cast<int>(model_kind::word_level) == static_cast<int>(format::TextModel::word_level),
              "the names stand in the schema's order");

/// Bits of TextFile.flags.
enum text_flag : std::uint32_t {
  flag_byte_level = 1,      ///< symbols are bytes; else characters
  flag_byte_fallback = 2,   ///< characters without a token become tokens of their bytes
  flag_fuse_unknown = 4,    ///< neighbours without a token are one unknown token
  flag_ignore_merges = 8,   ///< words of the vocabulary are tokens, whatever merges would make of them
  flag_lossy_bytes = 16,    ///< texts of ids are parts of UTF-8
  flag_drop_space = 32,     ///< a token at the start of what is decoded loses a space in front
  flag_single_scores = 64,  ///< sums of scores are rounded to float
  known_text_flags = 127
};
/// Bits of TextFile.token_flags.
enum token_flag : std::uint8_t { token_special = 1, token_byte = 2, token_direct = 4 };

inline constexpr std::uint32_t text_version = 1;
inline constexpr std::size_t max_text_steps = 16;
/// One more than the last character of Unicode, in blocks of a character table.
inline constexpr std::size_t character_blocks = 0x110000 / 256;
/// Ids that a key slot and a merge can hold, and ranks.
inline constexpr std::uint32_t max_token_count = 0xfffff, max_rank = 0xfffffe;
inline constexpr std::uint32_t free_slot = 0xffffffffu;
inline constexpr std::uint64_t free_merge = ~std::uint64_t{0};

template <class T>
struct character_table {
  span<const std::uint16_t> index;
  span<const T> values;
  bool empty() const { return index.empty(); }
  T of(std::uint32_t code) const { return values.data()[index.data()[code >> 8] * 256u + (code & 255u)]; }
};

struct text_step {
  step_kind kind;
  std::uint8_t flags;
  std::uint64_t set;
  std::uint32_t root;
  character_table<std::uint32_t> map;
  span<const std::uint8_t> pool;
  span<const std::uint64_t> pattern, trie;
};

struct text_steps {
  text_step steps[max_text_steps];
  int count = 0;
};

struct text_tables {
  model_kind model;
  std::uint32_t flags, token_count, max_word, stripped_spaces, max_expansion, max_length;
  std::int32_t unknown;
  character_table<std::uint8_t> classes, combining, graphemes;
  span<const std::uint64_t> compositions;
  text_steps normalize, split;
  span<const std::uint8_t> token_flags, keys, suffix, joins, texts;
  span<const std::uint32_t> key_ends, key_slots, merged, text_ends, first_texts;
  span<const std::int32_t> bytes, last_bytes, before, after;
  span<const std::uint64_t> merges, trie, added_trie, added;
  std::uint32_t word_root, inner_root, added_root, normalized_root;
  std::uint64_t word_set, space_set;
  span<const double> scores;
  double unknown_score;

  bool has(text_flag f) const { return (flags & f) != 0; }
};

/// A list of the file; a list whose numbers are not aligned is left out, and `aligned` false.
template <class To, class From>
span<const To> list_of(const flatbuffers::Vector<From>* v, bool& aligned) {
  static_assert(sizeof(To) == sizeof(From), "the numbers of the file are read in place");
  if (!v || v->size() == 0) return {};
  const bool fits = is_aligned(v->Data(), alignof(To));
  aligned = aligned && fits;
  return fits ? span<const To>(reinterpret_cast<const To*>(v->Data()), v->size()) : span<const To>();
}

template <class T, class Table>
character_table<T> table_of(const Table* t, bool& aligned) {
  if (!t) return {};
  return {list_of<std::uint16_t>(t->index(), aligned), list_of<T>(t->values(), aligned)};
}

template <class Steps>
bool read_steps(const Steps* from, text_steps& to, bool& aligned) {
  const std::size_t count = from ? from->size() : 0;
  if (count > max_text_steps) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const format::TextStep& s = *from->Get(i);
    to.steps[i] = {static_cast<step_kind>(s.kind()),
                   s.flags(),
                   s.set(),
                   s.root(),
                   table_of<std::uint32_t>(s.map(), aligned),
                   list_of<std::uint8_t>(s.pool(), aligned),
                   list_of<std::uint64_t>(s.pattern(), aligned),
                   list_of<std::uint64_t>(s.trie(), aligned)};
  }
  to.count = static_cast<int>(count);
  return true;
}

/// The lists of the vocabulary and of the model.
inline void read_model(const format::TextFile& f, text_tables& t, bool& aligned) {
  t.keys = list_of<std::uint8_t>(f.keys(), aligned);
  t.key_ends = list_of<std::uint32_t>(f.key_ends(), aligned);
  t.key_slots = list_of<std::uint32_t>(f.key_slots(), aligned);
  t.bytes = list_of<std::int32_t>(f.bytes(), aligned);
  t.last_bytes = list_of<std::int32_t>(f.last_bytes(), aligned);
  t.suffix = list_of<std::uint8_t>(f.suffix(), aligned);
  t.merges = list_of<std::uint64_t>(f.merges(), aligned);
  t.merged = list_of<std::uint32_t>(f.merged(), aligned);
  t.joins = list_of<std::uint8_t>(f.joins(), aligned);
  t.trie = list_of<std::uint64_t>(f.trie(), aligned);
  t.added_trie = list_of<std::uint64_t>(f.added_trie(), aligned);
  t.added = list_of<std::uint64_t>(f.added(), aligned);
  t.scores = list_of<double>(f.scores(), aligned);
  t.before = list_of<std::int32_t>(f.before(), aligned);
  t.after = list_of<std::int32_t>(f.after(), aligned);
  t.texts = list_of<std::uint8_t>(f.texts(), aligned);
  t.text_ends = list_of<std::uint32_t>(f.text_ends(), aligned);
  t.first_texts = list_of<std::uint32_t>(f.first_texts(), aligned);
  t.token_flags = list_of<std::uint8_t>(f.token_flags(), aligned);
}

/// From bytes that may be anything to ranges inside them.
NSK_COLD inline status read_text_file(span<const std::byte> bytes, text_tables& t) {
  if (bytes.size() < 8 || std::memcmp(bytes.data() + 4, "NSKT", 4) != 0) return status_code::not_a_tokenizer;
  if (!is_aligned(bytes.data(), 16)) return status_code::misaligned_bytes;
  if (bytes.size() > max_table_bytes) return status_code::bad_tokenizer;
  nsk::impl::work_budget work = nsk::impl::work_budget::of_file(bytes.size(), 0);
  const format::TextFile* f = nsk::impl::table_verifier(bytes, work).root<format::TextFile>();
  if (!f) return status_code::bad_tokenizer;
  if (f->version() != text_version) return status_code::wrong_tokenizer_version;
  bool aligned = true;
  t.model = static_cast<model_kind>(f->model());
  t.flags = f->flags(), t.token_count = f->token_count(), t.unknown = f->unknown(), t.max_word = f->max_word();
  t.stripped_spaces = f->stripped_spaces(), t.max_expansion = f->max_expansion(), t.max_length = f->max_length();
  t.word_root = f->word_root(), t.inner_root = f->inner_root(), t.added_root = f->added_root();
  t.normalized_root = f->normalized_root(), t.word_set = f->word_set(), t.space_set = f->space_set();
  t.unknown_score = f->unknown_score();
  t.classes = table_of<std::uint8_t>(f->classes(), aligned);
  t.combining = table_of<std::uint8_t>(f->combining(), aligned);
  t.graphemes = table_of<std::uint8_t>(f->graphemes(), aligned);
  t.compositions = list_of<std::uint64_t>(f->compositions(), aligned);
  read_model(*f, t, aligned);
  const bool steps = read_steps(f->normalize(), t.normalize, aligned) && read_steps(f->split(), t.split, aligned);
  return steps && aligned ? status_code::ok : status_code::bad_tokenizer;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
