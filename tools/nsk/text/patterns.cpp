// SPDX-License-Identifier: MIT
#include "text/patterns.hpp"

#include <algorithm>

#include <netsuke/text/impl/pattern.hpp>

#include "errors.hpp"
#include "text/regex.hpp"

namespace nsk::tool {
namespace {

using text::impl::node_kind;

constexpr unsigned number_of(node_kind kind) { return static_cast<unsigned>(kind); }

/// Builds the nodes of an expression from its end. What follows a node has a smaller number, until the order is
/// reversed.
class compiler {
 public:
  compiler(set_list& sets, const std::string& where) : m_sets(sets), m_where(where) {}

  compiled_pattern compile(const regex_part& whole) {
    const unsigned accept = add({number_of(node_kind::accept)}, character_set(), true);
    const unsigned first = part(whole, accept);
    if (m_empty[first])
      refuse(m_where + " can match nothing at all, which tokenizers do not agree on. Change it to match something.");
    compiled_node start{number_of(node_kind::start)};
    start.set = m_sets.add(m_first[first]);
    start.next = first;
    add(start, m_first[first], false);
    std::reverse(m_nodes.begin(), m_nodes.end());
    const auto count = static_cast<unsigned>(m_nodes.size());
    for (compiled_node& n : m_nodes) n.next = count - 1 - n.next, n.other = count - 1 - n.other;
    m_nodes.back().next = m_nodes.back().other = 0;
    return m_nodes;
  }

 private:
  unsigned add(const compiled_node& node, const character_set& first, bool empty) {
    if (m_nodes.size() == text::impl::max_pattern_nodes)
      refuse(m_where + " is too long for a .nskt file. Simplify it.");
    m_nodes.push_back(node);
    m_first.push_back(first);
    m_empty.push_back(empty);
    return static_cast<unsigned>(m_nodes.size()) - 1;
  }

  /// Returns the node where `p`, followed by `next`, begins.
  unsigned part(const regex_part& p, unsigned next) {
    switch (p.kind) {
      case regex_part::sequence:
        for (auto at = p.parts.rbegin(); at != p.parts.rend(); ++at) next = part(*at, next);
        return next;
      case regex_part::alternatives: {
        unsigned others = part(p.parts.back(), next);
        for (auto at = p.parts.rbegin() + 1; at != p.parts.rend(); ++at) others = fork(part(*at, next), others);
        return others;
      }
      case regex_part::look: {
        compiled_node n{number_of(node_kind::look)};
        n.set = m_sets.add(p.set), n.negated = p.negated, n.next = next;
        return add(n, m_first[next], m_empty[next]);
      }
      case regex_part::repeat: return repeat(p, next);
      default: return chars(p.set, 1, 1, false, next);
    }
  }

  unsigned chars(const character_set& set, unsigned minimum, unsigned maximum, bool possessive, unsigned next) {
    compiled_node n{number_of(node_kind::chars)};
    n.set = m_sets.add(set), n.minimum = minimum, n.maximum = maximum, n.possessive = possessive, n.next = next;
    character_set first = set;
    if (minimum == 0) first |= m_first[next];
    return add(n, first, minimum == 0 && m_empty[next]);
  }

  unsigned repeat(const regex_part& p, unsigned next) {
    const regex_part& body = p.parts.front();
    if (body.kind == regex_part::characters) return chars(body.set, p.minimum, p.maximum, p.possessive, next);
    if (p.maximum == text::impl::unlimited || p.possessive)
      refuse(m_where + " repeats a group without a limit; only characters and classes can be. Spell it otherwise.");
    for (unsigned i = p.minimum; i < p.maximum; ++i) next = fork(part(body, next), next);
    for (unsigned i = 0; i < p.minimum; ++i) next = part(body, next);
    return next;
  }

  unsigned fork(unsigned branch, unsigned other) {
    compiled_node n{number_of(node_kind::fork)};
    n.set = m_sets.add(m_empty[branch] ? character_set::every() : m_first[branch]);
    n.negated = m_empty[branch], n.next = branch, n.other = other;
    character_set first = m_first[branch];
    first |= m_first[other];
    return add(n, first, m_empty[branch] || m_empty[other]);
  }

  set_list& m_sets;
  const std::string& m_where;
  compiled_pattern m_nodes;
  std::vector<character_set> m_first;  ///< of each node: what a match from there can begin with
  std::vector<bool> m_empty;           ///< whether it can be empty
};

}

compiled_pattern compile_regex(const std::string& regex, set_list& sets, const std::string& where) {
  return compiler(sets, where).compile(parse_regex(regex, where));
}

compiled_pattern compile_text(const std::string& text, set_list& sets, const std::string& where) {
  regex_part whole;
  whole.kind = regex_part::sequence;
  if (text.size() > text::impl::max_pattern_nodes) refuse(where + " is too long for a .nskt file. Shorten it.");
  for (const std::uint32_t code : characters_of(text, where)) {
    regex_part one;
    one.set.add(code);
    whole.parts.push_back(one);
  }
  return compiler(sets, where).compile(whole);
}

compiled_pattern compile_set(const character_set& set, unsigned minimum, unsigned maximum, set_list& sets) {
  regex_part one, many;
  one.set = set;
  many.kind = regex_part::repeat, many.minimum = minimum, many.maximum = maximum;
  many.parts.push_back(one);
  return compiler(sets, "a class").compile(many);
}

std::vector<std::uint64_t> words_of(const compiled_pattern& pattern, const std::vector<std::uint64_t>& masks) {
  std::vector<std::uint64_t> words;
  for (const compiled_node& n : pattern) {
    words.push_back(n.set < 0 ? 0 : masks[static_cast<std::size_t>(n.set)]);
    words.push_back(n.kind | std::uint64_t{n.possessive} << 4 | std::uint64_t{n.negated} << 5 |
                    std::uint64_t{n.next} << 8 | std::uint64_t{n.other} << 16 | std::uint64_t{n.minimum} << 24 |
                    std::uint64_t{n.maximum} << 44);
  }
  return words;
}

}
