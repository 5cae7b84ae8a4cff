// SPDX-License-Identifier: MIT
#pragma once
/// Text to the ids that language models read, by the tokenizer of a .nskt file, which `nsk tokenizer` makes:
///
///     nsk::text::tokenizer words;
///     if (nsk::status s = nsk::text::open(bytes, words); !s) { log(s.message()); return; }  // a view; copies nothing
///     std::int32_t ids[64];
///     auto sentence = words.encode("open the gate", ids, memory);
///     if (!sentence) { log(sentence.status().message()); return; }
///     feed(sentence.ids());
///
/// decoder.hpp goes the other way. Ids are those of the library that the tokenizer was made for. Nothing allocates or
/// throws.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/text/impl/encoder.hpp>
#include <netsuke/text/impl/verify_text.hpp>

NSK_BEGIN
namespace text {
class tokenizer;
[[nodiscard]] status open(span<const std::byte> bytes, tokenizer& out);

/// The ids of a text, or why there are none.
class [[nodiscard]] encoded {
 public:
  encoded(nsk::status s, span<std::int32_t> ids, std::size_t count) : m_status(s), m_ids(ids), m_count(count) {}
  explicit operator bool() const { return static_cast<bool>(m_status); }
  nsk::status status() const { return m_status; }
  /// The ids; after too_many_ids those that fitted.
  span<std::int32_t> ids() const { return m_ids; }
  /// How many there are; after too_many_ids how many there would be.
  std::size_t count() const { return m_count; }

 private:
  nsk::status m_status;
  span<std::int32_t> m_ids;
  std::size_t m_count;
};

/// Whether the ids of a text are put between those that its model wants around it, as [CLS] and [SEP].
enum class around : std::uint8_t { as_the_model_wants, nothing };

/// A view of a .nskt file. Any number of threads can use one at the same time, each with memory of its own.
class tokenizer {
 public:
  /// Whether open() has succeeded.
  explicit operator bool() const { return m_tables.token_count != 0; }

  /// Writes the ids of a text to `ids`. Bytes that are no UTF-8 count as U+FFFD. `memory` is overwritten;
  /// memory_bytes() says how much is always enough. Most texts need far less: 4 bytes for each of their bytes, and 90
  /// where a word is very long. Texts without ids are good.
  encoded encode(span<const char> text, span<std::int32_t> ids, span<std::byte> memory,
                 around with = around::as_the_model_wants) const {
    impl::id_list out(ids);
    if (!*this) return {status_code::no_tokenizer, {}, 0};
    if (with == around::as_the_model_wants)
      for (const std::int32_t id : m_tables.before) out.add(static_cast<std::uint32_t>(id));
    const auto* first = reinterpret_cast<const impl::byte_type*>(text.data());
    const status s = impl::encoder(m_tables, memory, out).encode({first, first + text.size()});
    if (with == around::as_the_model_wants)
      for (const std::int32_t id : m_tables.after) out.add(static_cast<std::uint32_t>(id));
    const bool full = s && out.overflowed();
    return {full ? status_code::too_many_ids : s, s || full ? out.stored() : span<std::int32_t>(), out.count()};
  }
  /// encode() of a text that ends with a zero.
  encoded encode(const char* text, span<std::int32_t> ids, span<std::byte> memory,
                 around with = around::as_the_model_wants) const {
    return encode({text, std::strlen(text)}, ids, memory, with);
  }

  /// Bytes of memory that encode() needs at most for a text of `text_bytes` bytes.
  std::size_t memory_bytes(std::size_t text_bytes) const {
    constexpr std::size_t of_symbol =
        sizeof(std::uint64_t) * 2 + sizeof(std::uint32_t) * 3 + 4;  // the largest, of merging
    const std::size_t repaired = 3 * text_bytes, normal = repaired * (m_tables.max_expansion + 1) + 64;
    return repaired + 2 * normal + normal * of_symbol + 1024;
  }

  /// Ids are below this number.
  std::size_t token_count() const { return m_tables.token_count; }
  /// The id of what has no token, -1 where everything has one.
  std::int32_t unknown_id() const { return m_tables.unknown; }
  /// The most ids that the model was made for, 0 where the source does not say it. encode() cuts nothing.
  std::size_t max_length() const { return m_tables.max_length; }
  /// Whether an id is one of those that structure a text, which decoding leaves out.
  bool is_special(std::int32_t id) const {
    return is_id(id) && (m_tables.token_flags[static_cast<std::size_t>(id)] & impl::token_special) != 0;
  }
  /// The id of an added token, as "<|im_end|>", or -1.
  std::int32_t find_added(const char* token) const {
    const auto* first = reinterpret_cast<const impl::byte_type*>(token);
    const impl::piece whole = {first, first + std::strlen(token)};
    if (!*this) return -1;
    for (const std::uint32_t root : {m_tables.added_root, m_tables.normalized_root}) {
      const impl::trie_match found = impl::longest_match(m_tables.added_trie, root, whole);
      if (found.value != 0 && found.end == whole.end)
        return static_cast<std::int32_t>(m_tables.added[found.value - 1] >> 8);
    }
    return -1;
  }
  bool is_id(std::int32_t id) const { return id >= 0 && static_cast<std::uint32_t>(id) < m_tables.token_count; }

  /// What the file holds, for the decoder.
  const impl::text_tables& tables() const { return m_tables; }

 private:
  friend status open(span<const std::byte> bytes, tokenizer& out);
  impl::text_tables m_tables = {};
};

/// Verifies a .nskt file and makes `out` a view of it: nothing is copied, so the bytes must stay where they are,
/// unchanged. They start at a multiple of 16. After success no text and no ids can make encode() or a decoder leave
/// their memory. Takes a time that is linear in the bytes. On failure `out` is unchanged.
[[nodiscard]] NSK_COLD inline status open(span<const std::byte> bytes, tokenizer& out) {
  impl::text_tables tables = {};
  status s = impl::read_text_file(bytes, tables);
  if (s) s = impl::verify_text(tables);
  if (s) out.m_tables = tables;
  return s;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
