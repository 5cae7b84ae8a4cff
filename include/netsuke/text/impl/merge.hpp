// SPDX-License-Identifier: MIT
#pragma once
/// Merging the symbols of a word: the merge of least rank first, of equal ones the leftmost, until none is left.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/text/impl/id_list.hpp>
#include <netsuke/text/impl/text_memory.hpp>
#include <netsuke/text/impl/vocabulary.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// Words of at most so many symbols are merged by looking at all their pairs each time.
inline constexpr std::size_t short_word = 48;

/// Merges symbols in place; returns how many remain.
inline std::size_t merge_short(const text_tables& t, std::uint32_t* ids, std::size_t count) {
  std::uint32_t ranks[short_word];
  for (std::size_t i = 0; i + 1 < count; ++i) ranks[i] = find_merge(t, ids[i], ids[i + 1]);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (ranks[i] < ranks[best]) best = i;
    }
    if (ranks[best] == no_rank) break;
    ids[best] = t.merged.data()[ranks[best]];
    --count;
    for (std::size_t i = best + 1; i < count; ++i) ids[i] = ids[i + 1], ranks[i] = ranks[i + 1];
    if (best != 0) ranks[best - 1] = find_merge(t, ids[best - 1], ids[best]);
    if (best + 1 < count) ranks[best] = find_merge(t, ids[best], ids[best + 1]);
  }
  return count;
}

/// Merges words of any length in the time of n log n: a list of symbols, and a heap of the merges of neighbours.
class long_merger {
 public:
  struct symbol {
    std::uint32_t id, previous, next;
  };
  static constexpr std::uint32_t none = 0xffffffffu;

  /// Takes memory for `count` symbols of a word, which may be too much.
  long_merger(const text_tables& t, std::size_t count, text_memory& m)
      : m_tables(t), m_heap(m.take<std::uint64_t>(2 * count)), m_symbols(m.take<symbol>(count)) {}
  explicit operator bool() const { return m_heap != nullptr && m_symbols != nullptr; }

  void add(std::uint32_t id) {
    const std::uint32_t i = m_count++;
    m_symbols[i] = {id, i == 0 ? none : i - 1, none};
    if (i != 0) m_symbols[i - 1].next = i;
  }
  /// Merges, and gives the ids that remain.
  void finish(id_list& out) {
    for (std::uint32_t i = 0; i + 1 < m_count; ++i) push_pair(i);
    while (m_size != 0) merge_first();
    for (std::uint32_t i = 0; m_count != 0 && i != none; i = m_symbols[i].next) out.add(m_symbols[i].id);
  }

 private:
  /// An entry is rank << 32 | number of the left symbol: smaller ones come first.
  void push_pair(std::uint32_t left) {
    if (m_symbols[left].next == none) return;
    const std::uint32_t rank = find_merge(m_tables, m_symbols[left].id, m_symbols[m_symbols[left].next].id);
    if (rank != no_rank) push(std::uint64_t{rank} << 32 | left);
  }
  void merge_first() {
    const std::uint64_t entry = pop();
    const auto left = static_cast<std::uint32_t>(entry), rank = static_cast<std::uint32_t>(entry >> 32);
    symbol& s = m_symbols[left];
    if (s.id == none || s.next == none) return;
    const std::uint32_t right = s.next;
    if (find_merge(m_tables, s.id, m_symbols[right].id) != rank) return;
    s.id = m_tables.merged.data()[rank];
    s.next = m_symbols[right].next;
    if (s.next != none) m_symbols[s.next].previous = left;
    m_symbols[right].id = none;
    if (s.previous != none) push_pair(s.previous);
    push_pair(left);
  }
  void push(std::uint64_t entry) {
    std::size_t i = m_size++;
    for (; i != 0 && m_heap[(i - 1) / 2] > entry; i = (i - 1) / 2) m_heap[i] = m_heap[(i - 1) / 2];
    m_heap[i] = entry;
  }
  std::uint64_t pop() {
    const std::uint64_t first = m_heap[0], last = m_heap[--m_size];
    std::size_t i = 0;
    for (std::size_t child; (child = 2 * i + 1) < m_size; i = child) {
      if (child + 1 < m_size && m_heap[child + 1] < m_heap[child]) ++child;
      if (m_heap[child] >= last) break;
      m_heap[i] = m_heap[child];
    }
    m_heap[i] = last;
    return first;
  }

  const text_tables& m_tables;
  std::uint64_t* m_heap;
  symbol* m_symbols;
  std::uint32_t m_count = 0;
  std::size_t m_size = 0;
};

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
