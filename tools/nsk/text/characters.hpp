// SPDX-License-Identifier: MIT
#pragma once
/// Characters, sets of them, and what Unicode says of them.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/generated/unicode_data.hpp"

namespace nsk::tool {

inline constexpr std::uint32_t character_count = 0x110000;

/// Properties of a character.
const character_kind& kind_of(std::uint32_t code);

/// UTF-8 of a character, and the characters of UTF-8. Refuses what is none; `what` begins the message.
std::string utf8_of_character(std::uint32_t code);
std::vector<std::uint32_t> characters_of(std::string_view text, const std::string& what);

/// A set of characters.
class character_set {
 public:
  character_set() : m_bits(character_count / 64) {}
  /// The characters for which `has` is true.
  static character_set of(const std::function<bool(std::uint32_t)>& has);
  static character_set of_flag(character_flag flag);
  static character_set every() { return ~character_set(); }

  bool has(std::uint32_t code) const { return (m_bits[code / 64] >> (code % 64) & 1) != 0; }
  void add(std::uint32_t code) { m_bits[code / 64] |= std::uint64_t{1} << (code % 64); }
  void add(std::uint32_t first, std::uint32_t last);
  bool empty() const;
  character_set& operator|=(const character_set& other);
  character_set operator~() const;
  bool operator==(const character_set& other) const { return m_bits == other.m_bits; }

 private:
  std::vector<std::uint64_t> m_bits;
};

/// The sets that the patterns of one tokenizer use, and the classes of characters that they make: characters of one
/// class are in the same sets.
class set_list {
 public:
  /// Returns the number of a set.
  int add(const character_set& set);
  /// Returns the class of each character. Refuses more than the 64 classes that a file can have.
  std::vector<std::uint8_t> classes() const;
  /// Returns the classes of each set, as bits.
  std::vector<std::uint64_t> masks(const std::vector<std::uint8_t>& classes) const;

 private:
  std::vector<character_set> m_sets;
};

/// What becomes of characters, each for itself; those that are not listed stay.
struct character_map {
  std::map<std::uint32_t, std::u32string> to;
  bool syllables = false;  ///< those of Hangul are decomposed

  std::u32string of(std::uint32_t code) const;
};
character_map canonical_decomposition(bool syllables);
character_map compatibility_decomposition(bool syllables);
character_map lowercase();
/// Removes the characters of a set.
character_map without(const character_set& set);
/// Whether `second` of what `first` gives is a map of single characters again, and that map.
bool are_chained(const character_map& first, const character_map& second);
character_map chained(const character_map& first, const character_map& second);

/// Pairs of characters that compose, and what to.
struct composition {
  std::uint32_t first, second, to;
};
std::vector<composition> all_compositions();

}
