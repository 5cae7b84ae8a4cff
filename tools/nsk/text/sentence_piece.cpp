// SPDX-License-Identifier: MIT
#include <algorithm>
#include <unordered_map>

#include <protozero/pbf_reader.hpp>

#include "errors.hpp"
#include "text/import_text.hpp"

namespace nsk::tool {
namespace {

constexpr const char* mark = "\xe2\x96\x81";
constexpr const char* cure = " Convert it to tokenizer.json with the library transformers, and give that.";

enum piece_type : int { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct sentence_piece {
  std::string text;
  float score = 0;
  int type = normal;
};
/// What a .model file says.
struct sentence_model {
  std::vector<sentence_piece> pieces;
  int kind = 1;  ///< 1 Unigram, 2 BPE
  bool byte_fallback = false, dummy_prefix = true, single_spaces = true, escapes = true, treats_suffix = false;
  std::string charsmap, unknown_text = " \xe2\x81\x87 ";  ///< what unknown pieces decode to
};

sentence_piece read_piece(protozero::pbf_reader m) {
  sentence_piece p;
  while (m.next()) {
    switch (m.tag()) {
      case 1: p.text = m.get_string(); break;
      case 2: p.score = m.get_float(); break;
      case 3: p.type = m.get_enum(); break;
      default: m.skip();
    }
  }
  return p;
}

void read_trainer(protozero::pbf_reader m, sentence_model& s) {
  while (m.next()) {
    switch (m.tag()) {
      case 3: s.kind = m.get_enum(); break;
      case 24: s.treats_suffix = m.get_bool(); break;
      case 35: s.byte_fallback = m.get_bool(); break;
      case 44: s.unknown_text = m.get_string(); break;
      default: m.skip();
    }
  }
}

void read_normalizer(protozero::pbf_reader m, sentence_model& s) {
  while (m.next()) {
    switch (m.tag()) {
      case 2: s.charsmap = m.get_string(); break;
      case 3: s.dummy_prefix = m.get_bool(); break;
      case 4: s.single_spaces = m.get_bool(); break;
      case 5: s.escapes = m.get_bool(); break;
      default: m.skip();
    }
  }
}

sentence_model read_model(const std::string& bytes, const std::string& path) {
  sentence_model s;
  try {
    protozero::pbf_reader m(bytes);
    while (m.next()) {
      switch (m.tag()) {
        case 1: s.pieces.push_back(read_piece(m.get_message())); break;
        case 2: read_trainer(m.get_message(), s); break;
        case 3: read_normalizer(m.get_message(), s); break;
        default: m.skip();
      }
    }
  } catch (const protozero::exception&) {
    refuse("'" + path + "' is no model of SentencePiece, or damaged. Download it again.");
  }
  if (s.pieces.empty()) refuse("'" + path + "' has no pieces: it is no model of SentencePiece.");
  for (const sentence_piece& p : s.pieces) {
    if (p.type == user_defined || p.type == unused)
      refuse("'" + path + "' has the piece '" + p.text +
             "' that is user-defined or unused, which is not supported here." + cure);
    if (p.text.size() > 1024)
      refuse("'" + path + "' has a piece of more than 1024 bytes, which is not supported here." + cure);
    characters_of(p.text, "'" + path + "': a piece");
  }
  if (s.kind > 2 || !s.escapes || s.treats_suffix)
    refuse("'" + path + "' is neither Unigram nor BPE with spaces in front of words." + cure);
  return s;
}

std::string base64_of(const std::string& bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : bytes) {
    held = held << 8 | static_cast<std::uint8_t>(c);
    for (bits += 8; bits >= 6; bits -= 6) text += digits[held >> (bits - 6) & 63];
  }
  if (bits != 0) text += digits[held << (6 - bits) & 63];
  return text;
}

/// Merges of a model whose pieces have scores: a piece of a higher score is merged first, of all ways to cut it in two.
text_json merges_of(const sentence_model& s) {
  std::unordered_map<std::string, float> scores;
  for (const sentence_piece& p : s.pieces)
    if (p.type == normal) scores[p.text] = p.score;
  std::vector<const sentence_piece*> order;
  for (const sentence_piece& p : s.pieces)
    if (p.type == normal) order.push_back(&p);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->score > b->score; });
  text_json merges = text_json::array();
  for (const sentence_piece* p : order)
    for (std::size_t cut = 1; cut < p->text.size(); ++cut)
      if (scores.count(p->text.substr(0, cut)) != 0 && scores.count(p->text.substr(cut)) != 0)
        merges.push_back({p->text.substr(0, cut), p->text.substr(cut)});
  return merges;
}

/// Whether a piece has a mark of a space behind its start: then texts cannot be cut at spaces.
bool spans_words(const sentence_model& s) {
  return std::any_of(s.pieces.begin(), s.pieces.end(), [](const sentence_piece& p) {
    return p.type == normal && p.text.find(mark, 1) != std::string::npos;
  });
}

text_json model_json(const sentence_model& s, const std::string& path) {
  const auto is_unknown = [](const sentence_piece& p) { return p.type == unknown; };
  const auto found = std::find_if(s.pieces.begin(), s.pieces.end(), is_unknown);
  if (found == s.pieces.end()) refuse("'" + path + "' has no unknown piece." + cure);
  text_json vocab = s.kind == 1 ? text_json::array() : text_json::object();
  for (std::size_t i = 0; i < s.pieces.size(); ++i) {
    if (s.kind == 1)
      vocab.push_back({s.pieces[i].text, static_cast<double>(s.pieces[i].score)});
    else
      vocab[s.pieces[i].text] = i;
  }
  if (s.kind == 1)
    return {{"type", "Unigram"},
            {"vocab", vocab},
            {"unk_id", static_cast<std::size_t>(found - s.pieces.begin())},
            {"byte_fallback", s.byte_fallback},
            {"single_scores", true}};
  return {{"type", "BPE"},          {"vocab", vocab},
          {"merges", merges_of(s)}, {"unk_token", found->text},
          {"fuse_unk", true},       {"byte_fallback", s.byte_fallback}};
}

}

text_json json_of_sentence_piece(const std::string& bytes, const std::string& path) {
  const sentence_model s = read_model(bytes, path);
  text_json normalizers = text_json::array(), added = text_json::array();
  normalizers.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", base64_of(s.charsmap)}, {"longest", true}});
  if (s.single_spaces) {
    normalizers.push_back({{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}});
    normalizers.push_back({{"type", "StripSpaces"}});
  }
  if (s.dummy_prefix) normalizers.push_back({{"type", "Prepend"}, {"prepend", " "}});
  for (std::size_t i = 0; i < s.pieces.size(); ++i)
    if (s.pieces[i].type == control)
      added.push_back(
          {{"content", s.pieces[i].text}, {"id", i}, {"special", true}, {"normalized", false}, {"in_text", false}});
  return {{"added_tokens", added},
          {"only_plain_pieces", true},
          {"unknown_text", s.unknown_text},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", normalizers}}},
          {"pre_tokenizer",
           {{"type", "Metaspace"}, {"replacement", mark}, {"prepend_scheme", "never"}, {"split", !spans_words(s)}}},
          {"decoder",
           {{"type", "Sequence"},
            {"decoders",
             {{{"type", "Replace"}, {"pattern", {{"String", mark}}}, {"content", " "}},
              {{"type", "ByteFallback"}},
              {{"type", "Fuse"}},
              {{"type", "Strip"}, {"content", " "}, {"start", s.dummy_prefix ? 1u : 0u}, {"stop", 0}}}}}},
          {"model", model_json(s, path)}};
}

}
