// SPDX-License-Identifier: MIT
#include "text/import_text.hpp"

#include <algorithm>

#include "errors.hpp"
#include "io/files.hpp"
#include "io/json_file.hpp"

namespace nsk::tool {
namespace {

constexpr json_limits tokenizer_limits = {std::uint64_t{1} << 28, std::size_t{1} << 21, std::size_t{1} << 22,
                                          std::size_t{1} << 23};

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Ids of special tokens of a template.
void add_special(const text_json& item, const text_json& specials, std::vector<std::int32_t>& to,
                 const made_tokenizer& t) {
  const std::string name = text_field(item, "id", t);
  const auto found = specials.is_object() ? specials.find(name) : specials.end();
  if (!specials.is_object() || found == specials.end())
    refuse(t.source + ": the post_processor names '" + name + "', which it does not describe.");
  for (const text_json& id : field_of(*found, "ids", t)) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= text::impl::max_token_count)
      refuse(t.source + ": the post_processor gives '" + name + "' an id that is none.");
    to.push_back(id.get<std::int32_t>());
  }
}

/// [token, id] of BertProcessing and RobertaProcessing.
std::int32_t id_of_pair(const text_json& part, const char* name, const made_tokenizer& t) {
  const text_json& pair = field_of(part, name, t);
  if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number_unsigned())
    refuse(t.source + ": '" + name + "' of the post_processor is no [token, id].");
  return pair[1].get<std::int32_t>();
}

void add_post_processor(const text_json& part, made_tokenizer& t) {
  if (part.is_null()) return;
  const std::string type = type_of(part, t);
  if (type == "Sequence") {
    for (const text_json& each : field_of(part, "processors", t)) add_post_processor(each, t);
  } else if (type == "TemplateProcessing") {
    bool behind = false;
    for (const text_json& item : field_of(part, "single", t)) {
      if (item.is_object() && item.count("SpecialToken") != 0)
        add_special(item["SpecialToken"], field_of(part, "special_tokens", t), behind ? t.after : t.before, t);
      else if (item.is_object() && item.count("Sequence") != 0 && !behind)
        behind = true;
      else
        refuse(t.source + ": the template of the post_processor repeats its text. Give a template with one Sequence.");
    }
    if (!behind) refuse(t.source + ": the template of the post_processor has no text. Give it a Sequence.");
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    t.before.push_back(id_of_pair(part, "cls", t));
    t.after.push_back(id_of_pair(part, "sep", t));
  } else if (type != "ByteLevel") {
    refuse(t.source + ": the post_processor '" + type + "' is not supported. Use TemplateProcessing.");
  }
}

/// Ids are those of the vocabulary, else the next ones, as the library numbers them.
void add_added_tokens(const text_json& json, made_tokenizer& t) {
  if (is_missing(json, "added_tokens")) return;
  std::map<std::string, std::uint32_t> ids;
  for (const auto& [id, name] : t.names) ids[name] = id;  // of two equal ones the last
  auto next = static_cast<std::uint32_t>(t.names.size());
  for (const text_json& each : json["added_tokens"]) {
    added_token a;
    a.content = text_field(each, "content", t);
    if (a.content.empty()) continue;
    a.special = flag_field(each, "special", false, t);
    a.whole_word = flag_field(each, "single_word", false, t);
    a.takes_left = flag_field(each, "lstrip", false, t);
    a.takes_right = flag_field(each, "rstrip", false, t);
    a.normalized = flag_field(each, "normalized", !a.special, t);
    a.in_text = flag_field(each, "in_text", true, t);
    const auto known = ids.find(a.content);
    a.id = known != ids.end() ? known->second : next;
    if (flag_field(json, "ids_as_given", false, t) && field_of(each, "id", t).is_number_unsigned())
      a.id = each["id"].get<std::uint32_t>();
    if (a.id >= text::impl::max_token_count) refuse(t.source + " has an added token whose id is too large.");
    next = std::max(next, a.id + 1);
    ids.emplace(a.content, a.id);
    t.names[a.id] = a.content;
    t.added.push_back(a);
  }
}

/// Takes pieces that SentencePiece never finds in a text out of what is looked up: controls, single bytes, the unknown
/// one.
void leave_out_pieces(const std::string& unknown_text, made_tokenizer& t) {
  const auto unknown = static_cast<std::uint32_t>(t.unknown);
  t.texts[unknown] = t.first_texts[unknown] = unknown_text;
  t.vocabulary.erase(t.names[unknown]);
  for (const added_token& a : t.added) t.vocabulary.erase(a.content);
  for (const auto& [id, name] : t.names)
    if (t.is_byte[id]) t.vocabulary.erase(name);
}

}

const text_json& field_of(const text_json& part, const char* name, const made_tokenizer& t) {
  if (!part.is_object() || part.count(name) == 0)
    refuse(t.source + " lacks '" + std::string(name) +
           "' where it is needed: it is no tokenizer.json of the library tokenizers.");
  return part[name];
}

std::string text_field(const text_json& part, const char* name, const made_tokenizer& t) {
  const text_json& field = field_of(part, name, t);
  if (!field.is_string()) refuse(t.source + ": '" + std::string(name) + "' is no text.");
  return field.get<std::string>();
}

bool is_missing(const text_json& part, const char* name) {
  return !part.is_object() || part.count(name) == 0 || part[name].is_null();
}

bool flag_field(const text_json& part, const char* name, bool otherwise, const made_tokenizer& t) {
  if (is_missing(part, name)) return otherwise;
  if (!part[name].is_boolean()) refuse(t.source + ": '" + std::string(name) + "' is neither true nor false.");
  return part[name].get<bool>();
}

std::string type_of(const text_json& part, const made_tokenizer& t) { return text_field(part, "type", t); }

int byte_of_visible(std::uint32_t code) {
  static const std::map<std::uint32_t, int> bytes = [] {
    std::map<std::uint32_t, int> all;
    for (int b = 0; b < 256; ++b) all[visible_of_byte(b)] = b;
    return all;
  }();
  const auto found = bytes.find(code);
  return found == bytes.end() ? -1 : found->second;
}

std::uint32_t visible_of_byte(int byte) {
  const auto is_visible = [](int b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
  if (is_visible(byte)) return static_cast<std::uint32_t>(byte);
  std::uint32_t hidden = 256;
  for (int b = 0; b < byte; ++b) hidden += !is_visible(b);
  return hidden;
}

std::string bytes_of_visible(const std::string& token, const std::string& source, bool* is_bytes) {
  std::string bytes;
  if (is_bytes != nullptr) *is_bytes = true;
  for (const std::uint32_t code : characters_of(token, source)) {
    const int b = byte_of_visible(code);
    if (b < 0) {
      if (is_bytes != nullptr) *is_bytes = false;
      return token;
    }
    bytes += static_cast<char>(b);
  }
  return bytes;
}

made_tokenizer tokenizer_of(const text_json& json, const std::string& source) {
  made_tokenizer t;
  t.source = "'" + source + "'";
  const text_json none;
  const auto part = [&](const char* name) -> const text_json& { return is_missing(json, name) ? none : json[name]; };
  add_normalizer(part("normalizer"), t);
  add_pre_tokenizer(part("pre_tokenizer"), t);
  add_model(field_of(json, "model", t), t);
  add_added_tokens(json, t);
  normalize_added(t);
  for (const added_token& a : t.added) t.names[a.id] = a.looked_for;
  if (!t.scores.empty()) t.scores.resize(t.token_count());
  add_decoder(part("decoder"), t);
  if (flag_field(json, "only_plain_pieces", false, t)) leave_out_pieces(text_field(json, "unknown_text", t), t);
  add_post_processor(part("post_processor"), t);
  if (!is_missing(part("truncation"), "max_length") && part("truncation")["max_length"].is_number_unsigned())
    t.max_length = part("truncation")["max_length"].get<std::uint32_t>();
  for (const auto* list : {&t.before, &t.after})
    for (const std::int32_t id : *list)
      if (static_cast<std::uint32_t>(id) >= t.token_count())
        refuse(t.source + ": the post_processor gives an id that there is not.");
  return t;
}

made_tokenizer read_tokenizer(const std::string& path, const std::string& pattern) {
  const std::vector<std::byte> bytes = read_file(path, "tokenizer", tokenizer_limits.bytes);
  const std::string text(text_of(bytes));
  if (!pattern.empty() && !ends_with(path, ".tiktoken"))
    misuse("--pattern is for ranks of tiktoken, whose names end with .tiktoken; '" + path +
           "' says its patterns itself.");
  if (ends_with(path, ".tiktoken")) return tokenizer_of(json_of_ranks(text, path, pattern), path);
  if (ends_with(path, ".txt")) return tokenizer_of(json_of_vocabulary(text, path), path);
  if (ends_with(path, ".model")) return tokenizer_of(json_of_sentence_piece(text, path), path);
  return tokenizer_of(parse_json<text_json>(text, path, tokenizer_limits, "it is no tokenizer.json."), path);
}

}
