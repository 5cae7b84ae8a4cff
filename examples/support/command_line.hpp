// SPDX-License-Identifier: MIT
#pragma once
/// A command line as options with a value each ("-o out.png") and words in order.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>
#include "support/file.hpp"

namespace example {

class command_line {
 public:
  /// Ends the program with the usage where a word begins with '-' and is no option with a value behind it, or there are
  /// fewer words than `minimum` or more than `maximum`.
  command_line(int argc, char** argv, const std::string& usage, const std::vector<std::string>& options,
               std::size_t minimum, std::size_t maximum) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word.size() < 2 || word[0] != '-') {
        m_words.push_back(word);
      } else if (std::find(options.begin(), options.end(), word) == options.end() || i + 1 == argc) {
        fail("what is '" + word + "'?\nusage: " + usage);
      } else {
        m_options.emplace_back(word, argv[++i]);
      }
    }
    if (m_words.size() < minimum || m_words.size() > maximum) fail("usage: " + usage);
  }

  const std::vector<std::string>& words() const { return m_words; }
  /// Returns the last value of an option, or `otherwise` where it was not given.
  std::string value(const std::string& option, const std::string& otherwise) const {
    std::string found = otherwise;
    for (const auto& [name, value] : m_options)
      if (name == option) found = value;
    return found;
  }

 private:
  std::vector<std::string> m_words;
  std::vector<std::pair<std::string, std::string>> m_options;
};

}  // namespace example
