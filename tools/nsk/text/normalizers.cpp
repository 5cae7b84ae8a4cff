// SPDX-License-Identifier: MIT
#include <cstring>

#include "errors.hpp"
#include "text/import_text.hpp"

namespace nsk::tool {
namespace {

using text::impl::step_kind;

constexpr const char* cure =
    " Use one of those that docs/guide/text.md lists, or normalise texts before they are encoded.";

void add_map(const character_map& map, made_tokenizer& t) {
  if (!t.normalize.empty() && t.normalize.back().kind == step_kind::map && t.normalize.back().flags == 0 &&
      are_chained(t.normalize.back().map, map)) {
    t.normalize.back().map = chained(t.normalize.back().map, map);
    return;
  }
  made_step step;
  step.map = map;
  t.normalize.push_back(step);
}

void add_form(bool compatible, bool composes, made_tokenizer& t) {
  const character_map map = compatible ? compatibility_decomposition(!composes) : canonical_decomposition(!composes);
  if (composes) {
    made_step step;
    step.map = map, step.flags = 1;
    t.normalize.push_back(step);
  } else {
    add_map(map, t);
  }
  made_step order;
  order.kind = step_kind::order, order.flags = composes;
  t.normalize.push_back(order);
}

void add_bert(const text_json& part, made_tokenizer& t) {
  if (flag_field(part, "clean_text", true, t)) {
    character_map clean = without(character_set::of_flag(is_clean_removed));
    for (std::uint32_t code = 0; code < character_count; ++code)
      if ((kind_of(code).flags & is_clean_space) != 0 && code != ' ') clean.to[code] = U" ";
    add_map(clean, t);
  }
  if (flag_field(part, "handle_chinese_chars", true, t)) {
    character_map spaced;
    for (std::uint32_t code = 0; code < character_count; ++code)
      if ((kind_of(code).flags & is_chinese) != 0) spaced.to[code] = {U' ', code, U' '};
    add_map(spaced, t);
  }
  const bool lower = flag_field(part, "lowercase", true, t);
  if (flag_field(part, "strip_accents", lower, t)) {
    add_form(false, false, t);
    add_map(without(character_set::of_flag(is_bert_accent)), t);
  }
  if (lower) add_map(lowercase(), t);
}

void add_replace(const text_json& part, made_tokenizer& t) {
  const text_json& pattern = field_of(part, "pattern", t);
  made_step step;
  step.pool = text_field(part, "content", t);
  const std::string where = t.source + ": the pattern of Replace";
  if (pattern.count("String") != 0) {
    const std::string text = text_field(pattern, "String", t);
    const std::vector<std::uint32_t> codes = characters_of(text, where), to = characters_of(step.pool, where);
    if (codes.size() == 1) {
      character_map map;
      map.to[codes[0]] = std::u32string(to.begin(), to.end());
      return add_map(map, t);
    }
    if (codes.empty()) refuse(where + " is empty. Remove that normalizer.");
    step.pattern = compile_text(text, t.sets, where);
  } else {
    step.pattern = compile_regex(text_field(pattern, "Regex", t), t.sets, where);
  }
  step.kind = step_kind::replace;
  t.normalize.push_back(step);
}

void add_nmt(made_tokenizer& t) {
  character_map map = without(character_set::of_flag(is_nmt_removed));
  for (std::uint32_t code = 0; code < character_count; ++code)
    if ((kind_of(code).flags & is_nmt_space) != 0 && code != ' ') map.to[code] = U" ";
  add_map(map, t);
}

std::uint32_t word_at(const std::string& bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

/// Bytes of base 64.
std::string from_base64(const std::string& text, const made_tokenizer& t) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::size_t digit = digits.find(c);
    if (digit == std::string::npos) refuse(t.source + ": the character map of Precompiled is not base 64.");
    held = held << 6 | static_cast<std::uint32_t>(digit);
    if ((bits += 6) >= 8) bytes += static_cast<char>(held >> (bits -= 8) & 255);
  }
  return bytes;
}

/// Reads a double array of darts-clone: texts, and what they are replaced by.
class charsmap_reader {
 public:
  charsmap_reader(const std::string& bytes, const made_tokenizer& t) : m_bytes(bytes), m_tokenizer(t) {
    if (bytes.size() < 4 || word_at(bytes, 0) % 4 != 0 || word_at(bytes, 0) > bytes.size() - 4) damaged();
    m_units = word_at(bytes, 0) / 4;
    m_texts = 4 + std::size_t{m_units} * 4;
  }
  std::map<std::string, std::string> entries() {
    if (m_units != 0) visit(0, "");
    return m_entries;
  }

 private:
  [[noreturn]] void damaged() const {
    refuse(m_tokenizer.source + ": the character map of Precompiled is damaged. Download it again.");
  }
  std::uint32_t unit(std::uint32_t i) const {
    if (i >= m_units) damaged();
    return word_at(m_bytes, 4 + std::size_t{i} * 4);
  }
  static std::uint32_t offset(std::uint32_t u) { return (u >> 10) << ((u & 512) >> 6); }

  void visit(std::uint32_t node, const std::string& key) {
    if (key.size() > 64 || ++m_visited > 1u << 22) damaged();  // texts may share their ends, circles would not end
    const std::uint32_t here = unit(node), children = node ^ offset(here);
    if (!key.empty() && (here & 256) != 0) {
      const std::size_t at = m_texts + (unit(children) & 0x7fffffff);
      const std::size_t end = at < m_bytes.size() ? m_bytes.find('\0', at) : std::string::npos;
      if (end == std::string::npos) damaged();
      m_entries[key] = m_bytes.substr(at, end - at);
    }
    for (std::uint32_t label = 1; label < 256; ++label) {
      const std::uint32_t child = children ^ label;
      if (child < m_units && (unit(child) & 0x800000ff) == label) visit(child, key + static_cast<char>(label));
    }
  }

  const std::string& m_bytes;
  const made_tokenizer& m_tokenizer;
  std::uint32_t m_units, m_visited = 0;
  std::size_t m_texts;
  std::map<std::string, std::string> m_entries;
};

void add_charsmap(const text_json& part, made_tokenizer& t) {
  if (is_missing(part, "precompiled_charsmap") || text_field(part, "precompiled_charsmap", t).empty()) return;
  const std::string bytes = from_base64(text_field(part, "precompiled_charsmap", t), t);
  made_step step;
  step.kind = step_kind::charsmap;
  step.flags = flag_field(part, "longest", false, t);
  step.charsmap = charsmap_reader(bytes, t).entries();
  t.normalize.push_back(step);
}

void add_strip(const text_json& part, made_tokenizer& t) {
  made_step step;
  step.kind = step_kind::strip;
  step.set = t.sets.add(character_set::of_flag(is_space));
  step.flags = static_cast<std::uint8_t>((flag_field(part, "strip_left", true, t) ? 1 : 0) |
                                         (flag_field(part, "strip_right", true, t) ? 2 : 0));
  t.normalize.push_back(step);
}

/// What SentencePiece does at both ends: spaces alone.
void add_strip_spaces(made_tokenizer& t) {
  character_set space;
  space.add(' ');
  made_step step;
  step.kind = step_kind::strip, step.flags = 3;
  step.set = t.sets.add(space);
  t.normalize.push_back(step);
}

}

void add_normalizer(const text_json& part, made_tokenizer& t) {
  if (part.is_null()) return;
  const std::string type = type_of(part, t);
  if (type == "Sequence") {
    for (const text_json& each : field_of(part, "normalizers", t)) add_normalizer(each, t);
  } else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    add_form(type[2] == 'K', type.back() == 'C', t);
  } else if (type == "Lowercase") {
    add_map(lowercase(), t);
  } else if (type == "StripAccents") {
    add_map(without(character_set::of_flag(is_accent)), t);
  } else if (type == "BertNormalizer") {
    add_bert(part, t);
  } else if (type == "Replace") {
    add_replace(part, t);
  } else if (type == "Prepend") {
    made_step step;
    step.kind = step_kind::prepend, step.pool = text_field(part, "prepend", t);
    t.normalize.push_back(step);
  } else if (type == "Precompiled") {
    add_charsmap(part, t);
  } else if (type == "Strip") {
    add_strip(part, t);
  } else if (type == "StripSpaces") {
    add_strip_spaces(t);
  } else if (type == "Nmt") {
    add_nmt(t);
  } else {
    refuse(t.source + ": the normalizer '" + type + "' is not supported." + cure);
  }
}

}
