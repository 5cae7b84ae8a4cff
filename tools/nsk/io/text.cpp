// SPDX-License-Identifier: MIT
#include "io/text.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "errors.hpp"

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

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string cell_text(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  return result;
}

std::string bytes_text(double bytes) { return scaled(bytes, " B", {"kB", "MB", "GB", "TB"}); }
std::string count_text(double count) { return scaled(count, "", {"k", "M", "G", "T"}); }

std::string digits_text(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string time_text(double microseconds) {
  if (microseconds < 1) return format_text("%.0f ns", microseconds * 1e3);
  if (microseconds < 999.5) return format_text(microseconds < 99.5 ? "%.1f us" : "%.0f us", microseconds);
  if (microseconds < 999.5e3)
    return format_text("%.*f ms", microseconds < 9.995e3 ? 2 : microseconds < 99.95e3 ? 1 : 0, microseconds / 1e3);
  return format_text("%.1f s", microseconds / 1e6);
}

std::string json_text(const nlohmann::json& report, int indent) {
  return report.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

text_table::text_table(const std::vector<std::string>& headings) {
  std::vector<std::string> row;
  for (const std::string& heading : headings) {
    m_right.push_back(!heading.empty() && heading.front() == '>');
    row.push_back(m_right.back() ? heading.substr(1) : heading);
  }
  add(std::move(row));
}

std::string text_table::line_of(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
    const std::string cell = shortened(row[i], std::max<std::size_t>(widths[i], 8)),
                      pad(widths[i] - std::min(widths[i], cell.size()), ' ');
    line += (i ? "  " : "") + (m_right[i] ? pad + cell : cell + pad);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string text_table::text(const text_style& style) const {
  std::vector<std::size_t> widths(m_right.size(), 0);
  for (const auto& row : m_rows)
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::size_t before_last = 0, longest = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + 2;
  if (!widths.empty() && before_last + widths.back() > style.width && !m_right.back())
    widths.back() = std::max<std::size_t>(style.width - std::min(style.width, before_last), 8);

  std::vector<std::string> lines;
  for (const auto& row : m_rows) {
    lines.push_back(line_of(row, widths));
    longest = std::max(longest, lines.back().size());
  }
  std::string result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (m_rows[i].empty()) lines[i] = std::string(longest, '-');
    result += (i == 0 || m_rows[i].empty() ? style.faint(lines[i])
               : m_strong[i]               ? style.strong(lines[i])
                                           : lines[i]) +
              "\n";
  }
  return result;
}

}
