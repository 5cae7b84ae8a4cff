// SPDX-License-Identifier: MIT
#pragma once
/// Ids to text, all at once or as they come from a network.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/text/tokenizer.hpp>

NSK_BEGIN
namespace text {
/// The text of ids, or why there is none.
class [[nodiscard]] decoded {
 public:
  decoded(nsk::status s, span<char> text) : m_status(s), m_text(text) {}
  explicit operator bool() const { return static_cast<bool>(m_status); }
  nsk::status status() const { return m_status; }
  /// UTF-8. No zero follows it.
  span<char> text() const { return m_text; }

 private:
  nsk::status m_status;
  span<char> m_text;
};

enum class special_tokens : std::uint8_t { left_out, shown };

[[nodiscard]] decoded decode(const tokenizer& t, span<const std::int32_t> ids, span<char> to, special_tokens s);

namespace impl {

/// The caller's text. What does not fit is left out. `strip` spaces are removed from the start of all that is put.
class text_sink {
 public:
  text_sink(span<char> to, std::uint32_t& strip) : m_to(to), m_strip(strip) {}
  void put(const byte_type* from, std::size_t bytes) {
    for (; m_strip != 0 && bytes != 0 && *from == ' '; --m_strip) ++from, --bytes;
    if (bytes != 0) m_strip = 0;
    if (m_to.size() - m_size < bytes) m_overflowed = true;
    if (m_overflowed || bytes == 0) return;
    std::memcpy(m_to.data() + m_size, from, bytes);
    m_size += bytes;
  }
  void put_replacement() {
    byte_type bytes[max_character_bytes];
    put(bytes, put_character(replacement_character, bytes));
  }
  bool overflowed() const { return m_overflowed; }
  span<char> text() const { return {m_to.data(), m_size}; }

 private:
  span<char> m_to;
  std::uint32_t& m_strip;
  std::size_t m_size = 0;
  bool m_overflowed = false;
};

/// Bytes that are not a whole character yet.
class partial_character {
 public:
  /// Takes a byte; puts the character that it ends, and U+FFFD for bytes that cannot be part of one: one for all bytes
  /// of a start of a character, or, with `each`, one for every byte.
  void add(byte_type b, bool each, text_sink& to) {
    m_bytes[m_count++] = b;
    while (m_count != 0) {
      const looked_at l = look_at(m_bytes, m_bytes + m_count);
      if (l.ends_within) return;
      if (l.valid)
        to.put(m_bytes, l.bytes);
      else
        for (unsigned i = 0; i < (each ? l.bytes : 1); ++i) to.put_replacement();
      m_count -= l.bytes;
      std::memmove(m_bytes, m_bytes + l.bytes, m_count);
    }
  }
  /// Puts U+FFFD for what is there.
  void finish(bool each, text_sink& to) {
    for (unsigned i = 0; i < (each ? m_count : m_count != 0); ++i) to.put_replacement();
    m_count = 0;
  }

 private:
  byte_type m_bytes[max_character_bytes];
  unsigned m_count = 0;
};

}

/// Decodes ids one by one. Its state is a few bytes; begin a new text with a new decoder.
class stream_decoder {
 public:
  explicit stream_decoder(const tokenizer& t, special_tokens s = special_tokens::left_out)
      : m_tables(&t.tables()), m_specials(s), m_strip(t.tables().stripped_spaces) {}

  /// Writes the text that is certain after one more id: whole characters; those that an id begins come with the one
  /// that ends them. It may be empty.
  decoded put(std::int32_t id, span<char> to) {
    impl::text_sink sink(to, m_strip);
    const status s = add(id, sink);
    return {s, sink.text()};
  }
  /// Writes what is left at the end of a text: U+FFFD for a character that has only begun.
  decoded finish(span<char> to) {
    impl::text_sink sink(to, m_strip);
    m_partial.finish(!lossy(), sink);
    return {result(sink), sink.text()};
  }

 private:
  friend decoded decode(const tokenizer& t, span<const std::int32_t> ids, span<char> to, special_tokens s);

  bool lossy() const { return m_tables->has(impl::flag_lossy_bytes); }
  static status result(const impl::text_sink& sink) {
    return sink.overflowed() ? status_code::text_memory_too_small : status_code::ok;
  }
  std::uint8_t flags_of(std::int32_t id) const { return m_tables->token_flags[static_cast<std::size_t>(id)]; }
  bool is_id(std::int32_t id) const { return id >= 0 && static_cast<std::uint32_t>(id) < m_tables->token_count; }

  bool is_left_out(std::uint8_t flags) const {
    return m_specials == special_tokens::left_out && (flags & impl::token_special) != 0;
  }

  status add(std::int32_t id, impl::text_sink& to) {
    if (!is_id(id)) return status_code::no_such_token;
    const std::uint8_t flags = flags_of(id);
    if (is_left_out(flags)) return {};
    impl::piece text = text_of(static_cast<std::uint32_t>(id));
    m_first = false;
    if (lossy() || (flags & impl::token_byte) != 0) {
      for (; !text.empty(); ++text.begin) m_partial.add(*text.begin, !lossy(), to);
      return result(to);
    }
    m_partial.finish(true, to);
    to.put(text.begin, text.size());
    return result(to);
  }

  /// What an id decodes to at its place.
  impl::piece text_of(std::uint32_t id) const {
    const impl::text_tables& t = *m_tables;
    if (t.text_ends.empty()) return impl::text_at(t.keys, t.key_ends, id);
    impl::piece text = impl::text_at(t.texts, t.text_ends, id);
    if (!m_first) return text;
    std::size_t low = 0, high = t.first_texts.size() / 3;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (t.first_texts[3 * middle] < id)
        low = middle + 1;
      else
        high = middle;
    }
    if (3 * low < t.first_texts.size() && t.first_texts[3 * low] == id) {
      const impl::byte_type* first = t.texts.data() + t.first_texts[3 * low + 1];
      return {first, first + t.first_texts[3 * low + 2]};
    }
    if (t.has(impl::flag_drop_space) && !text.empty() && *text.begin == ' ') ++text.begin;
    return text;
  }

  /// Ids of single bytes: where they are no UTF-8 together, each of them becomes U+FFFD. Returns the number of ids that
  /// belong together, and puts what they decode to where they are none.
  std::size_t add_invalid_bytes(span<const std::int32_t> ids, impl::text_sink& to) {
    std::size_t count = 0, bytes = 0;
    impl::byte_type held[impl::max_character_bytes];
    unsigned size = 0;
    bool valid = true;
    for (; count < ids.size() && is_id(ids[count]); ++count) {
      const std::uint8_t flags = flags_of(ids[count]);
      if (is_left_out(flags)) continue;
      if ((flags & impl::token_byte) == 0) break;
      for (impl::piece text = text_of(static_cast<std::uint32_t>(ids[count])); !text.empty(); ++text.begin, ++bytes) {
        held[size++] = *text.begin;
        const impl::looked_at l = impl::look_at(held, held + size);
        valid = valid && (l.valid || l.ends_within);
        if (!l.ends_within) size = 0;
      }
    }
    if (bytes == 0 || (valid && size == 0)) return 0;
    for (; bytes != 0; --bytes) to.put_replacement();
    m_first = false;
    return count;
  }

  const impl::text_tables* m_tables;
  special_tokens m_specials;
  std::uint32_t m_strip;  ///< spaces at the start that are still to be removed
  bool m_first = true;    ///< no id has been decoded
  impl::partial_character m_partial;
};

/// Decodes a whole text. It is what a stream_decoder gives, but where ids of single bytes are no UTF-8.
[[nodiscard]] inline decoded decode(const tokenizer& t, span<const std::int32_t> ids, span<char> to,
                                    special_tokens s = special_tokens::left_out) {
  if (!t) return {status_code::no_tokenizer, {}};
  stream_decoder stream(t, s);
  impl::text_sink sink(to, stream.m_strip);
  bool in_bytes = false;  // a run of ids of bytes that was looked at
  for (std::size_t i = 0; i < ids.size();) {
    const bool is_byte = stream.is_id(ids[i]) && (stream.flags_of(ids[i]) & impl::token_byte) != 0;
    if (is_byte && !in_bytes && !stream.lossy()) i += stream.add_invalid_bytes({ids.data() + i, ids.size() - i}, sink);
    if (i == ids.size()) break;
    in_bytes = stream.is_id(ids[i]) && (stream.flags_of(ids[i]) & (impl::token_byte | impl::token_special)) != 0;
    if (const status why = stream.add(ids[i++], sink); !why) return {why, sink.text()};
  }
  stream.m_partial.finish(!stream.lossy(), sink);
  return {stream.result(sink), sink.text()};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
