// SPDX-License-Identifier: MIT
#pragma once
/// The name that the user may have meant, for messages about one that does not exist.
#include <algorithm>
#include <string>
#include <vector>

namespace nsk::tool {

/// Returns how many letters must be changed, added, left out or swapped with their neighbour to make one text of the
/// other; upper and lower case count as the same.
inline std::size_t edit_distance(const std::string& a, const std::string& b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

/// Returns the name that is nearest to `wrong`, where one is near: a third of its letters differ at most, or one holds
/// the other, which decides between equally near ones. Empty where none is, and for names of more than 100 letters.
inline std::string nearest(const std::string& wrong, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 100, max_names = 2000, shortest_part = 3;
  std::string best;
  std::size_t minimum = 0;
  for (std::size_t i = 0; i < names.size() && i < max_names; ++i) {
    const std::string& name = names[i];
    if (name.size() > longest || wrong.size() > longest || name == wrong) continue;
    const std::size_t distance = edit_distance(wrong, name), shorter = std::min(wrong.size(), name.size());
    const bool is_part =
        shorter >= shortest_part && (name.find(wrong) != std::string::npos || wrong.find(name) != std::string::npos);
    const std::size_t longer = std::max(wrong.size(), name.size());
    if (!is_part && (distance > std::max<std::size_t>(1, longer / 3) || distance == longer)) continue;
    const std::size_t rank = 2 * distance + (is_part ? 0 : 1);
    if (!best.empty() && rank >= minimum) continue;
    best = name;
    minimum = rank;
  }
  return best;
}

/// " Did you mean 'NAME'?" where one is near, else nothing.
inline std::string did_you_mean(const std::string& wrong, const std::vector<std::string>& names) {
  const std::string best = nearest(wrong, names);
  return best.empty() ? std::string() : " Did you mean '" + best + "'?";
}

/// A text that shells take as one word: in quotes where it needs them.
inline std::string as_word(const std::string& text) {
  const std::string plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,-+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// "'a', 'b', 'c'".
inline std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

}
