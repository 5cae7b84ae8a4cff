// SPDX-License-Identifier: MIT
#include "graph/names.hpp"

#include <cstdint>

#include "errors.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_name_bytes = 16384, max_shown = 32;

/// Length of the UTF-8 character at `i`; 0 where there is none (RFC 3629).
std::size_t sequence_at(std::string_view s, std::size_t i) {
  const auto byte = [&](std::size_t k) -> unsigned { return k < s.size() ? static_cast<std::uint8_t>(s[k]) : 0u; };
  const unsigned first = byte(i);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t k = 1; k < length; ++k)
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
  const unsigned second = byte(i + 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool outside = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || outside ? 0 : length;
}

/// sequence_at(), but 0 for a control character.
std::size_t character_at(std::string_view s, std::size_t i) {
  const std::size_t length = sequence_at(s, i);
  const auto first = static_cast<std::uint8_t>(s[i]),
             last = static_cast<std::uint8_t>(s[i + (length ? length - 1 : 0)]);
  const bool control = first < 0x20 || first == 0x7f || (first == 0xc2 && last < 0xa0);
  return control ? 0 : length;
}

/// How many bytes come before the first that is a control character or no UTF-8.
std::size_t plain_bytes(const std::string& text) {
  std::size_t i = 0;
  for (std::size_t length = 1; i < text.size() && length != 0; i += length) length = character_at(text, i);
  return i;
}

/// The beginning of a name, with "?" for what does not belong there.
std::string shown(const std::string& name) {
  std::string text;
  for (std::size_t i = 0; i < name.size() && i < max_shown; ++i)
    text += name[i] >= 0x20 && name[i] < 0x7f ? name[i] : '?';
  return text + (name.size() > max_shown ? "..." : "");
}

}

bool is_plain_text(const std::string& text) { return plain_bytes(text) == text.size(); }

std::string utf8_text(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_at(text, i);
    result += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  return result;
}

std::string plain_identifier(const std::string& name, std::size_t maximum) {
  std::string text;
  for (const char c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (kept || (!text.empty() && text.back() != '_')) text += kept ? c : '_';
  }
  if (text.size() > maximum) text = text.substr(text.size() - maximum);
  const std::size_t first = text.find_first_not_of('_');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of('_') - first + 1);
}

void require_name(const std::string& name, const std::string& what) {
  if (name.size() > max_name_bytes)
    refuse(what + " ('" + shown(name) + "') has " + std::to_string(name.size()) + " bytes, more than " +
           std::to_string(max_name_bytes) + ". Rename it in the exporter");
  if (const std::size_t i = plain_bytes(name); i != name.size())
    refuse(what + " ('" + shown(name) + "') holds byte " +
           std::to_string(static_cast<int>(static_cast<std::uint8_t>(name[i]))) + " at position " + std::to_string(i) +
           ", which is a control character or no UTF-8. Rename it in the exporter");
}

std::string name_pool::unique(const std::string& name) {
  if (m_next.try_emplace(name, 2).second) return name;
  for (;;) {
    const std::string longer = name + "_" + std::to_string(m_next[name]++);
    if (m_next.try_emplace(longer, 2).second) return longer;
  }
}

}
