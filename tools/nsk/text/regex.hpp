// SPDX-License-Identifier: MIT
#pragma once
/// Regular expressions, parsed.
#include <string>
#include <vector>

#include "text/characters.hpp"

namespace nsk::tool {

/// A part of an expression: one character of a set, parts behind each other, alternatives, a repetition of the only
/// part, or a look at the next character.
struct regex_part {
  enum part_kind { characters, sequence, alternatives, repeat, look };
  part_kind kind = characters;
  character_set set;
  std::vector<regex_part> parts;
  unsigned minimum = 0, maximum = 0;
  bool possessive = false, negated = false;
};

/// Parses the syntax of Oniguruma as far as tokenizers use it. Refuses all else; messages begin with `where`.
regex_part parse_regex(const std::string& regex, const std::string& where);

}
