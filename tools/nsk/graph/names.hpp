// SPDX-License-Identifier: MIT
#pragma once
/// Names of source models, which become names of the file and parts of messages.
#include <string>
#include <string_view>
#include <unordered_map>

namespace nsk::tool {

/// Refuses a name that is longer than 16384 bytes, is no UTF-8 or holds control characters: the engine reads names up
/// to their first zero, and terminals execute the rest. `what` begins the message: "the name of node 3".
void require_name(const std::string& name, const std::string& what);

/// Whether a text is UTF-8 without control characters.
bool is_plain_text(const std::string& text);

/// Returns the text with U+FFFD for each byte that is no part of UTF-8: names of a .nsk file may be any bytes.
std::string utf8_text(std::string_view text);

/// Returns the letters and digits of a name with single underscores in place of what is between them, at most `maximum`
/// characters from its end.
std::string plain_identifier(const std::string& name, std::size_t maximum = std::string::npos);
inline bool begins_with_digit(const std::string& name) { return !name.empty() && name[0] >= '0' && name[0] <= '9'; }

/// Names that are taken.
class name_pool {
 public:
  void take(const std::string& name) { m_next.try_emplace(name, 2); }
  bool has(const std::string& name) const { return m_next.count(name) != 0; }
  /// Returns `name`, or the first of name_2, name_3 ... that is free, and takes it.
  std::string unique(const std::string& name);

 private:
  std::unordered_map<std::string, int> m_next;  ///< the suffix to be tried next
};

}
