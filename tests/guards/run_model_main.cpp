// SPDX-License-Identifier: MIT
// Runs a model with the one build of the engine that is linked (two_isa.cpp as run_scalar): run_model MODEL.nsk prints
// the hash of its outputs. Static memory, so that it runs on any target that has files.
#include <cstddef>
#include <cstdio>

extern "C" unsigned long long run_scalar(const void*, std::size_t, void*, std::size_t);

alignas(64) static unsigned char bytes[std::size_t{4} << 20], memory[std::size_t{16} << 20];

int main(int argc, char** argv) {
  std::FILE* const file = argc == 2 ? std::fopen(argv[1], "rb") : nullptr;
  if (!file) return 1;
  const std::size_t size = std::fread(bytes, 1, sizeof bytes, file);
  std::printf("%016llx\n", run_scalar(bytes, size, memory, sizeof memory));
}
