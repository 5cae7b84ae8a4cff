// SPDX-License-Identifier: MIT
#pragma once
/// How functions report: a code, where it happened, and a text that says cause and cure. No function throws.
/// core/status_list.h lists the codes.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/assert.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/core/status_list.h>
#include <netsuke/core/text_writer.hpp>

NSK_BEGIN
enum class status_code : std::uint8_t {
#define NSK_STATUS_ENUM(code, place, text) code,
  NSK_STATUS_LIST(NSK_STATUS_ENUM)
#undef NSK_STATUS_ENUM
};

/// What the number of a status counts.
enum class status_place : std::uint8_t {
#define NSK_STATUS_PLACE(place, text) place,
  NSK_STATUS_PLACE_LIST(NSK_STATUS_PLACE)
#undef NSK_STATUS_PLACE
};

/// Returns "step", "check vector" ...
inline const char* name_of(status_place place) {
  constexpr const char* names[] = {
#define NSK_STATUS_PLACE(place, text) text,
      NSK_STATUS_PLACE_LIST(NSK_STATUS_PLACE)
#undef NSK_STATUS_PLACE
  };
  return names[static_cast<int>(place)];
}

namespace impl {
#define NSK_STATUS_PLACE_OF(code, place, text) status_place::place,
inline constexpr status_place place_of_code[] = {NSK_STATUS_LIST(NSK_STATUS_PLACE_OF)};
#undef NSK_STATUS_PLACE_OF
}

/// Result of a call that can fail. True when it did not.
class [[nodiscard]] status {
 public:
  constexpr status() = default;
  /// `where` is the number of what the code refers to, -1 when there is none: of what its line of the list says.
  constexpr status(status_code code, std::int32_t where = -1)
      : status(code, impl::place_of_code[static_cast<int>(code)], where) {}
  constexpr status(status_code code, status_place place, std::int32_t where)
      : m_code(code), m_place(place), m_where(where) {}

  constexpr explicit operator bool() const { return m_code == status_code::ok; }
  constexpr status_code code() const { return m_code; }
  constexpr std::int32_t where() const { return m_where; }
  /// What where() counts: steps, tensors, inputs ...; status_place::none where the code has no number.
  constexpr status_place place() const { return m_place; }
  /// Number of the variant that where() belongs to.
  constexpr int variant() const { return m_variant; }
  /// Returns this status with `i` as its variant().
  constexpr status in_variant(int i) const {
    status s = *this;
    s.m_variant = static_cast<std::uint16_t>(i < 0xffff ? i : 0xffff);
    return s;
  }

  /// Returns a static text: the cause, and what to do about it.
  const char* message() const {
    switch (m_code) {
#define NSK_STATUS_TEXT(code, place, text) \
  case status_code::code: return text;
      NSK_STATUS_LIST(NSK_STATUS_TEXT)
#undef NSK_STATUS_TEXT
    }
    return "unknown status";
  }
  /// Returns the code's name, for logs: "bad_tile".
  const char* name() const {
    switch (m_code) {
#define NSK_STATUS_NAME(code, place, text) \
  case status_code::code: return #code;
      NSK_STATUS_LIST(NSK_STATUS_NAME)
#undef NSK_STATUS_NAME
    }
    return "unknown";
  }

  /// Writes "step 12: the cause: the cure" and a zero; returns the bytes in front of the zero. What does not fit is
  /// left out: 512 bytes are enough but for long names.
  std::size_t format(span<char> to) const { return format(to, no_names()); }
  /// format() with names, "step 12 'conv3/relu': ...". `names` is the nsk::model or nsk::variant_view that the call was
  /// about; where nsk::open has failed there is none, and nsk::format_refusal (model/open.hpp) reads the file.
  template <class Names>
  std::size_t format(span<char> to, const Names& names) const {
    text_writer text(to.data(), to.size());
    begin_line(text);
    if (m_where >= 0) names.add_name(text, *this);
    end_line(text);
    names.add_choices(text, *this);
    return text.size();
  }

 private:
  struct no_names {
    void add_name(text_writer&, status) const {}
    void add_choices(text_writer&, status) const {}
  };

  NSK_COLD NSK_NOINLINE void begin_line(text_writer& text) const {
    if (m_place == status_place::none || m_where < 0) return;
    if (m_variant > 0) text.add("variant "), text.add(static_cast<int>(m_variant)), text.add(", ");
    text.add(name_of(m_place));
    text.add(' ');
    text.add(static_cast<int>(m_where));
  }
  NSK_COLD NSK_NOINLINE void end_line(text_writer& text) const {
    if (text.size() > 0) text.add(": ");
    text.add(message());
  }

  status_code m_code = status_code::ok;
  status_place m_place = status_place::none;
  std::uint16_t m_variant = 0;
  std::int32_t m_where = -1;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
