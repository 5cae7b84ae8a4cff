// SPDX-License-Identifier: MIT
// Time for an id, to encode and to decode, and how many bytes of memory a text needs:
//   text WORDS.nskt TEXT.txt
#include <netsuke/text.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

/// Seconds of the fastest of five calls.
template <class Work>
double fastest(Work work) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: text WORDS.nskt TEXT.txt"), 1;
  std::ifstream file(argv[1], std::ios::binary), text(argv[2]);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::max_align_t> words_file(bytes.size() / sizeof(std::max_align_t) + 1);
  std::memcpy(words_file.data(), bytes.data(), bytes.size());
  nsk::text::tokenizer words;
  nsk::status opened;
  const double open_seconds = fastest([&] {
    opened = nsk::text::open({reinterpret_cast<std::byte*>(words_file.data()), bytes.size()}, words);
  });
  if (!opened) return std::puts(opened.message()), 1;

  std::vector<std::string> lines;
  std::size_t longest = 0, read = 0;
  for (std::string line; std::getline(text, line); read += line.size(), longest = std::max(longest, line.size()))
    lines.push_back(line);
  std::vector<std::byte> memory(words.memory_bytes(longest));
  std::vector<std::vector<std::int32_t>> ids(lines.size(), std::vector<std::int32_t>(4 * longest + 64));
  std::size_t count = 0;
  bool good = true;
  const double seconds = fastest([&] {
    count = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const nsk::text::encoded e = words.encode(lines[i], ids[0], memory);
      good = good && e;
      count += e.count();
    }
  });
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t size = words.encode(lines[i], ids[i], memory).count();
    ids[i].resize(std::min(size, ids[i].size()));
  }
  std::vector<char> to(64 * (longest + 64));
  const double decode_seconds = fastest([&] {
    for (const std::vector<std::int32_t>& line : ids)
      good = good && nsk::text::decode(words, line, {to.data(), to.size()});
  });
  if (!good || count == 0) return std::puts("a line could not be encoded or decoded"), 1;
  const auto per_id = [&](double s) { return s * 1e9 / static_cast<double>(count); };
  std::printf("%s: open %.2f ms; %zu lines, %zu bytes, %zu ids; encode %.1f ns an id, decode %.1f ns\n", argv[1],
              open_seconds * 1e3, lines.size(), read, count, per_id(seconds), per_id(decode_seconds));
  return 0;
}
