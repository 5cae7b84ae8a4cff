// SPDX-License-Identifier: MIT
#pragma once
/// Elements that a call gives out, or why there are none.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/core/assert.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/core/status.hpp>

NSK_BEGIN
namespace impl {
/// Ends the program: what is asked for is not there.
NSK_COLD NSK_NOINLINE inline void stop_without_elements(status why) {
  char text[600];
  why.format(text);
  NSK_STOP(text);
}
}

/// A span, or the status that says why there is none. Test it where a name, a number or a type may be wrong: without
/// elements it is false and empty, and whoever goes on to read or write them all the same, through data(), begin(), an
/// index or a span made of it, ends the program with the status's text, with NDEBUG too (NSK_STOP). Nothing is read or
/// written through an address that is none.
template <class T>
class [[nodiscard]] checked_span {
 public:
  checked_span(span<T> elements) : m_elements(elements) {}
  checked_span(nsk::status why) : m_status(why) {}

  explicit operator bool() const { return static_cast<bool>(m_status); }
  nsk::status status() const { return m_status; }
  std::size_t size() const { return m_elements.size(); }
  bool empty() const { return m_elements.empty(); }

  T* data() const { return elements().data(); }
  T* begin() const { return elements().begin(); }
  T* end() const { return elements().end(); }
  T& operator[](std::size_t i) const { return elements()[i]; }

 private:
  const span<T>& elements() const {
    if (!m_status) impl::stop_without_elements(m_status);
    return m_elements;
  }

  span<T> m_elements;
  nsk::status m_status;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
