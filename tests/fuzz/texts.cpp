// SPDX-License-Identifier: MIT
// Damages tokenizers: each file is changed at a few places, opened, and where that succeeds asked for ids of random
// texts and texts of random ids, in blocks of memory that a sanitizer watches. texts.py makes the files.
//   texts [--count N] [--seed S] FILE.nskt...
#include <netsuke/text/decoder.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "random.hpp"

namespace {

using bytes = std::vector<std::byte>;

/// A block of exactly so many bytes, at a multiple of 16.
class block {
 public:
  explicit block(std::size_t size) : m_size(size), m_data(static_cast<std::byte*>(std::malloc(size == 0 ? 1 : size))) {}
  ~block() { std::free(m_data); }
  block(const block&) = delete;
  block& operator=(const block&) = delete;
  nsk::span<std::byte> all() const { return {m_data, m_size}; }

 private:
  std::size_t m_size;
  std::byte* m_data;
};

bytes read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  bytes b(text.size());
  std::memcpy(b.data(), text.data(), text.size());
  return b;
}

/// Changes a number of 1, 2, 4 or 8 bytes; half of the time near the start, where the table is.
void damage(fuzz::generator& random, bytes& b) {
  const std::size_t width = std::size_t{1} << random.below(4),
                    limit = random.one_in(2) ? b.size() : std::min<std::size_t>(b.size(), 1024);
  if (limit < width) return;
  const std::size_t at = random.below(limit - width + 1) / width * width;
  std::uint64_t number = 0;
  std::memcpy(&number, b.data() + at, width);
  if (random.one_in(3))
    number = random();
  else if (random.one_in(3))
    number ^= std::uint64_t{1} << random.below(8 * width);
  else
    fuzz::mutate(random, number);
  std::memcpy(b.data() + at, &number, width);
}

/// A text of words that vocabularies hold, of characters of all kinds, and of bytes that are none.
std::string text_of(fuzz::generator& random) {
  static const char* parts[] = {"the ",
                                " gate",
                                "guard",
                                "<s>",
                                "<mask>",
                                "[MASK]",
                                "\xe2\x96\x81",
                                "\xc3\xa9",
                                "e\xcc\x81\xcc\xa3",
                                "12345",
                                "  \n\t ",
                                "\xe4\xbd\xa0\xe5\xa5\xbd",
                                "\xea\xb0\x81",
                                "\xf0\x9f\x98\x80\xe2\x80\x8d",
                                "\xff",
                                "\xe2\x82",
                                "don't",
                                "A",
                                "!?",
                                "<|im_start|>",
                                "\xe1\x84\x80\xe1\x85\xa1",
                                "\xcd\x84",
                                "\xef\xbd\x86",
                                "##a",
                                "\xed\xa0\x80"};
  std::string text;
  for (std::size_t n = random.below(24); n != 0; --n) {
    const std::string part =
        random.one_in(6) ? std::string(1, static_cast<char>(random())) : parts[random.below(std::size(parts))];
    for (std::size_t times = random.one_in(20) ? random.below(120) : 1; times != 0; --times) text += part;
  }
  return text;
}

/// Encodes and decodes with an open tokenizer; returns a hash of what came out.
std::uint64_t use(const nsk::text::tokenizer& t, fuzz::generator& random) {
  const std::string line = text_of(random);
  const block text(line.size()), ids(4 * random.below(2 * line.size() + 8));
  std::memcpy(text.all().data(), line.data(), line.size());
  const std::size_t enough = t.memory_bytes(line.size());
  const block memory(random.one_in(4) ? random.below(line.size() * 64 + 64) : std::min<std::size_t>(enough, 1 << 20));
  const nsk::text::encoded e =
      t.encode({reinterpret_cast<char*>(text.all().data()), line.size()},
               {reinterpret_cast<std::int32_t*>(ids.all().data()), ids.all().size() / 4}, memory.all());
  if (!e && e.status().code() == nsk::status_code::no_tokenizer) std::abort();
  std::vector<std::int32_t> list(e.ids().begin(), e.ids().end());
  for (std::size_t n = random.below(4); n != 0; --n)
    list.push_back(static_cast<std::int32_t>(random.below(t.token_count() + 2)));
  const block out(random.below(16 * list.size() + 16));
  const nsk::span<char> to(reinterpret_cast<char*>(out.all().data()), out.all().size());
  const auto specials = random.one_in(2) ? nsk::text::special_tokens::shown : nsk::text::special_tokens::left_out;
  std::uint64_t hash = e.count() + nsk::text::decode(t, list, to, specials).text().size();
  nsk::text::stream_decoder stream(t, specials);
  for (const std::int32_t id : list) hash = hash * 31 + stream.put(id, to).text().size();
  return hash * 31 + stream.finish(to).text().size() + (t.find_added("<s>") >= 0);
}

}

int main(int argc, char** argv) {
  std::size_t count = 2000, opened = 0;
  fuzz::generator random{1};
  std::vector<bytes> files;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--count") == 0 && i + 1 < argc)
      count = std::strtoull(argv[++i], nullptr, 10);
    else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
      random.state = std::strtoull(argv[++i], nullptr, 10);
    else
      files.push_back(read(argv[i]));
  }
  if (files.empty()) return std::puts("texts: give files that nsk tokenizer wrote"), 2;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bytes b = files[i % files.size()];
    for (std::size_t n = random.below(4); n != 0; --n) damage(random, b);
    if (random.one_in(50)) b.resize(random.below(b.size() + 1));
    const block file(b.size());
    if (!b.empty()) std::memcpy(file.all().data(), b.data(), b.size());
    nsk::text::tokenizer t;
    if (!nsk::text::open(file.all(), t)) continue;
    ++opened;
    hash = hash * 31 + use(t, random);
  }
  std::printf("%zu files, %zu opened, hash %016llx\n", count, opened, static_cast<unsigned long long>(hash));
  return opened == 0;
}
