// SPDX-License-Identifier: MIT
#include "report/text.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace nsk::tool {
namespace {
std::string scaled(double value, const char* plain, const char* const (&units)[4]) {
  if (value < 1000) return format_text("%.0f%s", value, plain);
  int unit = 0;
  for (value /= 1000; value >= 999.95 && unit < 3; value /= 1000) ++unit;
  return format_text("%.1f %s", value, units[unit]);
}
}

std::string format_text(const char* pattern, ...) {
  std::va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  std::string text(static_cast<std::size_t>(std::max(0, std::vsnprintf(nullptr, 0, pattern, arguments))), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(arguments);
  return text;
}

std::string bytes_text(double bytes) { return scaled(bytes, " B", {"kB", "MB", "GB", "TB"}); }
std::string count_text(double count) { return scaled(count, "", {"k", "M", "G", "T"}); }

text_table::text_table(const std::vector<std::string>& headings) {
  std::vector<std::string> row;
  for (const std::string& heading : headings) {
    m_right.push_back(!heading.empty() && heading.front() == '>');
    row.push_back(m_right.back() ? heading.substr(1) : heading);
  }
  m_rows.push_back(std::move(row));
}

std::string text_table::text() const {
  std::vector<std::size_t> widths(m_right.size(), 0);
  for (const auto& row : m_rows)
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string result;
  for (const auto& row : m_rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      line += (i ? "  " : "") + (m_right[i] ? pad + row[i] : row[i] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

}
