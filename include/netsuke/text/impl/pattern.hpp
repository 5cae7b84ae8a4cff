// SPDX-License-Identifier: MIT
#pragma once
/// Patterns: regular expressions that `nsk tokenizer` has compiled. A node leads to later nodes only, so that matching
/// ends.
///
/// A node has two words. The first is a set of classes of characters. The second has, from the low bits up: 4 bits
/// kind, 1 possessive, 1 negated, 2 unused, 8 next node, 8 other node, 20 minimum, 20 maximum. Node 0 is of kind
/// `start`: its set holds the characters that a match can start with.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/text_view.hpp>
#include <netsuke/text/impl/utf8.hpp>

NSK_BEGIN
namespace text {
namespace impl {

enum class node_kind : unsigned {
  accept = 0,  ///< a match ends here
  start = 1,   ///< node 0
  chars = 2,   ///< minimum to maximum characters of the set, as many as possible
  look = 3,    ///< the next character is of the set; negated: there is none, or it is not
  fork = 4,    ///< `next`, where the next character is of the set, or negated: there is none; else `other`
  end = 5,     ///< the end of the text
  known_node_kinds = 6
};

inline constexpr unsigned max_pattern_nodes = 255, unlimited = 0xfffff;

struct pattern_node {
  std::uint64_t set, word;
  node_kind kind() const { return static_cast<node_kind>(word & 15); }
  bool possessive() const { return (word & 16) != 0; }
  bool negated() const { return (word & 32) != 0; }
  unsigned next() const { return static_cast<unsigned>(word >> 8 & 255); }
  unsigned other() const { return static_cast<unsigned>(word >> 16 & 255); }
  unsigned minimum() const { return static_cast<unsigned>(word >> 24 & unlimited); }
  unsigned maximum() const { return static_cast<unsigned>(word >> 44); }
};

/// Classes of characters, with those of ASCII at hand.
class character_classes {
 public:
  explicit character_classes(const character_table<std::uint8_t>& table)
      : m_table(table), m_ascii(table.empty() ? nullptr : table.values.data() + table.index.data()[0] * 256u) {}

  /// Whether the character at `p` is of the set; `bytes` becomes its length.
  bool has(std::uint64_t set, const byte_type* p, unsigned& bytes) const {
    if (*p < 0x80) {
      bytes = 1;
      return (set >> m_ascii[*p] & 1) != 0;
    }
    const character c = character_at(p);
    bytes = c.bytes;
    return (set >> m_table.of(c.code) & 1) != 0;
  }

 private:
  character_table<std::uint8_t> m_table;
  const byte_type* m_ascii;
};

/// Searches one text for matches of one pattern.
class matcher {
 public:
  matcher(const text_tables& t, span<const std::uint64_t> pattern, piece text)
      : m_classes(t.classes), m_words(pattern.data()), m_text(text), m_left(max_work(text.size())) {}

  /// The first match at or behind `from`; empty, at the end of the text, where there is none.
  piece find(const byte_type* from) {
    const pattern_node first = node(0);
    for (const byte_type* p = from; p != m_text.end;) {
      unsigned bytes;
      if (m_classes.has(first.set, p, bytes)) {
        const byte_type* end = match(first.next(), p);
        if (end != nullptr && end != p) return {p, end};
      }
      p += bytes;
    }
    return {m_text.end, m_text.end};
  }
  /// Whether matching went back so often that a file made for it must be at work. No later match is to be relied on.
  bool exhausted() const { return m_left == 0; }

 private:
  static std::uint64_t max_work(std::size_t bytes) { return 65536 + std::uint64_t{bytes} * 64; }
  pattern_node node(unsigned i) const { return {m_words[2 * i], m_words[2 * i + 1]}; }

  /// The end of a match of node `i` at `p`, or null.
  const byte_type* match(unsigned i, const byte_type* p) {
    for (;;) {
      const pattern_node n = node(i);
      unsigned bytes;
      switch (n.kind()) {
        case node_kind::chars:
          if (!run(n, p)) return nullptr;
          if (p == nullptr) return m_found;
          break;
        case node_kind::look:
          if ((p != m_text.end && m_classes.has(n.set, p, bytes)) == n.negated()) return nullptr;
          break;
        case node_kind::end:
          if (p != m_text.end) return nullptr;
          break;
        case node_kind::fork:
          if (p == m_text.end ? n.negated() : m_classes.has(n.set, p, bytes)) {
            if (const byte_type* end = match(n.next(), p)) return end;
          }
          i = n.other();
          continue;
        default: return p;
      }
      i = n.next();
    }
  }

  /// Takes the characters of a node of kind chars. Returns false where there is no match. Else moves `p` behind them,
  /// or, where it had to try what follows, makes it null and leaves the end of the match in m_found.
  bool run(const pattern_node& n, const byte_type*& p) {
    unsigned count = 0, bytes;
    const unsigned maximum = n.maximum() == unlimited ? ~0u : n.maximum();
    const byte_type* at = p;
    while (count < maximum && at != m_text.end && m_classes.has(n.set, at, bytes)) at += bytes, ++count;
    if (count < n.minimum()) return false;
    if (count == n.minimum() || n.possessive() || node(n.next()).kind() == node_kind::accept) {
      p = at;
      return true;
    }
    for (;; at = previous_character(at), --count) {
      if (m_left == 0) return false;
      --m_left;
      m_found = match(n.next(), at);
      if (m_found != nullptr) break;
      if (count == n.minimum()) return false;
    }
    p = nullptr;
    return true;
  }

  character_classes m_classes;
  const std::uint64_t* m_words;
  piece m_text;
  std::uint64_t m_left;
  const byte_type* m_found = nullptr;
};

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
