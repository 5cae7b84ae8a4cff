// SPDX-License-Identifier: MIT
// Runs a model with all builds in one program: two_isa MODEL.nsk prints the hash of each.
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

extern "C" unsigned long long run_avx2(const void*, std::size_t, void*, std::size_t);
extern "C" unsigned long long run_scalar(const void*, std::size_t, void*, std::size_t);
extern "C" unsigned long long run_avx512(const void*, std::size_t, void*, std::size_t);

int main(int argc, char** argv) {
  constexpr std::size_t maximum = std::size_t{64} << 20;
  void* const bytes = std::aligned_alloc(64, maximum);
  void* const memory = std::aligned_alloc(64, maximum);
  std::FILE* const file = argc == 2 ? std::fopen(argv[1], "rb") : nullptr;
  if (!file || !bytes || !memory) return 1;
  const std::size_t size = std::fread(bytes, 1, maximum, file);
  for (const auto run : {run_avx2, run_scalar, run_avx512}) std::printf("%016llx\n", run(bytes, size, memory, maximum));
}
