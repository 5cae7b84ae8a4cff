// SPDX-License-Identifier: MIT
#pragma once
/// tokenizer.json, the format of Hugging Face's `tokenizers`, to what a .nskt file holds. Other formats are made into
/// its JSON first. Every part that would give other ids is refused.
#include <nlohmann/json.hpp>
#include <string>

#include "text/text_file.hpp"

namespace nsk::tool {

using text_json = nlohmann::json;

/// Reads a tokenizer of any known format; `path` tells by its name which. `pattern` names the pattern of tiktoken
/// ranks.
made_tokenizer read_tokenizer(const std::string& path, const std::string& pattern);

/// The tokenizer that a JSON describes.
made_tokenizer tokenizer_of(const text_json& json, const std::string& source);

/// Steps of normalisation and of splitting. Both return whether a part maps bytes to characters.
void add_normalizer(const text_json& part, made_tokenizer& t);
void add_pre_tokenizer(const text_json& part, made_tokenizer& t);
/// Vocabulary and merges.
void add_model(const text_json& model, made_tokenizer& t);
/// What ids decode to.
void add_decoder(const text_json& part, made_tokenizer& t);

/// Fields of JSON. Messages name the part and the field.
const text_json& field_of(const text_json& part, const char* name, const made_tokenizer& t);
std::string text_field(const text_json& part, const char* name, const made_tokenizer& t);
bool flag_field(const text_json& part, const char* name, bool otherwise, const made_tokenizer& t);
std::string type_of(const text_json& part, const made_tokenizer& t);
/// Whether a field is missing or null.
bool is_missing(const text_json& part, const char* name);

/// The byte that a character of GPT-2's alphabet of visible characters stands for, -1 for others; and the other way.
int byte_of_visible(std::uint32_t code);
std::uint32_t visible_of_byte(int byte);
/// The bytes of a token of a byte-level vocabulary; its own UTF-8 where it has a character that stands for no byte.
std::string bytes_of_visible(const std::string& token, const std::string& source, bool* is_bytes = nullptr);

/// Vocabularies of other formats as the JSON of tokenizer.json.
text_json json_of_vocabulary(const std::string& text, const std::string& path);
text_json json_of_ranks(const std::string& text, const std::string& path, const std::string& pattern);
text_json json_of_sentence_piece(const std::string& bytes, const std::string& path);

}
