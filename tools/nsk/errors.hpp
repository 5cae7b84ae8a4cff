// SPDX-License-Identifier: MIT
#pragma once
/// How the tool fails: one exception that carries a whole message and an exit code. Thrown deep, caught once in
/// cli/main.cpp.
#include <stdexcept>
#include <string>

namespace nsk::tool {

/// Exit codes of every nsk command.
enum class exit_code : int { good = 0, usage = 1, refused = 2, check_failed = 3 };

/// A message without control characters, which names from a file may hold and terminals would execute.
inline std::string printable(std::string message) {
  for (char& c : message)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return message;
}

/// Returns `text` in at most `width` characters (at least 8): the middle gives way to "...".
inline std::string shortened(const std::string& text, std::size_t width) {
  if (width < 8) width = 8;
  if (text.size() <= width) return text;
  const std::size_t head = (width - 3) / 2, tail = width - 3 - head;
  return text.substr(0, head) + "..." + text.substr(text.size() - tail);
}

/// One clear message: what, where, why, what to do.
struct error : std::runtime_error {
  exit_code code;
  error(exit_code c, const std::string& message) : std::runtime_error(printable(message)), code(c) {}
};

/// The source has no result for these inputs: an integer divided by zero, an index outside its axis. Other inputs may
/// have one.
struct undefined_result : error {
  explicit undefined_result(const std::string& message) : error(exit_code::refused, message) {}
};

/// A number of results that there cannot be beside the other ones (resolve/shapes/counted.hpp).
struct impossible_count : error {
  impossible_count(const std::string& length, long long largest)
      : error(exit_code::refused, "'" + length + "' is at most " + std::to_string(largest) + " there"),
        name(length),
        maximum(largest) {}
  std::string name;
  long long maximum;
};

/// Throws error{refused, message}.
[[noreturn]] inline void refuse(const std::string& message) { throw error(exit_code::refused, message); }
[[noreturn]] inline void misuse(const std::string& message) { throw error(exit_code::usage, message); }

}
