// SPDX-License-Identifier: MIT
#pragma once
/// JSON into a block of the caller, without a terminating zero: what does not fit is counted and not written.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/core/span.hpp>

NSK_BEGIN
namespace impl {

class json_text {
 public:
  explicit json_text(span<char> to) : m_to(to) {}

  /// Bytes that the text has, also where the block is shorter.
  std::size_t size() const { return m_size; }
  bool fits() const { return m_size <= m_to.size(); }

  json_text& raw(const char* text) {
    for (; *text; ++text) put(*text);
    return *this;
  }
  /// "text" in quotes. Bytes that are no UTF-8 become U+FFFD, control characters \u00xx; at most `limit` bytes of it.
  json_text& string(const char* text, std::size_t limit = 200) {
    put('"');
    const char* const end = text + length_of(text, limit);
    while (text < end) {
      const int bytes = utf8_bytes(text, end);
      if (bytes == 0) raw("\\ufffd");
      if (bytes == 1) character(*text);
      for (int i = 0; bytes > 1 && i < bytes; ++i) put(text[i]);
      text += bytes > 0 ? bytes : 1;
    }
    put('"');
    return *this;
  }
  json_text& number(std::uint64_t value) {
    char digits[20];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    while (count > 0) put(digits[--count]);
    return *this;
  }
  /// Nanoseconds as microseconds with three decimals.
  json_text& microseconds(std::int64_t nanoseconds) {
    if (nanoseconds < 0) put('-');
    const std::uint64_t bits = static_cast<std::uint64_t>(nanoseconds), magnitude = nanoseconds < 0 ? 0 - bits : bits;
    number(magnitude / 1000);
    put('.');
    put(static_cast<char>('0' + magnitude / 100 % 10));
    put(static_cast<char>('0' + magnitude / 10 % 10));
    put(static_cast<char>('0' + magnitude % 10));
    return *this;
  }

 private:
  void put(char c) {
    if (m_size < m_to.size()) m_to.data()[m_size] = c;
    ++m_size;
  }
  void character(char c) {
    constexpr const char* hexadecimal = "0123456789abcdef";
    if (c == '"' || c == '\\') put('\\');
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) return put(c);
    raw("\\u00");
    put(hexadecimal[(c >> 4) & 15]);
    put(hexadecimal[c & 15]);
  }
  /// Bytes of the text, at most `limit`, and no part of a character at the end.
  static std::size_t length_of(const char* text, std::size_t limit) {
    std::size_t length = 0;
    while (length < limit && text[length]) ++length;
    if (text[length])
      while (length > 0 && is_continuation(text[length])) --length;
    return length;
  }
  static bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
  /// Bytes of the character at `at`, 0 where there is none: bad lead, missing bytes, a longer form than needed, a
  /// surrogate, or a number beyond U+10FFFF.
  static int utf8_bytes(const char* at, const char* end) {
    const auto lead = static_cast<unsigned char>(*at);
    if (lead < 0x80) return 1;
    const int bytes = lead >= 0xf5 ? 0 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    if (bytes == 0 || end - at < bytes) return 0;
    for (int i = 1; i < bytes; ++i)
      if (!is_continuation(at[i])) return 0;
    const auto second = static_cast<unsigned char>(at[1]);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f)) return 0;
    if ((lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) return 0;
    return bytes;
  }

  span<char> m_to;
  std::size_t m_size = 0;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
