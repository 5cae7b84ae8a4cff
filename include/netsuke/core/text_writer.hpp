// SPDX-License-Identifier: MIT
#pragma once
/// Text in a block of the caller.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/version.hpp>

NSK_BEGIN
/// Writes text that ends with a zero; what does not fit is left out.
class text_writer {
 public:
  text_writer(char* to, std::size_t bytes) : m_to(to), m_bytes(bytes) {
    if (bytes > 0) to[0] = '\0';
  }
  /// Bytes written, without the zero.
  std::size_t size() const { return m_size; }
  void add(char c) {
    if (m_size + 1 >= m_bytes) return;
    m_to[m_size++] = c;
    m_to[m_size] = '\0';
  }
  void add(const char* text) {
    while (*text != '\0') add(*text++);
  }
  void add(int number) {
    char digits[12];
    char* first = digits + sizeof digits;
    auto left = number < 0 ? 0u - static_cast<unsigned>(number) : static_cast<unsigned>(number);
    *--first = '\0';
    do *--first = static_cast<char>('0' + left % 10);
    while ((left /= 10) != 0);
    if (number < 0) add('-');
    add(first);
  }
  /// A name of a file between quotes; '?' stands for control characters, which terminals would execute.
  void add_quoted(const char* name) {
    add('\'');
    for (; *name != '\0'; ++name) add(static_cast<unsigned char>(*name) < 0x20 || *name == 0x7f ? '?' : *name);
    add('\'');
  }

 private:
  char* m_to;
  std::size_t m_bytes, m_size = 0;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
