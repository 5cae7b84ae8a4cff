// SPDX-License-Identifier: MIT
#pragma once
/// From text to ids: added tokens, normalisation, added tokens again, pieces, the model.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/text/impl/added_tokens.hpp>
#include <netsuke/text/impl/byte_pairs.hpp>
#include <netsuke/text/impl/cuts.hpp>
#include <netsuke/text/impl/normalize.hpp>
#include <netsuke/text/impl/unigram.hpp>
#include <netsuke/text/impl/word_piece.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// Encodes one text.
class encoder {
 public:
  encoder(const text_tables& t, span<std::byte> memory, id_list& out) : m_tables(t), m_memory(memory), m_out(out) {}

  /// Ids that do not fit are no failure: the list counts them.
  status encode(piece text) {
    if (valid_end(text) != text.end) text = repaired(text);
    m_start = text.begin;
    added_search search(m_tables, m_tables.added_root, text);
    for (bool more = m_complete && !m_memory.overflowed(); more;) {
      const added_search::found f = search.next();
      if (!f.before.empty()) more = encode_raw(f.before);
      if (more && f.id != no_id) m_out.add(f.id);
      more = more && f.id != no_id;
    }
    if (m_memory.overflowed()) return status_code::text_memory_too_small;
    return m_complete ? status_code::ok : status_code::text_too_complex;
  }

 private:
  bool good() const { return m_complete && !m_memory.overflowed(); }

  /// The text with U+FFFD in the place of what is no UTF-8.
  piece repaired(piece text) {
    const byte_type* mark = m_memory.top();
    while (!text.empty()) {
      const byte_type* end = valid_end(text);
      m_memory.put(text.begin, static_cast<std::size_t>(end - text.begin));
      if (end == text.end) break;
      m_memory.put_code(replacement_character);
      text.begin = end + look_at(end, text.end).bytes;
    }
    return m_memory.since(mark);
  }

  /// Text between tokens that are looked for before normalisation.
  bool encode_raw(piece text) {
    byte_type* mark = m_memory.top();
    bool first = text.begin == m_start;
    const piece made = normalized(m_tables, text, first, m_memory, m_complete);
    added_search search(m_tables, m_tables.normalized_root, made);
    for (bool more = good(); more;) {
      const added_search::found f = search.next();
      if (!f.before.empty()) more = cut(0, f.before, first && f.before.begin == made.begin);
      if (more && f.id != no_id) m_out.add(f.id);
      more = more && f.id != no_id;
    }
    m_memory.release(mark);
    return good();
  }

  /// Runs the steps of splitting from `level` on; `first`: the piece starts the text.
  bool cut(int level, piece text, bool first) {
    if (text.empty()) return true;
    if (level == m_tables.split.count) {
      encode_word(text);
      return good();
    }
    const text_step& step = m_tables.split.steps[level];
    if (step.kind == step_kind::split) {
      const bool all = for_each_piece(
          m_tables, step, text, [&](piece part) { return cut(level + 1, part, first && part.begin == text.begin); });
      m_complete = m_complete && (all || m_memory.overflowed());
      return all && good();
    }
    byte_type* mark = m_memory.top();
    const piece made = changed(m_tables, step, text, first, m_memory, m_complete);
    const bool all = good() && cut(level + 1, made, first);
    m_memory.release(mark);
    return all;
  }

  void encode_word(piece word) {
    switch (m_tables.model) {
      case model_kind::byte_pairs: byte_pair_word(m_tables, word, m_memory, m_out).encode(); break;
      case model_kind::unigram: unigram_word(m_tables, word, m_memory, m_out).encode(); break;
      case model_kind::word_piece: encode_word_piece(m_tables, word, m_out); break;
      default: encode_word_level(m_tables, word, m_out); break;
    }
  }

  const text_tables& m_tables;
  text_memory m_memory;
  id_list& m_out;
  const byte_type* m_start = nullptr;
  bool m_complete = true;  ///< no search for matches was given up
};

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
