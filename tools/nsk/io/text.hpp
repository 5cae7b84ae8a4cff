// SPDX-License-Identifier: MIT
#pragma once
/// Numbers and tables for people.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace nsk::tool {

/// Returns printf's result as a string.
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
std::string
format_text(const char* pattern, ...);

/// Writes it to standard output, whatever bytes it has.
void print(const std::string& text);

/// "a, b, c".
std::string joined(const std::vector<std::string>& parts);
/// Text in a cell of a Markdown table.
std::string cell_text(const std::string& text);
/// "13.4 MB", "512 B": powers of 1000.
std::string bytes_text(double bytes);
/// "301.3 M", "0.9 k".
std::string count_text(double count);
/// "6,712,320": every digit, in groups of three.
std::string digits_text(std::uint64_t number);
/// "850 ns", "93 us", "9.18 ms", "1.2 s".
std::string time_text(double microseconds);

/// Returns a report as lines of JSON, valid whatever bytes the names of the model have: U+FFFD stands for those that
/// are no UTF-8.
std::string json_text(const nlohmann::json& report, int indent = 2);

/// How text is shown: escape codes for emphasis only where a person looks at a terminal.
struct text_style {
  bool colour = false;
  std::size_t width = 120;  ///< of a line, in characters

  std::string strong(const std::string& text) const { return colour ? "\x1b[1m" + text + "\x1b[0m" : text; }
  std::string faint(const std::string& text) const { return colour ? "\x1b[2m" + text + "\x1b[0m" : text; }
};

/// A table with left-aligned text and right-aligned numbers. Columns are as wide as they need; the last one is
/// shortened where a line would be longer than the style's width.
class text_table {
 public:
  /// A heading that starts with '>' makes its column right-aligned.
  explicit text_table(const std::vector<std::string>& headings);
  /// Adds a row; a strong one is set off on terminals.
  void add(std::vector<std::string> row, bool strong = false) {
    m_rows.push_back(std::move(row));
    m_strong.push_back(strong);
  }
  /// Adds a line across the table, to be followed by sums.
  void add_rule() { add({}); }
  std::string text(const text_style& style = {}) const;

 private:
  std::string line_of(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) const;

  std::vector<std::vector<std::string>> m_rows;
  std::vector<bool> m_right, m_strong;
};

}
