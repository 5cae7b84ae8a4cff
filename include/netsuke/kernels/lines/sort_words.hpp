// SPDX-License-Identifier: MIT
#pragma once
/// Sorts 32-bit elements with their positions: both in one word, so that nothing is looked up.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/version.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Numbers in the order of the elements: NaN above all others, zeros of both signs equal.
inline std::uint32_t order_of_element(std::int32_t x) { return static_cast<std::uint32_t>(x) ^ 0x80000000u; }
inline std::uint32_t order_of_element(float x) {
  constexpr std::uint32_t sign = 0x80000000u;
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (x != x) return 0xffffffffu;
  if (bits == sign) bits = 0;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

/// Words [0, count) of a heap, largest first, of which word `parent` may be too small for its place.
inline void sink_word(std::uint64_t* words, std::ptrdiff_t parent, std::ptrdiff_t count) {
  for (std::ptrdiff_t child; (child = 2 * parent + 1) < count; parent = child) {
    if (child + 1 < count && words[child] < words[child + 1]) ++child;
    if (!(words[parent] < words[child])) return;
    const std::uint64_t word = words[parent];
    words[parent] = words[child];
    words[child] = word;
  }
}
inline void sort_by_heap(std::uint64_t* words, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = count / 2; i-- > 0;) sink_word(words, i, count);
  for (std::ptrdiff_t size = count; size-- > 1;) {
    const std::uint64_t word = words[0];
    words[0] = words[size];
    words[size] = word;
    sink_word(words, 0, size);
  }
}
inline void sort_by_insertion(std::uint64_t* words, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 1; i < count; ++i) {
    const std::uint64_t word = words[i];
    std::ptrdiff_t k = i;
    for (; k > 0 && word < words[k - 1]; --k) words[k] = words[k - 1];
    words[k] = word;
  }
}

/// Moves the words below the middle one of three to the front, without a branch; returns how many they are. The word
/// behind them is in its place.
inline std::ptrdiff_t split_words(std::uint64_t* words, std::ptrdiff_t count) {
  const std::uint64_t a = words[0], b = words[count / 2], c = words[count - 1];
  const std::ptrdiff_t middle = (a < b) == (b < c) ? count / 2 : (b < a) == (a < c) ? 0 : count - 1;
  const std::uint64_t pivot = words[middle];
  words[middle] = words[count - 1];
  std::ptrdiff_t below = 0;
  for (std::ptrdiff_t i = 0; i + 1 < count; ++i) {
    const std::uint64_t word = words[i];
    words[i] = words[below];
    words[below] = word;
    below += static_cast<std::ptrdiff_t>(word < pivot);
  }
  words[count - 1] = words[below];
  words[below] = pivot;
  return below;
}

/// Sorts words that differ, smallest first. Parts that split badly, again and again, are sorted by a heap: no order of
/// the input takes more than count * log(count) steps.
NSK_NOINLINE inline void sort_words(std::uint64_t* words, std::ptrdiff_t count) {
  struct part {
    std::uint64_t* words;
    std::ptrdiff_t count;
    int splits;
  };
  constexpr std::ptrdiff_t few = 24;
  constexpr int max_splits = 64;
  part waiting[64];  // the larger part waits, so that there are at most as many as the count has bits
  int parts = 0;
  waiting[parts++] = {words, count, max_splits};
  while (parts > 0) {
    part p = waiting[--parts];
    while (p.count > few && p.splits > 0) {
      const std::ptrdiff_t below = split_words(p.words, p.count);
      const part first{p.words, below, p.splits - 1}, second{p.words + below + 1, p.count - below - 1, p.splits - 1};
      waiting[parts++] = first.count < second.count ? second : first;
      p = first.count < second.count ? first : second;
    }
    if (p.count > few)
      sort_by_heap(p.words, p.count);
    else
      sort_by_insertion(p.words, p.count);
  }
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
