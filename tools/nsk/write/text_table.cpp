// SPDX-License-Identifier: MIT
#include "write/text_table.hpp"

#include <cstring>

#include "write/generated/text_builders.hpp"

namespace nsk::tool {
namespace {

namespace fb = flatbuffers;

/// Puts lists into a table.
class list_writer {
 public:
  explicit list_writer(fb::FlatBufferBuilder& b) : m_builder(b) {}

  template <class T>
  fb::Offset<fb::Vector<T>> operator()(const std::vector<T>& v) {
    return v.empty() ? fb::Offset<fb::Vector<T>>() : m_builder.CreateVector(v.data(), v.size());
  }
  fb::Offset<fb::Vector<std::uint8_t>> operator()(const std::string& s) {
    return (*this)(std::vector<std::uint8_t>(s.begin(), s.end()));
  }
  fb::Offset<format::CharacterBytes> operator()(const character_list<std::uint8_t>& c) {
    if (c.index.empty()) return 0;
    const auto index = (*this)(c.index);
    return format::CreateCharacterBytes(m_builder, index, (*this)(c.values));
  }
  fb::Offset<format::CharacterWords> operator()(const character_list<std::uint32_t>& c) {
    if (c.index.empty()) return 0;
    const auto index = (*this)(c.index);
    return format::CreateCharacterWords(m_builder, index, (*this)(c.values));
  }
  fb::Offset<fb::Vector<fb::Offset<format::TextStep>>> operator()(const std::vector<text_step_lists>& steps) {
    std::vector<fb::Offset<format::TextStep>> all;
    for (const text_step_lists& s : steps) {
      const auto map = (*this)(s.map);
      const auto pool = (*this)(s.pool);
      const auto pattern = (*this)(s.pattern), trie = (*this)(s.trie);
      all.push_back(format::CreateTextStep(m_builder, static_cast<format::TextStepKind>(s.kind), s.flags, s.set, s.root,
                                           map, pool, pattern, trie));
    }
    return (*this)(all);
  }

 private:
  fb::FlatBufferBuilder& m_builder;
};

}

std::vector<std::byte> file_of(const text_lists& t) {
  fb::FlatBufferBuilder b;
  list_writer put(b);
  const auto classes = put(t.classes), combining = put(t.combining), graphemes = put(t.graphemes);
  const auto compositions = put(t.compositions), merges = put(t.merges), trie = put(t.trie);
  const auto added_trie = put(t.added_trie), added = put(t.added);
  const auto normalize = put(t.normalize), split = put(t.split);
  const auto flags = put(t.token_flags), keys = put(t.keys), joins = put(t.joins), suffix = put(t.suffix);
  const auto texts = put(t.texts);
  const auto key_ends = put(t.key_ends), key_slots = put(t.key_slots), merged = put(t.merged);
  const auto text_ends = put(t.text_ends), first_texts = put(t.first_texts);
  const auto bytes = put(t.bytes), last_bytes = put(t.last_bytes), before = put(t.before), after = put(t.after);
  const auto scores = put(t.scores);
  const auto root = format::CreateTextFile(
      b, text::impl::text_version, static_cast<format::TextModel>(t.model), t.flags, t.token_count, t.unknown, classes,
      combining, graphemes, compositions, normalize, split, flags, keys, key_ends, key_slots, bytes, last_bytes, suffix,
      merges, merged, joins, trie, t.word_root, t.inner_root, added_trie, t.added_root, t.normalized_root, added,
      t.word_set, t.space_set, scores, t.unknown_score, t.max_word, before, after, texts, text_ends, first_texts,
      t.stripped_spaces, t.max_expansion, t.max_length);
  b.Finish(root, "NSKT");
  std::vector<std::byte> file(b.GetSize());
  std::memcpy(file.data(), b.GetBufferPointer(), file.size());
  return file;
}

}
