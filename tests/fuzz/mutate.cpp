// SPDX-License-Identifier: MIT
// Replays a fuzzer's corpus, then damages its files by the fuzzer's own mutator, without libFuzzer and the same way
// every time.
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
  for (long n = 0; n < count; ++n) {
    std::vector<std::uint8_t> file = files[random.below(files.size())];
    std::size_t size = file.size();
    file.resize(max_bytes > size ? max_bytes : size);
    for (std::size_t k = 1 + random.below(3); k-- > 0;)
      size = LLVMFuzzerCustomMutator(file.data(), size, file.size(), static_cast<unsigned>(random()));
    if (!last.empty())
      std::ofstream(last, std::ios::binary)
          .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(size));
    LLVMFuzzerTestOneInput(file.data(), size);
  }
  std::printf("%zu files replayed, %ld damaged ones refused or converted\n", files.size(), count);
  return 0;
}
