// SPDX-License-Identifier: MIT
#include <algorithm>
#include <unordered_map>

#include "errors.hpp"
#include "text/import_text.hpp"

namespace nsk::tool {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

text_json added_json(const std::string& content, std::uint32_t id) {
  return {{"content", content},   {"id", id},        {"special", true}, {"normalized", false},
          {"single_word", false}, {"lstrip", false}, {"rstrip", false}};
}

std::string bytes_of_base64(const std::string& text, const std::string& path) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string::npos)
      refuse("'" + path + "' has a line that is not base 64 and a rank: it is no file of tiktoken.");
    held = held << 6 | static_cast<std::uint32_t>(digit);
    if ((bits += 6) >= 8) bytes += static_cast<char>(held >> (bits -= 8) & 255);
  }
  return bytes;
}

/// Patterns and added tokens of the encodings that tiktoken names.
struct encoding {
  const char *name, *pattern;
  std::size_t ranks;
  std::vector<std::pair<const char*, std::uint32_t>> added;
};
const std::vector<encoding>& encodings() {
  static const char* gpt2 = "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
  static const std::vector<encoding> all = {
      {"gpt2", gpt2, 50256, {{"<|endoftext|>", 50256}}},
      {"p50k_base", gpt2, 50280, {{"<|endoftext|>", 50256}}},
      {"cl100k_base",
       "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| "
       "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
       100256,
       {{"<|endoftext|>", 100257},
        {"<|fim_prefix|>", 100258},
        {"<|fim_middle|>", 100259},
        {"<|fim_suffix|>", 100260},
        {"<|endofprompt|>", 100276}}},
      {"o200k_base",
       "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'"
       "ll|'d)?|"
       "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'"
       "ll|'d)?|"
       "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
       199998,
       {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}}};
  return all;
}

const encoding& encoding_of(const std::string& pattern, std::size_t ranks, const std::string& path) {
  for (const encoding& e : encodings())
    if (pattern.empty() ? e.ranks == ranks : pattern == e.name) return e;
  if (!pattern.empty()) misuse("--pattern is gpt2, p50k_base, cl100k_base or o200k_base, not '" + pattern + "'.");
  refuse("'" + path + "' has " + std::to_string(ranks) +
         " ranks, as none of the known encodings. Name the nearest one, as the help of this command says.");
}

std::string visible_of_bytes(const std::string& bytes) {
  std::string visible;
  for (const char c : bytes) visible += utf8_of_character(visible_of_byte(static_cast<std::uint8_t>(c)));
  return visible;
}

/// The two parts that a token is merged of: what is left when only merges of lower ranks are made.
std::pair<std::string, std::string> parts_of(const std::string& token,
                                             const std::unordered_map<std::string, std::uint32_t>& ranks,
                                             std::uint32_t rank) {
  std::vector<std::string> parts;
  for (const char c : token) parts.push_back(std::string(1, c));
  while (parts.size() > 2) {
    std::size_t best = parts.size();
    std::uint32_t minimum = rank;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ranks.find(parts[i] + parts[i + 1]);
      if (found != ranks.end() && found->second < minimum) minimum = found->second, best = i;
    }
    if (best == parts.size()) return {};
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  return {parts[0], parts.back()};
}

}

text_json json_of_vocabulary(const std::string& text, const std::string& path) {
  text_json vocab = text_json::object();
  const std::vector<std::string> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    characters_of(lines[i], "'" + path + "'");
    vocab[lines[i]] = i;
  }
  const auto id_of = [&](const char* token) {
    if (vocab.count(token) == 0)
      refuse("'" + path + "' has no line '" + std::string(token) +
             "': it is no vocabulary of BERT. Give its tokenizer.json.");
    return vocab[token].get<std::uint32_t>();
  };
  text_json added = text_json::array();
  for (const char* token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
    if (vocab.count(token) != 0) added.push_back(added_json(token, id_of(token)));
  // A vocabulary with capital letters is one of a model that tells them apart.
  bool lower = true;
  for (const std::string& line : lines)
    if (line.size() > 1 && line[0] != '[' &&
        std::any_of(line.begin(), line.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
      lower = false;
  return {{"added_tokens", added},
          {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", lower}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor",
           {{"type", "BertProcessing"}, {"sep", {"[SEP]", id_of("[SEP]")}}, {"cls", {"[CLS]", id_of("[CLS]")}}}},
          {"decoder", {{"type", "WordPiece"}}},
          {"model", {{"type", "WordPiece"}, {"unk_token", "[UNK]"}, {"vocab", vocab}}}};
}

text_json json_of_ranks(const std::string& text, const std::string& path, const std::string& pattern) {
  std::unordered_map<std::string, std::uint32_t> ranks;
  std::vector<std::string> tokens;
  for (const std::string& line : lines_of(text)) {
    const std::size_t space = line.find(' ');
    const std::string token = bytes_of_base64(line.substr(0, space), path);
    if (space == std::string::npos || token.empty() || token.size() > 1024 ||
        line.substr(space + 1) != std::to_string(tokens.size()))
      refuse("'" + path + "' has a line that is not base 64 and the next rank: it is no file of tiktoken.");
    ranks[token] = static_cast<std::uint32_t>(tokens.size());
    tokens.push_back(token);
  }
  const encoding& e = encoding_of(pattern, tokens.size(), path);
  text_json vocab = text_json::object(), merges = text_json::array(), added = text_json::array();
  for (std::uint32_t rank = 0; rank < tokens.size(); ++rank) {
    vocab[visible_of_bytes(tokens[rank])] = rank;
    if (tokens[rank].size() == 1) continue;
    const auto [left, right] = parts_of(tokens[rank], ranks, rank);
    if (!left.empty()) merges.push_back({visible_of_bytes(left), visible_of_bytes(right)});
  }
  for (const auto& [content, id] : e.added) added.push_back(added_json(content, id));
  return {{"added_tokens", added},
          {"ids_as_given", true},
          {"pre_tokenizer",
           {{"type", "Sequence"},
            {"pretokenizers",
             {{{"type", "Split"}, {"pattern", {{"Regex", e.pattern}}}, {"behavior", "Isolated"}},
              {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}, {"ignore_merges", true}}}};
}

}
