// SPDX-License-Identifier: MIT
#include "text/trie_builder.hpp"

#include <algorithm>

#include "errors.hpp"

namespace nsk::tool {
namespace {

constexpr std::uint32_t block = 256, max_units = 1u << 24;
constexpr std::size_t longest = 1024;

class builder {
 public:
  explicit builder(const std::string& what) : m_what(what) {
    grow();
    grow();
    m_used.assign(2 * block, true);                                        // for leaves, whose base is 0, and for roots
    for (std::uint32_t i = 0; i < block; ++i) m_units[i] = (i ^ 1) & 255;  // no child of a leaf
  }

  std::uint32_t add(const trie_words& words) {
    m_list.assign(words.begin(), words.end());
    for (const auto& [word, value] : m_list)
      if (word.size() > longest) refuse(m_what + " has a word of more than " + std::to_string(longest) + " bytes.");
    const std::uint32_t root = block + m_roots++;
    fill(root, 0, m_list.size(), 0);
    return root;
  }
  std::vector<std::uint64_t> units() { return std::move(m_units); }

 private:
  void grow() {
    if (m_units.size() + block > max_units) refuse(m_what + " has too many words for a .nskt file.");
    m_units.resize(m_units.size() + block);
    m_used.resize(m_units.size());
    m_is_base.resize(m_units.size());
    for (std::size_t i = m_units.size() - block; i < m_units.size(); ++i) m_units[i] = 0;
  }
  std::uint32_t free_unit() {
    while (m_first < m_used.size() && m_used[m_first]) ++m_first;
    if (m_first == m_used.size()) grow();
    return m_first;
  }

  /// Sets the base of a unit and its children: words [from, to) of the list are those below it, behind `depth` bytes.
  void fill(std::uint32_t unit, std::size_t from, std::size_t to, std::size_t depth) {
    if (from < to && m_list[from].first.size() == depth) m_units[unit] |= std::uint64_t{m_list[from++].second} << 32;
    std::vector<std::pair<std::uint8_t, std::size_t>> children;  // label, first word
    for (std::size_t i = from; i < to; ++i) {
      const auto label = static_cast<std::uint8_t>(m_list[i].first[depth]);
      if (children.empty() || children.back().first != label) children.emplace_back(label, i);
    }
    if (children.empty()) return;
    const std::uint32_t base = base_for(children);
    m_is_base[base] = true;
    m_units[unit] |= std::uint64_t{base} << 8;
    for (const auto& child : children) m_used[base ^ child.first] = true, m_units[base ^ child.first] = child.first;
    for (std::size_t i = 0; i < children.size(); ++i)
      fill(base ^ children[i].first, children[i].second, i + 1 < children.size() ? children[i + 1].second : to,
           depth + 1);
  }

  /// A base of no other unit whose units for all children are free. Those of the last blocks are tried.
  std::uint32_t base_for(const std::vector<std::pair<std::uint8_t, std::size_t>>& children) {
    constexpr std::uint32_t tried_blocks = 16;
    const auto size = static_cast<std::uint32_t>(m_units.size());
    const std::uint32_t oldest = size > tried_blocks * block ? size - tried_blocks * block : block;
    for (std::uint32_t at = std::max(oldest, free_unit()); at < size; ++at) {
      const std::uint32_t base = at ^ children.front().first;
      if (m_used[at] || m_is_base[base]) continue;
      const auto is_free = [&](const auto& child) { return !m_used[base ^ child.first]; };
      if (std::all_of(children.begin(), children.end(), is_free)) return base;
    }
    grow();
    return size;
  }

  const std::string& m_what;
  std::vector<std::uint64_t> m_units;
  std::vector<bool> m_used, m_is_base;
  std::vector<std::pair<std::string, std::uint32_t>> m_list;
  std::uint32_t m_first = 0, m_roots = 0;
};

}

built_trie build_trie(const std::vector<trie_words>& lists, const std::string& what) {
  builder b(what);
  built_trie trie;
  for (const trie_words& words : lists) trie.roots.push_back(b.add(words));
  trie.units = b.units();
  return trie;
}

}
