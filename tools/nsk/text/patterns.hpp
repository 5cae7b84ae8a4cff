// SPDX-License-Identifier: MIT
#pragma once
/// Regular expressions of tokenizers, compiled to the nodes of include/netsuke/text/impl/pattern.hpp.
#include <cstdint>
#include <string>
#include <vector>

#include "text/characters.hpp"

namespace nsk::tool {

/// A node whose set is a number of a set_list.
struct compiled_node {
  unsigned kind = 0;
  int set = -1;
  bool possessive = false, negated = false;
  unsigned next = 0, other = 0, minimum = 0, maximum = 0;
};
using compiled_pattern = std::vector<compiled_node>;

/// Compiles what Oniguruma, which reads the expressions of tokenizer.json, would match. Refuses what such a program
/// cannot express; messages begin with `where`.
compiled_pattern compile_regex(const std::string& regex, set_list& sets, const std::string& where);
/// The pattern of one text.
compiled_pattern compile_text(const std::string& text, set_list& sets, const std::string& where);
/// The pattern of minimum to maximum characters of a set, which are as many as there are.
compiled_pattern compile_set(const character_set& set, unsigned minimum, unsigned maximum, set_list& sets);

/// Returns the words of a file.
std::vector<std::uint64_t> words_of(const compiled_pattern& pattern, const std::vector<std::uint64_t>& masks);

}
