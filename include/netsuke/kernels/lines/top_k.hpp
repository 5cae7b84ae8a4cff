// SPDX-License-Identifier: MIT
#pragma once
/// Positions of the k best elements along one dimension, best first.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/element_lines.hpp>
#include <netsuke/kernels/lines/sort_words.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Positions of the best elements along `axis`.
struct top_k_args : top_k_params {
  tensor_view input, output;
};

namespace impl {

/// A line of the input and the line of positions that becomes a heap with the worst of the kept at its root, then
/// sorted. The order is total: NaN is above every number, and of two equal ones the first position counts as better.
template <class T>
class top_k_line {
 public:
  top_k_line(const top_k_args& a, std::ptrdiff_t from, std::ptrdiff_t to) : m_a(a), m_from(from), m_to(to) {}

  void run() {
    const std::int64_t length = m_a.input.shape[m_a.axis], k = m_a.output.shape[m_a.axis];
    if constexpr (sizeof(T) == sizeof(std::uint32_t))
      if (k == length && m_a.output.stride[m_a.axis] == 1) return sort_all(length);
    for (std::int64_t i = 0; i < length; ++i) {
      if (i < k) {
        put(i, i);
        for (std::int64_t child = i; child > 0 && better(at((child - 1) / 2), at(child)); child = (child - 1) / 2)
          swap(child, (child - 1) / 2);
      } else if (better(i, at(0))) {
        put(0, i);
        sink(k);
      }
    }
    for (std::int64_t size = k; size-- > 1;) {
      swap(0, size);
      sink(size);
    }
  }

 private:
  /// Sorts the whole line, with its elements in the upper halves of the positions.
  void sort_all(std::int64_t length) {
    const auto count = static_cast<std::ptrdiff_t>(length);
    std::uint64_t* const words = m_a.output.as<std::uint64_t>() + m_to;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const std::uint32_t order = order_of_element(element<T>(m_a.input.data, index(m_a.input, m_from, i)));
      words[i] = static_cast<std::uint64_t>(m_a.smallest ? order : ~order) << 32 | static_cast<std::uint64_t>(i);
    }
    sort_words(words, count);
    for (std::ptrdiff_t i = 0; i < count; ++i) words[i] &= 0xffffffffu;
  }
  std::ptrdiff_t index(const tensor_view& t, std::ptrdiff_t first, std::int64_t i) const {
    return first + static_cast<std::ptrdiff_t>(i) * t.stride[m_a.axis];
  }
  std::int64_t at(std::int64_t i) const { return element<std::int64_t>(m_a.output.data, index(m_a.output, m_to, i)); }
  void put(std::int64_t i, std::int64_t position) {
    put_element(m_a.output.data, index(m_a.output, m_to, i), position);
  }
  void swap(std::int64_t i, std::int64_t j) {
    const std::int64_t first = at(i);
    put(i, at(j));
    put(j, first);
  }
  bool better(std::int64_t i, std::int64_t j) const {
    const T x = element<T>(m_a.input.data, index(m_a.input, m_from, i)),
            y = element<T>(m_a.input.data, index(m_a.input, m_from, j));
    if (m_a.smallest ? below(x, y) : below(y, x)) return true;
    return !(m_a.smallest ? below(y, x) : below(x, y)) && i < j;
  }
  static bool below(T x, T y) { return x < y || (x == x && y != y); }
  /// Moves the root of a heap of `size` down to where it belongs.
  void sink(std::int64_t size) {
    for (std::int64_t parent = 0;;) {
      std::int64_t child = 2 * parent + 1;
      if (child >= size) return;
      if (child + 1 < size && better(at(child), at(child + 1))) ++child;
      if (!better(at(parent), at(child))) return;
      swap(parent, child);
      parent = child;
    }
  }

  const top_k_args& m_a;
  std::ptrdiff_t m_from, m_to;
};

}

/// output (int64) = positions of the best elements along `axis`, as many as the output is long there; float32, int32 or
/// int64, any strides. A tile holds whole lines along the axis.
template <class = void>
inline void top_k(const top_k_args& a, const tile_range& t, std::byte*) {
  impl::for_whole_lines(a.output, a.input, a.axis, t, [&](const impl::element_line<2>& l) {
    for (std::ptrdiff_t i = 0; i < l.count; ++i) {
      const std::ptrdiff_t to = l.at[0] + i * l.stride[0], from = l.at[1] + i * l.stride[1];
      if (a.input.type == dtype::float32)
        impl::top_k_line<float>(a, from, to).run();
      else if (a.input.type == dtype::int32)
        impl::top_k_line<std::int32_t>(a, from, to).run();
      else
        impl::top_k_line<std::int64_t>(a, from, to).run();
    }
  });
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
