// SPDX-License-Identifier: MIT
#include <netsuke/text/impl/pattern.hpp>

#include "errors.hpp"
#include "text/import_text.hpp"

namespace nsk::tool {
namespace {

using text::impl::cut_kind;
using text::impl::step_kind;

constexpr const char* gpt2_pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

void add_split(compiled_pattern pattern, cut_kind behavior, bool inverted, made_tokenizer& t) {
  made_step step;
  step.kind = step_kind::split;
  step.flags = static_cast<std::uint8_t>(static_cast<unsigned>(behavior) | (inverted ? 8u : 0u));
  step.pattern = std::move(pattern);
  t.split.push_back(step);
}

/// Each character of a set is a match.
compiled_pattern each_of(const character_set& set, made_tokenizer& t) { return compile_set(set, 1, 1, t.sets); }

cut_kind behavior_of(const text_json& part, const made_tokenizer& t) {
  const std::string name = is_missing(part, "behavior") ? "Isolated" : text_field(part, "behavior", t);
  if (name == "Isolated") return cut_kind::isolated;
  if (name == "Removed") return cut_kind::removed;
  if (name == "Contiguous") return cut_kind::contiguous;
  if (name == "MergedWithPrevious") return cut_kind::merged_with_previous;
  if (name == "MergedWithNext") return cut_kind::merged_with_next;
  refuse(t.source + ": the pre_tokenizer has the behavior '" + name + "', which is unknown. Use Isolated or Removed.");
}

void add_pattern_split(const text_json& part, made_tokenizer& t) {
  const text_json& pattern = field_of(part, "pattern", t);
  const std::string where = t.source + ": the pattern of Split";
  const bool inverted = flag_field(part, "invert", false, t);
  if (pattern.count("Regex") != 0)
    return add_split(compile_regex(text_field(pattern, "Regex", t), t.sets, where), behavior_of(part, t), inverted, t);
  const std::string text = text_field(pattern, "String", t);
  if (text.empty()) refuse(where + " is empty. Remove that pre_tokenizer.");
  add_split(compile_text(text, t.sets, where), behavior_of(part, t), inverted, t);
}

void add_prefix(const std::string& prefix, bool only_first, made_tokenizer& t) {
  made_step step;
  step.kind = step_kind::prepend, step.pool = prefix;
  step.flags = static_cast<std::uint8_t>(2 | (only_first ? 1 : 0));
  t.split.push_back(step);
}

void add_byte_level(const text_json& part, made_tokenizer& t) {
  if (flag_field(part, "add_prefix_space", true, t)) add_prefix(" ", false, t);
  if (flag_field(part, "use_regex", true, t))
    add_split(compile_regex(gpt2_pattern, t.sets, t.source), cut_kind::isolated, false, t);
  t.flags |= text::impl::flag_byte_level;
}

void add_metaspace(const text_json& part, made_tokenizer& t) {
  const std::string mark =
      is_missing(part, "replacement") ? utf8_of_character(0x2581) : text_field(part, "replacement", t);
  const std::vector<std::uint32_t> codes = characters_of(mark, t.source);
  if (codes.size() != 1) refuse(t.source + ": the replacement of Metaspace is not one character.");
  std::string scheme = flag_field(part, "add_prefix_space", true, t) ? "always" : "never";
  if (!is_missing(part, "prepend_scheme")) scheme = text_field(part, "prepend_scheme", t);
  if (scheme != "always" && scheme != "first" && scheme != "never")
    refuse(t.source + ": the prepend_scheme '" + scheme + "' of Metaspace is unknown. Use always, first or never.");
  if (scheme == "first" && !t.split.empty())
    refuse(t.source +
           ": Metaspace with the prepend_scheme 'first' behind another pre_tokenizer is not supported. Use always or "
           "never.");
  made_step step;
  step.map.to[' '] = std::u32string(1, codes[0]);
  t.split.push_back(step);
  if (scheme != "never") add_prefix(mark, scheme == "first", t);
  character_set set;
  set.add(codes[0]);
  if (flag_field(part, "split", true, t)) add_split(each_of(set, t), cut_kind::merged_with_next, false, t);
}

/// Runs of characters of words, and runs of what is neither that nor a space.
void add_whitespace(made_tokenizer& t) {
  add_split(each_of(character_set::of_flag(is_space), t), cut_kind::removed, false, t);
  add_split(compile_set(character_set::of_flag(is_word), 1, text::impl::unlimited, t.sets), cut_kind::isolated, false,
            t);
}

}

void add_pre_tokenizer(const text_json& part, made_tokenizer& t) {
  if (part.is_null()) return;
  const std::string type = type_of(part, t);
  if ((t.flags & text::impl::flag_byte_level) != 0)
    refuse(t.source + ": the pre_tokenizer '" + type + "' behind ByteLevel is not supported. Put ByteLevel last.");
  const auto punctuation = [&] { return each_of(character_set::of_flag(is_punctuation), t); };
  const auto spaces = [&] { return each_of(character_set::of_flag(is_space), t); };
  if (type == "Sequence") {
    for (const text_json& each : field_of(part, "pretokenizers", t)) add_pre_tokenizer(each, t);
  } else if (type == "ByteLevel") {
    add_byte_level(part, t);
  } else if (type == "Split") {
    add_pattern_split(part, t);
  } else if (type == "Metaspace") {
    add_metaspace(part, t);
  } else if (type == "BertPreTokenizer") {
    add_split(spaces(), cut_kind::removed, false, t);
    add_split(punctuation(), cut_kind::isolated, false, t);
  } else if (type == "Whitespace") {
    add_whitespace(t);
  } else if (type == "WhitespaceSplit") {
    add_split(spaces(), cut_kind::removed, false, t);
  } else if (type == "Punctuation") {
    add_split(punctuation(), behavior_of(part, t), false, t);
  } else if (type == "Digits") {
    const bool each = flag_field(part, "individual_digits", false, t);
    add_split(each_of(character_set::of_flag(is_numeric), t), each ? cut_kind::isolated : cut_kind::contiguous, false,
              t);
  } else if (type == "CharDelimiterSplit") {
    add_split(compile_text(text_field(part, "delimiter", t), t.sets, t.source), cut_kind::removed, false, t);
  } else {
    refuse(t.source + ": the pre_tokenizer '" + type +
           "' is not supported. Use one of those that docs/guide/text.md lists.");
  }
}

}
