// SPDX-License-Identifier: MIT
#pragma once
/// Characters of UTF-8: reading them from valid text, writing them, and making valid text of any bytes.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/assert.hpp>
#include <netsuke/version.hpp>

NSK_BEGIN
namespace text {
namespace impl {

using byte_type = std::uint8_t;

/// A range of text.
struct piece {
  const byte_type *begin = nullptr, *end = nullptr;
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
  bool empty() const { return begin == end; }
};

inline constexpr std::uint32_t replacement_character = 0xfffd;

/// Bytes of the character that starts with `lead`, in valid text.
inline unsigned bytes_of_lead(byte_type lead) { return lead < 0x80 ? 1u : lead < 0xe0 ? 2u : lead < 0xf0 ? 3u : 4u; }

struct character {
  std::uint32_t code;
  unsigned bytes;
};

/// The character at `p`, which is inside valid text.
inline character character_at(const byte_type* p) {
  const auto rest = [p](int i) { return std::uint32_t{p[i]} & 0x3f; };
  if (p[0] < 0x80) return {p[0], 1};
  if (p[0] < 0xe0) return {(std::uint32_t{p[0]} & 0x1f) << 6 | rest(1), 2};
  if (p[0] < 0xf0) return {(std::uint32_t{p[0]} & 0x0f) << 12 | rest(1) << 6 | rest(2), 3};
  return {(std::uint32_t{p[0]} & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3), 4};
}

/// The start of the character in front of `p`.
inline const byte_type* previous_character(const byte_type* p) {
  do --p;
  while ((*p & 0xc0) == 0x80);
  return p;
}

inline constexpr unsigned max_character_bytes = 4;

/// Writes a character below 0x110000; returns its bytes.
inline unsigned put_character(std::uint32_t code, byte_type* to) {
  const auto rest = [code](int shift) { return static_cast<byte_type>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    to[0] = static_cast<byte_type>(code);
    return 1;
  }
  if (code < 0x800) {
    to[0] = static_cast<byte_type>(0xc0 | code >> 6), to[1] = rest(0);
    return 2;
  }
  if (code < 0x10000) {
    to[0] = static_cast<byte_type>(0xe0 | code >> 12), to[1] = rest(6), to[2] = rest(0);
    return 3;
  }
  to[0] = static_cast<byte_type>(0xf0 | code >> 18), to[1] = rest(12), to[2] = rest(6), to[3] = rest(0);
  return 4;
}

/// Bytes that a character takes that starts with `lead`; 0 where none does.
inline unsigned length_by_lead(byte_type lead) {
  return lead < 0x80 ? 1u : lead < 0xc2 ? 0u : lead < 0xe0 ? 2u : lead < 0xf0 ? 3u : lead < 0xf5 ? 4u : 0u;
}

/// Whether `second` may follow `lead`.
inline bool may_follow(byte_type lead, byte_type second) {
  const byte_type low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const byte_type high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high;
}

/// What starts at some bytes: a character, the start of one that the bytes end within, or bytes that are none.
struct looked_at {
  unsigned bytes;
  bool valid, ends_within;
};

/// Looks at the bytes at `p`. What is no character is as long as the longest start of one there, or one byte.
inline looked_at look_at(const byte_type* p, const byte_type* end) {
  const unsigned length = length_by_lead(*p);
  if (length <= 1) return {1, length == 1, false};
  const auto left = static_cast<std::size_t>(end - p);
  for (unsigned i = 1; i < length; ++i) {
    if (i == left) return {i, false, true};
    if (i == 1 ? !may_follow(p[0], p[1]) : (p[i] & 0xc0) != 0x80) return {i, false, false};
  }
  return {length, true, false};
}

/// The end of the valid text at the start of `t`.
inline const byte_type* valid_end(piece t) {
  const byte_type* p = t.begin;
  while (p != t.end) {
    const looked_at l = look_at(p, t.end);
    if (!l.valid) break;
    p += l.bytes;
  }
  return p;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
