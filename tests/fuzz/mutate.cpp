// SPDX-License-Identifier: MIT
// Replays a fuzzer's corpus, then damages its files by the fuzzer's own mutator, without libFuzzer and the same way
// every time. What still converts is damaged further: damage adds up where it leaves something to convert.
//   mutate [--count N] [--seed S] [--last FILE] FILE...
// --last writes every damaged file before it is tried, so that the one that ended the program is there.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>
#include "random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t maximum,
                                               unsigned seed);

int main(int argc, char** argv) {
  constexpr std::size_t max_bytes = 1 << 16;
  constexpr long max_kept = 512;
  long count = 0;
  std::string last;
  fuzz::generator random{1};
  std::vector<std::vector<std::uint8_t>> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--count" && i + 1 < argc) {
      count = std::atol(argv[++i]);
    } else if (argument == "--seed" && i + 1 < argc) {
      random.state = static_cast<std::uint64_t>(std::atoll(argv[++i]));
    } else if (argument == "--last" && i + 1 < argc) {
      last = argv[++i];
    } else {
      std::ifstream in(argument, std::ios::binary);
      if (!in) {
        std::fprintf(stderr, "mutate: cannot read %s\n", argv[i]);
        return 2;
      }
      files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
  }
  if (files.empty()) return 2;
  for (const auto& file : files) LLVMFuzzerTestOneInput(file.data(), file.size());
  std::vector<std::vector<std::uint8_t>> kept;  // what converted of late
  long converted = 0;
  for (long n = 0; n < count; ++n) {
    const auto& from = !kept.empty() && random.one_in(2) ? kept : files;
    std::vector<std::uint8_t> file = from[random.below(from.size())];
    std::size_t size = file.size();
    file.resize(max_bytes > size ? max_bytes : size);
    for (std::size_t k = random.one_in(4) ? 3 : 1; k-- > 0;)
      size = LLVMFuzzerCustomMutator(file.data(), size, file.size(), static_cast<unsigned>(random()));
    if (!last.empty())
      std::ofstream(last, std::ios::binary)
          .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(size));
    if (LLVMFuzzerTestOneInput(file.data(), size) != 0) continue;
    file.resize(size);
    if (++converted <= max_kept)
      kept.push_back(std::move(file));
    else
      kept[random.below(kept.size())] = std::move(file);
  }
  std::printf("%zu files replayed, %ld damaged ones converted, %ld refused\n", files.size(), converted,
              count - converted);
  return 0;
}
