// SPDX-License-Identifier: MIT
#pragma once
/// A range that the caller owns.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <type_traits>
#include <netsuke/core/assert.hpp>

NSK_BEGIN
template <class T>
class span {
 public:
  constexpr span() = default;
  constexpr span(T* data, std::size_t size) : m_data(data), m_size(size) {}
  template <std::size_t N>
  constexpr span(T (&array)[N]) : m_data(array), m_size(N) {}
  /// Converts from anything with data() and size(): std::vector, std::array, std::string, another span.
  template <class Range, class = std::enable_if_t<std::is_convertible_v<decltype(std::declval<Range&>().data()), T*>>>
  constexpr span(Range&& range) : m_data(range.data()), m_size(range.size()) {}

  constexpr T* data() const { return m_data; }
  constexpr std::size_t size() const { return m_size; }
  constexpr bool empty() const { return m_size == 0; }
  constexpr T* begin() const { return m_data; }
  constexpr T* end() const { return m_data + m_size; }
  constexpr T& operator[](std::size_t i) const {
    NSK_ASSERT(i < m_size, "span: index past the end");
    return m_data[i];
  }

 private:
  T* m_data = nullptr;
  std::size_t m_size = 0;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
