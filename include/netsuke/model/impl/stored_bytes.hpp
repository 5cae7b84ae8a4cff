// SPDX-License-Identifier: MIT
#pragma once
/// Reads what a part of a small file stores: bytes as they are, or codes of them.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/core/span.hpp>
#include <netsuke/format/small_file.hpp>

NSK_BEGIN
namespace impl {

/// A prefix code of bytes, looked up by the next max_code_bits bits.
class byte_code {
 public:
  struct entry {
    std::uint8_t byte, bits;
  };
  const entry& at(std::uint64_t bits) const { return m_entries[bits]; }

  /// Makes the code of a list of lengths (code_lengths_bytes). False where these are not those of a complete code; then
  /// there is none.
  NSK_COLD bool begin(const std::byte* lengths) {
    std::uint32_t next[16] = {}, ends = 0;
    for (int byte = 0; byte < 256; ++byte) ++next[bits_of(lengths, byte)];
    for (int bits = 1; bits < 16; ++bits) {
      const std::uint32_t begins = ends;
      if (bits > max_code_bits && next[bits] != 0) return m_is_known = false;
      if (bits <= max_code_bits) ends += next[bits] << (max_code_bits - bits);
      next[bits] = begins;
    }
    if (ends != std::uint32_t{1} << max_code_bits) return m_is_known = false;
    for (int byte = 0; byte < 256; ++byte) {
      const int bits = bits_of(lengths, byte);
      if (bits == 0) continue;
      const std::uint32_t end = next[bits] + (std::uint32_t{1} << (max_code_bits - bits));
      for (; next[bits] != end; ++next[bits])
        m_entries[next[bits]] = {static_cast<std::uint8_t>(byte), static_cast<std::uint8_t>(bits)};
    }
    return m_is_known = true;
  }
  bool is_known() const { return m_is_known; }

 private:
  static int bits_of(const std::byte* lengths, int byte) {
    return std::to_integer<int>(lengths[byte / 2]) >> (byte % 2 * 4) & 15;
  }
  bool m_is_known = false;
  entry m_entries[std::size_t{1} << max_code_bits];
};

/// Bytes that are stored as they are, from the first one on. What reads them may have them in registers.
struct plain_bytes {
  const std::byte *at, *end;

  std::size_t left() const { return static_cast<std::size_t>(end - at); }
  bool is_done() const { return at == end; }
  bool take(std::byte* to, std::size_t bytes) {
    if (bytes > left()) return false;
    if (bytes != 0) std::memcpy(to, at, bytes);
    at += bytes;
    return true;
  }
  bool take(std::uint8_t& byte) {
    if (at == end) return false;
    byte = std::to_integer<std::uint8_t>(*at++);
    return true;
  }
};

/// The stored bytes of a part, codes or not, from the first one on.
class stored_bytes {
 public:
  explicit stored_bytes(span<const std::byte> plain)
      : m_at(plain.data()), m_end(plain.data() + plain.size()), m_left(plain.size()) {}

  /// Reads codes in place of plain bytes: `code` is that of the part before, or becomes this one's own. False where
  /// there is none, or where they cannot be as many bytes as they say.
  NSK_COLD bool begin_codes(code_source from, byte_code& code) {
    if (from == code_source::own) {
      if (m_left < code_lengths_bytes || !code.begin(m_at)) return false;
      m_at += code_lengths_bytes;
    }
    std::uint64_t count = 0;
    if (!code.is_known() || static_cast<std::size_t>(m_end - m_at) < sizeof count) return false;
    std::memcpy(&count, m_at, sizeof count);
    m_at += sizeof count;
    // a byte takes a bit at least
    if (count / 8 > static_cast<std::size_t>(m_end - m_at) || count > SIZE_MAX) return false;
    m_left = static_cast<std::size_t>(count);
    m_code = &code;
    return true;
  }
  bool has_codes() const { return m_code != nullptr; }
  plain_bytes plain() const { return {m_at, m_end}; }
  /// How many bytes are left.
  std::size_t left() const { return m_left; }
  /// Reads the next ones; false where there are not so many.
  bool take(void* to, std::size_t bytes) {
    if (bytes > m_left) return false;
    m_left -= bytes;
    if (m_code != nullptr) return decode(static_cast<std::byte*>(to), bytes);
    if (bytes != 0) std::memcpy(to, m_at, bytes);
    m_at += bytes;
    return true;
  }
  bool take(std::uint8_t& byte) { return take(&byte, 1); }
  /// Reads the next ones where they are, or to `buffer`; null where there are not so many.
  const std::byte* take_view(std::byte* buffer, std::size_t bytes) {
    if (m_code != nullptr) return take(buffer, bytes) ? buffer : nullptr;
    if (bytes > m_left) return nullptr;
    m_left -= bytes;
    m_at += bytes;
    return m_at - bytes;
  }
  /// Whether all has been read: nothing is left but the bits that fill the last byte of codes.
  bool is_done() const { return m_left == 0 && m_at == m_end && m_bit_count < 8; }

 private:
  NSK_COLD NSK_NOINLINE bool decode(std::byte* to, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      for (; m_bit_count <= 56 && m_at != m_end; m_bit_count += 8)
        m_bits |= std::to_integer<std::uint64_t>(*m_at++) << (56 - m_bit_count);
      const byte_code::entry& e = m_code->at(m_bits >> (64 - max_code_bits));
      if (e.bits > m_bit_count) return false;
      m_bits <<= e.bits;
      m_bit_count -= e.bits;
      to[i] = std::byte{e.byte};
    }
    return true;
  }

  const std::byte *m_at, *m_end;
  std::size_t m_left;
  const byte_code* m_code = nullptr;
  std::uint64_t m_bits = 0;  ///< the next ones, from the highest on
  int m_bit_count = 0;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
