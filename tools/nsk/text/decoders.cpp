// SPDX-License-Identifier: MIT
#include "errors.hpp"
#include "text/import_text.hpp"

namespace nsk::tool {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// A token on its way through the decoders.
struct decoded_token {
  std::string text;
  bool first, is_byte = false;
};

/// What the decoders of a tokenizer do, one after the other.
class decoding {
 public:
  explicit decoding(made_tokenizer& t) : m_tokenizer(t) {}

  void add(const text_json& part) {
    if (type_of(part, m_tokenizer) != "Sequence") {
      m_parts.push_back(&part);
      return;
    }
    for (const text_json& each : field_of(part, "decoders", m_tokenizer)) add(each);
  }
  /// Looks at all decoders once; what they do to whole texts goes into the tokenizer.
  void prepare() {
    bool fused = false;
    for (const text_json* part : m_parts) {
      const std::string type = type_of(*part, m_tokenizer);
      if (type == "ByteLevel" && m_parts.size() == 1)
        m_tokenizer.flags |= text::impl::flag_lossy_bytes;
      else if (type == "Fuse")
        fused = true;
      else if (type == "Strip" && fused)
        add_strip(*part);
      else if (fused || (type != "WordPiece" && type != "Metaspace" && type != "Replace" && type != "ByteFallback"))
        refuse_part(type);
    }
  }
  decoded_token decode(const std::string& token, bool first) const {
    decoded_token d{token, first};
    for (const text_json* part : m_parts) {
      const std::string type = type_of(*part, m_tokenizer);
      if (type == "ByteLevel")
        d.text = bytes_of_visible(token, m_tokenizer.source);
      else if (type == "WordPiece")
        word_piece(*part, d);
      else if (type == "Metaspace")
        metaspace(*part, d);
      else if (type == "Replace")
        replace(*part, d);
      else if (type == "ByteFallback")
        byte_fallback(d);
    }
    if (m_parts.empty() && !first) d.text = " " + d.text;
    return d;
  }

 private:
  [[noreturn]] void refuse_part(const std::string& type) const {
    refuse(m_tokenizer.source + ": the decoder '" + type +
           "' is not supported here. Use ByteLevel alone, WordPiece, Metaspace, or Replace, "
           "ByteFallback, Fuse and Strip in this order.");
  }
  void add_strip(const text_json& part) {
    const text_json &start = field_of(part, "start", m_tokenizer), &stop = field_of(part, "stop", m_tokenizer);
    if (text_field(part, "content", m_tokenizer) != " " || !start.is_number_unsigned() || stop != 0 ||
        start.get<std::uint64_t>() > 1000)
      refuse_part("Strip");
    m_tokenizer.stripped_spaces += start.get<std::uint32_t>();
  }

  void word_piece(const text_json& part, decoded_token& d) const {
    const std::string prefix = is_missing(part, "prefix") ? "##" : text_field(part, "prefix", m_tokenizer);
    if (!d.first) d.text = d.text.compare(0, prefix.size(), prefix) == 0 ? d.text.substr(prefix.size()) : " " + d.text;
    if (!flag_field(part, "cleanup", true, m_tokenizer)) return;
    static constexpr const char* cleaned[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                                 {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                                 {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto& [from, to] : cleaned) replace_all(d.text, from, to);
  }
  void metaspace(const text_json& part, decoded_token& d) const {
    const std::string mark =
        is_missing(part, "replacement") ? utf8_of_character(0x2581) : text_field(part, "replacement", m_tokenizer);
    std::string scheme = flag_field(part, "add_prefix_space", true, m_tokenizer) ? "always" : "never";
    if (!is_missing(part, "prepend_scheme")) scheme = text_field(part, "prepend_scheme", m_tokenizer);
    if (mark.empty()) refuse_part("Metaspace");
    replace_all(d.text, mark, d.first && scheme != "never" ? "" : " ");
  }
  void replace(const text_json& part, decoded_token& d) const {
    const text_json& pattern = field_of(part, "pattern", m_tokenizer);
    const std::string from = pattern.is_object() && pattern.count("String") != 0
                                 ? text_field(pattern, "String", m_tokenizer)
                                 : std::string();
    if (from.empty()) refuse_part("Replace with a regular expression");
    replace_all(d.text, from, text_field(part, "content", m_tokenizer));
  }
  static void byte_fallback(decoded_token& d) {
    const auto digit = [](char c) {
      return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
    };
    if (d.text.size() != 6 || d.text.compare(0, 3, "<0x") != 0 || d.text[5] != '>' || digit(d.text[3]) < 0 ||
        digit(d.text[4]) < 0)
      return;
    d.text = std::string(1, static_cast<char>(digit(d.text[3]) * 16 + digit(d.text[4])));
    d.is_byte = true;
  }

  made_tokenizer& m_tokenizer;
  std::vector<const text_json*> m_parts;
};

}

void add_decoder(const text_json& part, made_tokenizer& t) {
  decoding decoders(t);
  if (!part.is_null()) decoders.add(part);
  decoders.prepare();
  t.texts.resize(t.token_count());
  t.first_texts.resize(t.token_count());
  t.is_byte.resize(t.token_count());
  for (const auto& [id, name] : t.names) {
    const decoded_token later = decoders.decode(name, false), first = decoders.decode(name, true);
    t.texts[id] = later.text, t.first_texts[id] = first.text;
    t.is_byte[id] = later.is_byte;
  }
}

}
