// SPDX-License-Identifier: MIT
#include "text/regex.hpp"

#include <algorithm>
#include <cctype>

#include <netsuke/text/impl/pattern.hpp>

#include "errors.hpp"

namespace nsk::tool {
namespace {

constexpr const char* category_names[] = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl",
                                          "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc",
                                          "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn"};

class parser {
  static constexpr std::size_t max_characters = 1000, max_depth = 32;

 public:
  parser(const std::string& regex, const std::string& where)
      : m_codes(characters_of(regex, where)), m_regex(regex), m_where(where) {}

  regex_part parse() {
    if (m_codes.size() > max_characters) fail("has more than " + std::to_string(max_characters) + " characters");
    regex_part whole = alternatives();
    if (!at_end()) fail("has a ')' too many");
    return whole;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    refuse(m_where + " '" + m_regex + "' " + what +
           ". Write the pattern in classes, groups and repetitions, or report the model.");
  }
  bool at_end() const { return m_at == m_codes.size(); }
  std::uint32_t peek(std::size_t ahead = 0) const { return m_at + ahead < m_codes.size() ? m_codes[m_at + ahead] : 0; }
  std::uint32_t take() {
    if (at_end()) fail("ends too early");
    return m_codes[m_at++];
  }
  bool take_if(const char* text) {
    std::size_t count = 0;
    for (; text[count] != '\0'; ++count)
      if (peek(count) != static_cast<std::uint8_t>(text[count]) || m_at + count >= m_codes.size()) return false;
    m_at += count;
    return true;
  }

  regex_part alternatives() {
    regex_part all;
    all.kind = regex_part::alternatives;
    do all.parts.push_back(sequence());
    while (take_if("|"));
    return all.parts.size() == 1 ? all.parts.front() : all;
  }

  regex_part sequence() {
    regex_part all;
    all.kind = regex_part::sequence;
    while (!at_end() && peek() != '|' && peek() != ')') all.parts.push_back(repeated(single()));
    return all;
  }

  regex_part repeated(regex_part part) {
    unsigned minimum = 1, maximum = 1;
    bool braces = false;
    if (take_if("?"))
      minimum = 0;
    else if (take_if("*"))
      minimum = 0, maximum = text::impl::unlimited;
    else if (take_if("+"))
      maximum = text::impl::unlimited;
    else if (peek() == '{' && std::isdigit(static_cast<int>(peek(1) & 127)) != 0)
      braces = true, read_braces(minimum, maximum);
    else
      return part;
    if (peek() == '?') fail("has a lazy repetition");
    if (braces && (peek() == '+' || peek() == '*')) fail("repeats a repetition");
    if (part.kind == regex_part::look) fail("repeats a look ahead");
    regex_part many;
    many.kind = regex_part::repeat, many.minimum = minimum, many.maximum = maximum;
    many.possessive = take_if("+");
    many.parts.push_back(std::move(part));
    return many;
  }

  void read_braces(unsigned& minimum, unsigned& maximum) {
    take();
    minimum = maximum = number();
    if (take_if(",")) maximum = peek() == '}' ? text::impl::unlimited : number();
    if (!take_if("}") || minimum > maximum || maximum == 0) fail("has bad numbers of repetitions");
  }
  unsigned number() {
    unsigned n = 0;
    while (peek() >= '0' && peek() <= '9' && n < 1000) n = n * 10 + (take() - '0');
    if (n >= 1000) fail("repeats more than 999 times");
    return n;
  }

  regex_part single() {
    if (take_if("(")) return group();
    regex_part one;
    if (take_if("["))
      one.set = char_class();
    else if (take_if("."))
      one.set = ~only('\n');
    else if (peek() == '\\')
      one.set = escape();
    else if (peek() == '^' || peek() == '$' || peek() == '*' || peek() == '+' || peek() == '?')
      fail(std::string("has a '") + static_cast<char>(peek()) + "' that is not supported");
    else
      one.set = letter(take());
    return one;
  }

  regex_part group() {
    if (++m_depth > max_depth) fail("nests deeper than " + std::to_string(max_depth) + " groups");
    const regex_part inside = group_inside();
    --m_depth;
    return inside;
  }

  regex_part group_inside() {
    if (take_if("?!")) return look(true);
    if (take_if("?=")) return look(false);
    const bool outer = m_any_case;
    if (take_if("?i:"))
      m_any_case = true;
    else if (!take_if("?:") && peek() == '?')
      fail("has a group of an unsupported kind");
    regex_part inside = alternatives();
    if (!take_if(")")) fail("has a '(' too many");
    m_any_case = outer;
    return inside;
  }

  regex_part look(bool negated) {
    regex_part inside = alternatives();
    if (!take_if(")")) fail("has a '(' too many");
    if (inside.kind == regex_part::sequence && inside.parts.size() == 1) inside = regex_part(inside.parts.front());
    if (inside.kind != regex_part::characters) fail("looks ahead at more than one character");
    inside.kind = regex_part::look, inside.negated = negated;
    return inside;
  }

  static character_set only(std::uint32_t code) {
    character_set set;
    set.add(code);
    return set;
  }
  /// A character; where case does not matter with those that differ from it by case alone.
  character_set letter(std::uint32_t code) const {
    character_set set = only(code);
    if (!m_any_case) return set;
    if (code >= 0x80) fail("ignores the case of a character outside ASCII");
    const int low = std::tolower(static_cast<int>(code));
    set.add(static_cast<std::uint32_t>(low));
    set.add(static_cast<std::uint32_t>(std::toupper(low)));
    if (low == 's') set.add(0x17f);
    if (low == 'k') set.add(0x212a);
    return set;
  }

  /// What stands between brackets, behind the first one.
  character_set char_class() {
    if (++m_depth > max_depth) fail("nests deeper than " + std::to_string(max_depth) + " classes");
    const character_set set = class_inside();
    --m_depth;
    return set;
  }

  character_set class_inside() {
    const bool negated = take_if("^");
    character_set set;
    for (bool first = true; first || peek() != ']' || at_end(); first = false) {
      if (take_if("&&")) fail("intersects classes");
      if (peek() == '[' && peek(1) == ':') fail("has a POSIX class");
      if (take_if("[")) {
        set |= char_class();
        continue;
      }
      std::uint32_t low = 0;
      character_set one = class_member(low);
      if (low != no_character && peek() == '-' && peek(1) != ']') {
        take();
        std::uint32_t high = 0;
        class_member(high);
        if (high == no_character || high < low || m_any_case) fail("has a bad range");
        one = character_set();
        one.add(low, high);
      }
      set |= one;
    }
    take();
    return negated ? ~set : set;
  }
  static constexpr std::uint32_t no_character = 0xffffffff;

  /// A character or an escape of a class; `code` becomes the character, or no_character where it is a set.
  character_set class_member(std::uint32_t& code) {
    if (peek() != '\\') return letter(code = take());
    const std::size_t before = m_at;
    code = plain_escape();
    if (code != no_character) return letter(code);
    m_at = before;
    return escape();
  }

  /// The character that an escape stands for, or no_character.
  std::uint32_t plain_escape() {
    take();
    const std::uint32_t c = take();
    switch (c) {
      case 'n': return '\n';
      case 'r': return '\r';
      case 't': return '\t';
      case 'f': return '\f';
      case 'v': return '\v';
      case 'u': return hexadecimal(4);
      case 'x': return take_if("{") ? hexadecimal(0) : hexadecimal(2);
      default: break;
    }
    return c < 0x80 && std::isalnum(static_cast<int>(c)) != 0 ? no_character : c;
  }
  std::uint32_t hexadecimal(unsigned digits) {
    std::uint32_t code = 0;
    for (unsigned i = 0; digits == 0 ? peek() != '}' : i < digits; ++i) {
      const std::uint32_t c = take();
      if (c >= 0x80 || std::isxdigit(static_cast<int>(c)) == 0 || code > 0xffff)
        fail("has a bad number of a character");
      code = code * 16 + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    if (digits == 0) take();
    return code;
  }

  character_set escape() {
    const std::size_t before = m_at;
    if (const std::uint32_t code = plain_escape(); code != no_character) return letter(code);
    m_at = before + 1;
    const std::uint32_t c = take();
    const auto of_flag = [](character_flag f, bool negated) {
      return negated ? ~character_set::of_flag(f) : character_set::of_flag(f);
    };
    switch (c) {
      case 's':
      case 'S': return of_flag(is_regex_space, c == 'S');
      case 'w':
      case 'W': return of_flag(is_regex_word, c == 'W');
      case 'd':
      case 'D': return of_flag(is_regex_digit, c == 'D');
      case 'p':
      case 'P': return property(c == 'P');
      default: break;
    }
    fail(std::string("has '\\") + static_cast<char>(c) + "', which is not supported");
  }

  /// \p{L}: a category, or all whose names begin with its letter.
  character_set property(bool negated) {
    std::string name;
    if (take_if("{")) {
      if (take_if("^")) negated = !negated;
      while (peek() != '}') name += static_cast<char>(take() & 127);
      take();
    } else {
      name = static_cast<char>(take() & 127);
    }
    std::vector<bool> chosen(std::size(category_names));
    for (std::size_t i = 0; i < chosen.size(); ++i)
      chosen[i] = name == category_names[i] || (name.size() == 1 && name[0] == category_names[i][0]);
    if (std::find(chosen.begin(), chosen.end(), true) == chosen.end())
      fail("has the property '" + name + "', of which only general categories are known");
    return character_set::of([&](std::uint32_t code) { return chosen[kind_of(code).category] != negated; });
  }

  std::vector<std::uint32_t> m_codes;
  const std::string &m_regex, &m_where;
  std::size_t m_at = 0, m_depth = 0;
  bool m_any_case = false;
};

}

regex_part parse_regex(const std::string& regex, const std::string& where) { return parser(regex, where).parse(); }

}
