// SPDX-License-Identifier: MIT
#pragma once
/// Numbers and tables for people.
#include <cstdint>
#include <string>
#include <vector>

namespace nsk::tool {

/// Returns printf's result as a string.
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
std::string format_text(const char* pattern, ...);

/// "13.4 MB", "512 B": powers of 1000.
std::string bytes_text(double bytes);
/// "301.3 M", "0.9 k".
std::string count_text(double count);

/// A table with left-aligned text and right-aligned numbers; columns are as wide as they need.
class text_table {
 public:
  /// A heading that starts with '>' makes its column right-aligned.
  explicit text_table(const std::vector<std::string>& headings);
  void add(std::vector<std::string> row) { m_rows.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> m_rows;
  std::vector<bool> m_right;
};

}
