// SPDX-License-Identifier: MIT
#pragma once
/// The unigram model: of all ways to cut a text into tokens the one whose scores have the largest sum.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/text/impl/id_list.hpp>
#include <netsuke/text/impl/text_memory.hpp>
#include <netsuke/text/impl/trie.hpp>
#include <netsuke/text/impl/vocabulary.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// Encodes one text. Sums are made from left to right, one addition a token, so that they are the same everywhere.
class unigram_word {
 public:
  unigram_word(const text_tables& t, piece word, text_memory& m, id_list& out)
      : m_tables(t), m_word(word), m_memory(m), m_out(out) {}

  void encode() {
    byte_type* mark = m_memory.top();
    m_ends = m_memory.take<best_end>(m_word.size() + 1);
    if (m_ends != nullptr) {
      for (std::size_t i = 0; i <= m_word.size(); ++i) m_ends[i] = {0, none, no_id};
      for (std::size_t at = 0; at < m_word.size(); at += bytes_of_lead(m_word.begin[at])) extend(at);
      give_path();
    }
    m_memory.release(mark);
  }

 private:
  /// The best way to a place: its sum, where its last token begins, and which that is. Going back turns `from` round.
  struct best_end {
    double sum;
    std::uint32_t from, id;
  };
  static constexpr std::uint32_t none = 0xffffffffu;

  double sum_of(double a, double b) const {
    return m_tables.has(flag_single_scores) ? static_cast<double>(static_cast<float>(a + b)) : a + b;
  }
  void offer(std::size_t end, std::size_t from, double sum, std::uint32_t id) {
    best_end& e = m_ends[end];
    if (e.from == none || sum > e.sum) e = {sum, static_cast<std::uint32_t>(from), id};
  }

  /// Offers each token that starts at a place.
  void extend(std::size_t at) {
    const byte_type* first = m_word.begin + at;
    const unsigned length = bytes_of_lead(*first);
    const double sum = m_ends[at].sum;
    trie_walk walk(m_tables.trie, m_tables.word_root);
    bool single = false;
    for (const byte_type* p = first; p != m_word.end && walk.go(*p);) {
      ++p;
      if (walk.value() == 0) continue;
      const std::uint32_t id = walk.value() - 1;
      const auto bytes = static_cast<std::size_t>(p - first);
      offer(at + bytes, at, sum_of(m_tables.scores.data()[id], sum), id);
      single = single || bytes == length;
    }
    if (!single)
      offer(at + length, at, sum_of(m_tables.unknown_score, sum), static_cast<std::uint32_t>(m_tables.unknown));
  }

  /// Gives the tokens of the best way, from left to right.
  void give_path() {
    std::size_t next = m_word.size();
    for (std::size_t at = m_word.size(); at != 0;) {  // until here `from` points back; from here on forward
      const std::size_t from = m_ends[at].from;
      m_ends[at].from = static_cast<std::uint32_t>(next);
      next = at, at = from;
    }
    const auto is_unknown = [&](std::size_t end) {
      return static_cast<std::int32_t>(m_ends[end].id) == m_tables.unknown;
    };
    for (std::size_t begin = 0, end = next; begin != m_word.size();) {
      std::size_t last = end;
      if (is_unknown(end) && m_tables.has(flag_fuse_unknown))
        while (last != m_word.size() && is_unknown(m_ends[last].from)) last = m_ends[last].from;
      if (is_unknown(end))
        give_unknown({m_word.begin + begin, m_word.begin + last});
      else
        m_out.add(m_ends[end].id);
      begin = last, end = m_ends[last].from;
    }
  }

  /// Gives what stands for a text without a token.
  void give_unknown(piece text) {
    const trie_match found = longest_match(m_tables.trie, m_tables.word_root, text);
    if (found.value != 0 && found.end == text.end) return m_out.add(found.value - 1);
    if (!m_tables.has(flag_byte_fallback)) return m_out.add(static_cast<std::uint32_t>(m_tables.unknown));
    for (const byte_type* p = text.begin; p != text.end; ++p)
      m_out.add(static_cast<std::uint32_t>(m_tables.bytes.data()[*p]));
  }

  const text_tables& m_tables;
  piece m_word;
  text_memory& m_memory;
  id_list& m_out;
  best_end* m_ends = nullptr;
};

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
