// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "errors.hpp"
#include "text/import_text.hpp"

namespace nsk::tool {
namespace {

using namespace text::impl;

/// Ids by the tokens of the source.
using token_ids = std::map<std::string, std::uint32_t>;

token_ids read_vocabulary(const text_json& model, made_tokenizer& t) {
  const text_json& list = field_of(model, "vocab", t);
  if (!list.is_object()) refuse(t.source + ": the vocab of the model is no object of tokens and ids.");
  token_ids ids;
  for (const auto& [token, id] : list.items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= max_token_count)
      refuse(t.source + ": the token '" + token + "' has no id below " + std::to_string(max_token_count) + ".");
    ids[token] = id.get<std::uint32_t>();
    t.names[id.get<std::uint32_t>()] = token;
  }
  return ids;
}

std::string optional_text(const text_json& model, const char* name, const made_tokenizer& t) {
  return is_missing(model, name) ? std::string() : text_field(model, name, t);
}

/// The id of the unknown token, -1 where there is none.
std::int64_t unknown_of(const text_json& model, const token_ids& ids, const made_tokenizer& t) {
  if (is_missing(model, "unk_token")) return -1;
  const std::string token = text_field(model, "unk_token", t);
  const auto found = ids.find(token);
  if (found == ids.end())
    refuse(t.source + ": the unk_token '" + token + "' is not in the vocab. Add it, or set unk_token to null.");
  return found->second;
}

std::string byte_token(int byte) {
  static const char* digits = "0123456789ABCDEF";
  return std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">";
}

/// Tokens of bytes, for characters that have none.
void add_byte_fallback(const text_json& model, const token_ids& ids, made_tokenizer& t) {
  if (!flag_field(model, "byte_fallback", false, t)) return;
  std::vector<std::int32_t> bytes;
  for (int b = 0; b < 256; ++b) {
    const auto found = ids.find(byte_token(b));
    if (found != ids.end()) bytes.push_back(static_cast<std::int32_t>(found->second));
  }
  if (bytes.empty()) return;
  if (bytes.size() != 256)
    refuse(t.source +
           ": byte_fallback is set, but the vocab lacks some of the tokens <0x00> to <0xFF>. Add them, or set it to "
           "false.");
  t.bytes = bytes;
  t.flags |= flag_byte_fallback;
}

/// The two tokens of a merge: "a b", or ["a", "b"].
std::pair<std::string, std::string> tokens_of(const text_json& merge, const made_tokenizer& t) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  const std::string text = merge.is_string() ? merge.get<std::string>() : std::string();
  const std::size_t space = text.find(' ');
  if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
    refuse(t.source + ": the merge '" + text + "' is not of two tokens.");
  return {text.substr(0, space), text.substr(space + 1)};
}

void add_merges(const text_json& model, const token_ids& ids, made_tokenizer& t) {
  const auto id_of = [&](const std::string& token) {
    const auto found = ids.find(token);
    if (found == ids.end()) refuse(t.source + ": a merge needs the token '" + token + "', which is not in the vocab.");
    return found->second;
  };
  for (const text_json& each : field_of(model, "merges", t)) {
    const auto [left, right] = tokens_of(each, t);
    if (left.empty() || right.empty()) refuse(t.source + ": a merge has an empty token.");
    t.merges.push_back({id_of(left), id_of(right), id_of(left + right)});
  }
}

/// What words and symbols are looked up by.
void add_keys(const token_ids& ids, made_tokenizer& t) {
  const bool bytes = (t.flags & flag_byte_level) != 0;
  for (const auto& [token, id] : ids) {
    bool is_bytes = true;
    std::string key = token;
    if (bytes) {
      const bool ends = !t.suffix.empty() && token.size() > t.suffix.size() &&
                        token.compare(token.size() - t.suffix.size(), std::string::npos, t.suffix) == 0;
      const std::string body = ends ? token.substr(0, token.size() - t.suffix.size()) : token;
      key = bytes_of_visible(body, t.source, &is_bytes) + (ends ? t.suffix : std::string());
    }
    if (is_bytes) t.vocabulary.emplace(key, id);
  }
}

void add_symbols(made_tokenizer& t) {
  if ((t.flags & flag_byte_level) == 0) return;
  for (int b = 0; b < 256; ++b) {
    const std::string byte(1, static_cast<char>(b));
    const auto id_of = [&](const std::string& key) {
      const auto found = t.vocabulary.find(key);
      return found == t.vocabulary.end() ? -1 : static_cast<std::int32_t>(found->second);
    };
    t.bytes.push_back(id_of(byte));
    if (!t.suffix.empty()) t.last_bytes.push_back(id_of(byte + t.suffix));
  }
}

void add_byte_pairs(const text_json& model, made_tokenizer& t) {
  const token_ids ids = read_vocabulary(model, t);
  const bool random =
      !is_missing(model, "dropout") && model["dropout"].is_number() && model["dropout"].get<double>() != 0;
  if (random) refuse(t.source + ": the model leaves out merges at random (dropout). Set dropout to null.");
  if (!optional_text(model, "continuing_subword_prefix", t).empty())
    refuse(t.source +
           ": BPE with a continuing_subword_prefix is not supported. Use WordPiece, or a vocabulary without a prefix.");
  t.suffix = optional_text(model, "end_of_word_suffix", t);
  t.unknown = unknown_of(model, ids, t);
  if ((t.flags & flag_byte_level) == 0) add_byte_fallback(model, ids, t);
  if (flag_field(model, "fuse_unk", false, t)) t.flags |= flag_fuse_unknown;
  if (flag_field(model, "ignore_merges", false, t)) t.flags |= flag_ignore_merges;
  add_merges(model, ids, t);
  add_keys(ids, t);
  for (const made_tokenizer::merge& m : t.merges)
    for (const std::uint32_t id : {m.left, m.right})
      if ((t.flags & flag_byte_level) != 0 && t.vocabulary.count(bytes_of_visible(t.names[id], t.source)) == 0 &&
          t.suffix.empty())
        refuse(t.source + ": the merge of '" + t.names[id] +
               "' is not one of bytes, which the pre_tokenizer ByteLevel gives.");
  add_symbols(t);
}

/// A number as the library tokenizers reads it from JSON: its digits as an integer, rounded, then scaled by a power of
/// ten, rounded again. The last bit can differ from the nearest number, and with it which of two equal ways wins.
double as_read(double number) {
  char text[64];
  const char* end = std::to_chars(text, text + sizeof text, number < 0 ? -number : number).ptr;
  std::uint64_t digits = 0;
  int exponent = 0;
  bool fraction = false;
  const char* p = text;
  for (; p != end && *p != 'e'; ++p) {
    if (*p == '.') {
      fraction = true;
      continue;
    }
    digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
    exponent -= fraction;
  }
  if (p != end) exponent += std::atoi(p + 1);
  const auto integer = static_cast<double>(digits);
  const int size = exponent < 0 ? -exponent : exponent;
  if (size > 22) return number;  // no score of a model; powers beyond are not exact
  double power = 1;
  for (int i = 0; i < size; ++i) power *= 10;
  const double value = exponent < 0 ? integer / power : integer * power;
  return number < 0 ? -value : value;
}

void add_unigram(const text_json& model, made_tokenizer& t) {
  const text_json& list = field_of(model, "vocab", t);
  token_ids ids;
  double minimum = std::numeric_limits<double>::infinity();
  const bool single = flag_field(model, "single_scores", false, t);
  for (const text_json& each : list) {
    if (!each.is_array() || each.size() != 2 || !each[0].is_string() || !each[1].is_number())
      refuse(t.source + ": the vocab of Unigram is no list of [token, score].");
    const auto id = static_cast<std::uint32_t>(t.scores.size());
    ids[each[0].get<std::string>()] = id;
    t.names[id] = each[0].get<std::string>();
    t.scores.push_back(single ? each[1].get<double>() : as_read(each[1].get<double>()));
    minimum = std::min(minimum, t.scores.back());
  }
  if (is_missing(model, "unk_id") || !model["unk_id"].is_number_unsigned() ||
      model["unk_id"].get<std::size_t>() >= t.scores.size())
    refuse(t.source +
           ": Unigram without an unk_id cannot encode every text. Set unk_id to the number of its unknown token.");
  constexpr double penalty = 10;
  t.unknown = model["unk_id"].get<std::int64_t>();
  t.unknown_score = minimum - penalty;
  t.flags |= flag_fuse_unknown;
  if (single) t.flags |= flag_single_scores;
  add_byte_fallback(model, ids, t);
  t.vocabulary = ids;
}

void add_word_piece(const text_json& model, made_tokenizer& t) {
  const token_ids ids = read_vocabulary(model, t);
  const std::string prefix =
      is_missing(model, "continuing_subword_prefix") ? "##" : text_field(model, "continuing_subword_prefix", t);
  t.unknown = unknown_of(model, ids, t);
  if (t.unknown < 0) refuse(t.source + ": WordPiece without an unk_token cannot encode every text. Set it.");
  t.max_word = 100;
  if (!is_missing(model, "max_input_chars_per_word")) {
    const text_json& longest = model["max_input_chars_per_word"];
    if (!longest.is_number_unsigned() || longest.get<std::uint64_t>() > 0x7fffffff)
      refuse(t.source + ": max_input_chars_per_word is no length.");
    t.max_word = longest.get<std::uint32_t>();
  }
  t.vocabulary = ids;
  for (const auto& [token, id] : ids)
    if (token.size() > prefix.size() && token.compare(0, prefix.size(), prefix) == 0)
      t.inner[token.substr(prefix.size())] = id;
}

void add_word_level(const text_json& model, made_tokenizer& t) {
  t.vocabulary = read_vocabulary(model, t);
  t.unknown = unknown_of(model, t.vocabulary, t);
}

/// The kind of a model; old files do not name it.
std::string kind_of_model(const text_json& model, const made_tokenizer& t) {
  if (!is_missing(model, "type")) return text_field(model, "type", t);
  if (model.count("merges") != 0) return "BPE";
  if (model.count("unk_id") != 0) return "Unigram";
  return model.count("max_input_chars_per_word") != 0 ? "WordPiece" : "WordLevel";
}

}

void add_model(const text_json& model, made_tokenizer& t) {
  const std::string kind = kind_of_model(model, t);
  if (kind != "BPE" && (t.flags & flag_byte_level) != 0)
    refuse(t.source + ": the pre_tokenizer ByteLevel with the model '" + kind + "' is not supported. Use BPE.");
  if (kind == "BPE") {
    t.model = model_kind::byte_pairs;
    add_byte_pairs(model, t);
  } else if (kind == "Unigram") {
    t.model = model_kind::unigram;
    add_unigram(model, t);
  } else if (kind == "WordPiece") {
    t.model = model_kind::word_piece;
    add_word_piece(model, t);
  } else if (kind == "WordLevel") {
    t.model = model_kind::word_level;
    add_word_level(model, t);
  } else {
    refuse(t.source + ": the model '" + kind + "' is not supported. Use BPE, Unigram, WordPiece or WordLevel.");
  }
}

}
