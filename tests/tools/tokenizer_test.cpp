// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include <netsuke/text/decoder.hpp>

#include "errors.hpp"
#include "text/import_text.hpp"

namespace {

using namespace nsk;
using tool::text_json;
using ids = std::vector<std::int32_t>;

/// A tokenizer made of JSON, with its file.
struct made {
  explicit made(const text_json& json) {
    tool::made_tokenizer t = tool::tokenizer_of(json, "test.json");
    file = tool::write_text(t);
    storage.resize(file.size() / 8 + 4);
    auto* p = reinterpret_cast<std::byte*>(storage.data());
    p += reinterpret_cast<std::uintptr_t>(p) % 16;
    std::memcpy(p, file.data(), file.size());
    REQUIRE(text::open({p, file.size()}, words));
  }
  ids encode(const std::string& line, text::around with = text::around::as_the_model_wants) const {
    std::vector<std::byte> memory(words.memory_bytes(line.size()));
    std::vector<std::int32_t> to(100 + 4 * line.size());
    const text::encoded e = words.encode(line, to, memory, with);
    REQUIRE(e);
    return ids(e.ids().begin(), e.ids().end());
  }
  std::string decode(const ids& list, text::special_tokens specials = text::special_tokens::left_out) const {
    std::string to(1000, '\0');
    const text::decoded d = text::decode(words, list, {to.data(), to.size()}, specials);
    REQUIRE(d);
    return to.substr(0, d.text().size());
  }
  std::vector<std::byte> file;
  std::vector<std::uint64_t> storage;
  text::tokenizer words;
};

const char* const word_piece = R"({"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab":
  {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "open": 3, "the": 4, "gate": 5, "##s": 6, "un": 7, "##able": 8, "!": 9, "##a": 10}},
  "normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece"},
  "added_tokens": [{"content": "[UNK]", "special": true}, {"content": "[CLS]", "special": true}, {"content": "[SEP]", "special": true}],
  "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]}})";

/// Byte pairs of characters over a, b, c with tokens for bytes.
text_json byte_pairs() {
  text_json vocab = {{"<unk>", 0}, {"a", 257}, {"b", 258}, {"c", 259}, {"ab", 260}, {"bc", 261}, {"abc", 262}};
  for (int b = 0; b < 256; ++b) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(b));
    vocab[name] = b + 1;
  }
  const text_json json = {
      {"model",
       {{"type", "BPE"},
        {"vocab", vocab},
        {"merges", {"b c", "a b", "a bc"}},
        {"unk_token", "<unk>"},
        {"byte_fallback", true}}},
      {"decoder",
       text_json::parse(R"({"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]})")}};
  return text_json::parse(json.dump());  // numbers of ids are unsigned, as in files
}

std::string refusal(const text_json& json) {
  try {
    tool::made_tokenizer t = tool::tokenizer_of(json, "test.json");
    tool::write_text(t);
  } catch (const tool::error& e) {
    return e.what();
  }
  return "";
}
std::string refusal(const char* part, const char* json) {
  text_json whole = text_json::parse(word_piece);
  whole[part] = text_json::parse(json);
  return refusal(whole);
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}

TEST_CASE("WordPiece: longest tokens, whole words that have none, the template, and back") {
  const made t(text_json::parse(word_piece));
  CHECK(t.encode("Open the GATES!") == ids{1, 3, 4, 5, 6, 9, 2});
  CHECK(t.encode("unable", text::around::nothing) == ids{7, 8});
  CHECK(t.encode("unx the", text::around::nothing) == ids{0, 4});
  CHECK(t.encode("") == ids{1, 2});
  CHECK(t.encode("g\xc3\xa4te", text::around::nothing) == ids{5});  // an umlaut loses its marks
  CHECK(t.encode(std::string(101, 'a'), text::around::nothing) == ids{0});
  CHECK(t.encode("the[SEP]gate", text::around::nothing) == ids{4, 2, 5});
  CHECK(t.decode({1, 3, 4, 5, 6, 9, 2}) == "open the gates!");
  CHECK(t.decode({1, 3}, text::special_tokens::shown) == "[CLS] open");
  CHECK(t.words.find_added("[SEP]") == 2);
  CHECK(t.words.find_added("[SEP") == -1);
  CHECK(t.words.is_special(2));
  CHECK(!t.words.is_special(3));
}

TEST_CASE("byte pairs: merges by rank, bytes for what has no token") {
  const made t(byte_pairs());
  CHECK(t.encode("abc") == ids{262});
  CHECK(t.encode("ab") == ids{260});
  CHECK(t.encode("abab") == ids{260, 260});
  CHECK(t.encode("\xc3\xa9") == ids{0xc3 + 1, 0xa9 + 1});
  CHECK(t.encode("a\xff") == ids{257, 0xef + 1, 0xbf + 1, 0xbd + 1});
  CHECK(t.decode({0xc3 + 1, 0xa9 + 1, 257}) ==
        "\xc3\xa9"
        "a");
  CHECK(t.decode({0xc3 + 1, 257, 0xc3 + 1, 0xc3 + 1}) ==
        "\xef\xbf\xbd"
        "a\xef\xbf\xbd\xef\xbf\xbd");
  std::string word, twice;
  ids wanted;
  for (int i = 0; i < 3000; ++i) word += "abcab", wanted.insert(wanted.end(), {262, 260});
  CHECK(t.encode(word) == wanted);  // long words take another way
}

TEST_CASE("a stream gives whole characters, as soon as they are there") {
  const made t(byte_pairs());
  text::stream_decoder stream(t.words);
  char to[16];
  const auto next = [&](std::int32_t id) {
    const text::decoded d = stream.put(id, to);
    REQUIRE(d);
    return std::string(d.text().begin(), d.text().end());
  };
  CHECK(next(262) == "abc");
  CHECK(next(0xe4 + 1) == "");
  CHECK(next(0xbd + 1) == "");
  CHECK(next(0xa0 + 1) == "\xe4\xbd\xa0");
  CHECK(next(0xe4 + 1) == "");
  const text::decoded end = stream.finish(to);
  CHECK(std::string(end.text().begin(), end.text().end()) == "\xef\xbf\xbd");
  CHECK(stream.put(-1, to).status().code() == status_code::no_such_token);
  CHECK(stream.put(100000, to).status().code() == status_code::no_such_token);
}

TEST_CASE("memory and ids that are too few are refused, and say how many there would be") {
  const made t(byte_pairs());
  const std::string line(1000, 'a');
  std::vector<std::int32_t> to(1000);
  std::vector<std::byte> memory(t.words.memory_bytes(line.size()));
  CHECK(t.words.encode(line, {to.data(), 10}, memory).status().code() == status_code::too_many_ids);
  CHECK(t.words.encode(line, {to.data(), 10}, memory).count() == 1000);
  CHECK(t.words.encode(line, {to.data(), 10}, memory).ids().size() == 10);
  CHECK(t.words.encode("abcabcabc", to, {}).count() == 3);  // short words need none
  CHECK(t.words.encode(std::string(1000, 'b') + "\xff", to, {}).status().code() == status_code::text_memory_too_small);
  const text::tokenizer closed;
  CHECK(closed.encode("a", to, memory).status().code() == status_code::no_tokenizer);
  CHECK(text::decode(closed, to, {}).status().code() == status_code::no_tokenizer);
}

TEST_CASE("damaged files are refused, and leave the tokenizer as it was") {
  made t(text_json::parse(word_piece));
  auto* p = reinterpret_cast<std::byte*>(t.storage.data());
  p += reinterpret_cast<std::uintptr_t>(p) % 16;
  text::tokenizer other;
  for (std::size_t size = 0; size < 400; ++size) CHECK(!text::open({p, size}, other));
  CHECK(!other);
  CHECK(text::open({p + 1, t.file.size() - 1}, other).code() == status_code::not_a_tokenizer);
  p[4] = std::byte{'X'};
  CHECK(text::open({p, t.file.size()}, other).code() == status_code::not_a_tokenizer);
}

TEST_CASE("what would give other ids is refused with what to do") {
  CHECK(has(refusal("normalizer", R"({"type": "ByteLevel"})"),
            "the normalizer 'ByteLevel' is not supported. Use one of those"));
  CHECK(has(refusal("pre_tokenizer", R"({"type": "UnicodeScripts"})"),
            "the pre_tokenizer 'UnicodeScripts' is not supported. Use"));
  CHECK(has(refusal("pre_tokenizer", R"({"type": "ByteLevel"})"),
            "ByteLevel with the model 'WordPiece' is not supported. Use BPE."));
  CHECK(has(refusal("decoder", R"({"type": "CTC"})"), "the decoder 'CTC' is not supported here. Use"));
  CHECK(has(refusal("post_processor", R"({"type": "Own"})"),
            "the post_processor 'Own' is not supported. Use TemplateProcessing."));
  CHECK(has(refusal("model", R"({"type": "Own", "vocab": {}})"), "the model 'Own' is not supported. Use BPE, Unigram"));
  const auto pattern = [](const char* regex) {
    return refusal(
        "pre_tokenizer",
        (std::string(R"({"type": "Split", "behavior": "Isolated", "pattern": {"Regex": ")") + regex + "\"}}").c_str());
  };
  CHECK(has(pattern("a+?"), "has a lazy repetition"));
  CHECK(has(pattern("(?<=a)b"), "has a group of an unsupported kind"));
  CHECK(has(pattern("\\\\p{Han}+"), "has the property 'Han', of which only general categories are known"));
  CHECK(has(pattern("a*"), "can match nothing at all"));
  CHECK(has(pattern("(ab)+"), "repeats a group without a limit"));
  CHECK(has(pattern("^a"), "has a '^' that is not supported"));
  CHECK(has(pattern("a)"), "has a ')' too many"));
  CHECK(has(pattern("[a&&b]"), "intersects classes"));
  text_json random = byte_pairs();
  random["model"]["dropout"] = 0.1;
  CHECK(has(refusal(random), "leaves out merges at random (dropout). Set dropout to null."));
  text_json missing = byte_pairs();
  missing["model"]["merges"].push_back("c c");
  CHECK(has(refusal(missing), "a merge needs the token 'cc', which is not in the vocab"));
}

TEST_CASE("ranks of tiktoken and BERT's vocabulary become the same tables") {
  std::string ranks;
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int b = 0; b < 256; ++b)
    ranks += std::string{digits[b >> 2], digits[(b & 3) << 4]} + "== " + std::to_string(b) + "\n";
  ranks += "YWI= 256\nYWJj 257\n";  // ab, abc
  const made t(tool::json_of_ranks(ranks, "test.tiktoken", "gpt2"));
  CHECK(t.encode("abc ab") == ids{257, ' ', 256});
  CHECK(t.encode("<|endoftext|>") == ids{50256});
  CHECK(t.decode({257, 32, 256}) == "abc ab");
  const made bert(tool::json_of_vocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nopen\n##ed\n", "vocab.txt"));
  CHECK(bert.encode("OPENED [MASK]") == ids{2, 5, 6, 4, 3});
}
