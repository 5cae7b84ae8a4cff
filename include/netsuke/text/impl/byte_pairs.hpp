// SPDX-License-Identifier: MIT
#pragma once
/// Byte pair encoding of a word.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/text/impl/merge.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// Encodes one word. A word is cut where no merge of the vocabulary can join what is left and right of a place: what
/// remains between cuts is short in most texts, and often a token.
class byte_pair_word {
 public:
  byte_pair_word(const text_tables& t, piece word, text_memory& m, id_list& out)
      : m_tables(t), m_word(word), m_memory(m), m_out(out) {}

  void encode() {
    if (is_token(m_word, true)) return;
    piece part = {m_word.begin, m_word.begin};
    for (const byte_type* p = m_word.begin; p != m_word.end;) {
      if (p != part.begin && !may_join(m_tables, p[-1], *p)) {
        encode_part(part);
        part.begin = p;
      }
      p += symbol_bytes(p);
      part.end = p;
    }
    encode_part(part);
  }

 private:
  unsigned symbol_bytes(const byte_type* p) const { return m_tables.has(flag_byte_level) ? 1 : bytes_of_lead(*p); }

  /// Gives the token that a text is, where merges would end there too. `whole`: it is the word.
  bool is_token(piece part, bool whole) {
    byte_type* mark = m_memory.top();
    if (part.end == m_word.end && !m_tables.suffix.empty()) {
      m_memory.put(part.begin, part.size());
      m_memory.put(m_tables.suffix.data(), m_tables.suffix.size());
      part = m_memory.since(mark);
    }
    const std::uint32_t id = find_word(m_tables, part);
    m_memory.release(mark);
    const bool always = whole && m_tables.has(flag_ignore_merges);
    if (id == no_id || !(always || (m_tables.token_flags.data()[id] & token_direct) != 0)) return false;
    m_out.add(id);
    m_unknown = false;
    return true;
  }

  void encode_part(piece part) {
    if (part.empty() || ((part.begin != m_word.begin || part.end != m_word.end) && is_token(part, false))) return;
    if (part.size() <= short_word) {
      std::uint32_t ids[short_word];
      std::size_t count = 0;
      for_each_symbol(part, [&](std::uint32_t id) { ids[count++] = id; });
      count = merge_short(m_tables, ids, count);
      for (std::size_t i = 0; i < count; ++i) m_out.add(ids[i]);
      return;
    }
    byte_type* mark = m_memory.top();
    long_merger merger(m_tables, part.size(), m_memory);
    if (merger) {
      for_each_symbol(part, [&](std::uint32_t id) { merger.add(id); });
      merger.finish(m_out);
    }
    m_memory.release(mark);
  }

  /// Calls use(id) for each symbol, at most as often as the part has bytes.
  template <class Use>
  void for_each_symbol(piece part, Use&& use) {
    for (const byte_type* p = part.begin; p != part.end;) {
      const piece one = {p, p + symbol_bytes(p)};
      p = one.end;
      const std::uint32_t id = symbol(one);
      if (id != no_id) {
        m_unknown = false;
        use(id);
      } else if (m_tables.has(flag_byte_fallback)) {
        m_unknown = false;
        for (const byte_type* b = one.begin; b != one.end; ++b)
          use(static_cast<std::uint32_t>(m_tables.bytes.data()[*b]));
      } else if (m_tables.unknown >= 0) {
        if (!m_unknown || !m_tables.has(flag_fuse_unknown)) use(static_cast<std::uint32_t>(m_tables.unknown));
        m_unknown = true;
      }
    }
  }

  /// The id of one symbol, or no_id.
  std::uint32_t symbol(piece one) {
    const bool last = one.end == m_word.end && !m_tables.suffix.empty();
    if (m_tables.has(flag_byte_level))
      return static_cast<std::uint32_t>((last ? m_tables.last_bytes : m_tables.bytes).data()[*one.begin]);
    if (!last) return find_word(m_tables, one);
    byte_type* mark = m_memory.top();
    m_memory.put(one.begin, one.size());
    m_memory.put(m_tables.suffix.data(), m_tables.suffix.size());
    const std::uint32_t id = find_word(m_tables, m_memory.since(mark));
    m_memory.release(mark);
    return id;
  }

  const text_tables& m_tables;
  piece m_word;
  text_memory& m_memory;
  id_list& m_out;
  bool m_unknown = false;  ///< the symbol in front was an unknown one
};

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
