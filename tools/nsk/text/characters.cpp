// SPDX-License-Identifier: MIT
#include "text/characters.hpp"

#include <algorithm>
#include <iterator>

#include <netsuke/text/impl/compose.hpp>
#include <netsuke/text/impl/utf8.hpp>

#include "errors.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t run_count = std::size(character_run_starts);

/// Mappings of a generated list: a character, the number of characters that it becomes, and these.
void add_mappings(const std::uint32_t* numbers, std::size_t count, character_map& map) {
  for (std::size_t i = 0; i < count;) {
    const std::uint32_t code = numbers[i], length = numbers[i + 1];
    map.to[code] = std::u32string(numbers + i + 2, numbers + i + 2 + length);
    i += 2 + length;
  }
}

}

const character_kind& kind_of(std::uint32_t code) {
  const std::uint32_t* past = std::upper_bound(character_run_starts, character_run_starts + run_count, code);
  return character_kinds[character_run_kinds[past - character_run_starts - 1]];
}

std::string utf8_of_character(std::uint32_t code) {
  std::uint8_t bytes[text::impl::max_character_bytes];
  const unsigned count = text::impl::put_character(code, bytes);
  return std::string(bytes, bytes + count);
}

std::vector<std::uint32_t> characters_of(std::string_view text, const std::string& what) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(text.data());
  const std::uint8_t* end = p + text.size();
  if (text::impl::valid_end({p, end}) != end) refuse(what + " is no UTF-8. Save it again from its source.");
  std::vector<std::uint32_t> codes;
  for (text::impl::character c; p != end; p += c.bytes) {
    c = text::impl::character_at(p);
    codes.push_back(c.code);
  }
  return codes;
}

character_set character_set::of(const std::function<bool(std::uint32_t)>& has) {
  character_set set;
  for (std::uint32_t code = 0; code < character_count; ++code)
    if (has(code)) set.add(code);
  return set;
}

character_set character_set::of_flag(character_flag flag) {
  character_set set;
  for (std::size_t i = 0; i < run_count; ++i)
    if ((character_kinds[character_run_kinds[i]].flags & flag) != 0)
      set.add(character_run_starts[i], (i + 1 < run_count ? character_run_starts[i + 1] : character_count) - 1);
  return set;
}

void character_set::add(std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t code = first; code <= last; ++code) add(code);
}

bool character_set::empty() const {
  return std::all_of(m_bits.begin(), m_bits.end(), [](std::uint64_t b) { return b == 0; });
}

character_set& character_set::operator|=(const character_set& other) {
  for (std::size_t i = 0; i < m_bits.size(); ++i) m_bits[i] |= other.m_bits[i];
  return *this;
}

character_set character_set::operator~() const {
  character_set set;
  for (std::size_t i = 0; i < m_bits.size(); ++i) set.m_bits[i] = ~m_bits[i];
  return set;
}

int set_list::add(const character_set& set) {
  const auto found = std::find(m_sets.begin(), m_sets.end(), set);
  if (found != m_sets.end()) return static_cast<int>(found - m_sets.begin());
  m_sets.push_back(set);
  return static_cast<int>(m_sets.size()) - 1;
}

std::vector<std::uint8_t> set_list::classes() const {
  std::map<std::vector<bool>, std::uint8_t> known;
  std::vector<std::uint8_t> classes(character_count);
  std::vector<bool> member(m_sets.size()), last;
  std::uint8_t last_class = 0;
  for (std::uint32_t code = 0; code < character_count; ++code) {
    for (std::size_t i = 0; i < m_sets.size(); ++i) member[i] = m_sets[i].has(code);
    if (code == 0 || member != last) {
      last = member;
      last_class = known.try_emplace(member, static_cast<std::uint8_t>(known.size())).first->second;
      if (known.size() > 64)
        refuse(
            "the patterns of the tokenizer tell more than 64 classes of characters apart, which a .nskt file cannot "
            "hold. "
            "Simplify the Split patterns of its pre_tokenizer.");
    }
    classes[code] = last_class;
  }
  return classes;
}

std::vector<std::uint64_t> set_list::masks(const std::vector<std::uint8_t>& classes) const {
  std::vector<std::uint64_t> masks(m_sets.size());
  for (std::size_t i = 0; i < m_sets.size(); ++i)
    for (std::uint32_t code = 0; code < character_count; ++code)
      if (m_sets[i].has(code)) masks[i] |= std::uint64_t{1} << classes[code];
  return masks;
}

std::u32string character_map::of(std::uint32_t code) const {
  const auto found = to.find(code);
  return found != to.end() ? found->second : std::u32string(1, code);
}

character_map canonical_decomposition(bool syllables) {
  character_map map;
  add_mappings(canonical_decompositions, std::size(canonical_decompositions), map);
  map.syllables = syllables;
  return map;
}

character_map compatibility_decomposition(bool syllables) {
  character_map map = canonical_decomposition(syllables);
  add_mappings(compatibility_decompositions, std::size(compatibility_decompositions), map);
  return map;
}

character_map lowercase() {
  character_map map;
  add_mappings(lowercase_mappings, std::size(lowercase_mappings), map);
  return map;
}

character_map without(const character_set& set) {
  character_map map;
  for (std::uint32_t code = 0; code < character_count; ++code)
    if (set.has(code)) map.to[code] = {};
  return map;
}

bool are_chained(const character_map& first, const character_map& second) {
  const auto is_jamo = [](const auto& entry) { return entry.first >= 0x1100 && entry.first < 0x1200; };
  const auto is_syllable = [](const auto& entry) {
    return entry.first - text::impl::syllables < text::impl::syllable_count;
  };
  if (first.syllables && std::any_of(second.to.begin(), second.to.end(), is_jamo)) return false;
  return !second.syllables || std::none_of(first.to.begin(), first.to.end(), is_syllable);
}

character_map chained(const character_map& first, const character_map& second) {
  character_map map = second;
  for (const auto& [code, to] : first.to) {
    std::u32string made;
    for (const std::uint32_t c : to) made += second.of(c);
    map.to[code] = made;
  }
  map.syllables = first.syllables || second.syllables;
  return map;
}

std::vector<composition> all_compositions() {
  std::vector<composition> all;
  for (std::size_t i = 0; i < std::size(compositions); i += 3)
    all.push_back({compositions[i], compositions[i + 1], compositions[i + 2]});
  return all;
}

}
