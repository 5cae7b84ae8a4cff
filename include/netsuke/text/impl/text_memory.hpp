// SPDX-License-Identifier: MIT
#pragma once
/// The caller's memory while a text is encoded: a stack.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/core/span.hpp>
#include <netsuke/text/impl/utf8.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// Blocks and texts on top of each other. What does not fit leaves overflowed() true, and nothing is written.
class text_memory {
 public:
  explicit text_memory(span<std::byte> memory)
      : m_top(reinterpret_cast<byte_type*>(memory.data())), m_end(m_top + memory.size()) {}

  bool overflowed() const { return m_overflowed; }
  byte_type* top() const { return m_top; }
  /// Gives back all that was taken since top() was `mark`.
  void release(byte_type* mark) { m_top = mark; }

  /// Returns `count` elements without values, or null.
  template <class T>
  T* take(std::size_t count) {
    const auto past = reinterpret_cast<std::uintptr_t>(m_top) % alignof(T);
    const std::size_t pad = past == 0 ? 0 : alignof(T) - past, left = static_cast<std::size_t>(m_end - m_top);
    if (left < pad || (left - pad) / sizeof(T) < count) {
      m_overflowed = true;
      return nullptr;
    }
    T* block = reinterpret_cast<T*>(m_top + pad);
    m_top += pad + count * sizeof(T);
    return block;
  }
  void put(byte_type b) {
    if (m_top == m_end) {
      m_overflowed = true;
      return;
    }
    *m_top++ = b;
  }
  void put(const byte_type* from, std::size_t bytes) {
    if (static_cast<std::size_t>(m_end - m_top) < bytes) {
      m_overflowed = true;
      return;
    }
    if (bytes != 0) std::memcpy(m_top, from, bytes);
    m_top += bytes;
  }
  void put_code(std::uint32_t code) {
    byte_type bytes[max_character_bytes];
    put(bytes, put_character(code, bytes));
  }
  /// The text that was put since top() was `mark`.
  piece since(const byte_type* mark) const { return {mark, m_top}; }
  /// Moves the text `t`, the last on the stack, down to `mark`.
  piece move_down(piece t, byte_type* mark) {
    if (!t.empty()) std::memmove(mark, t.begin, t.size());
    m_top = mark + t.size();
    return {mark, m_top};
  }

 private:
  byte_type *m_top, *m_end;
  bool m_overflowed = false;
};

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
