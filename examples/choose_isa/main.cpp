// SPDX-License-Identifier: MIT
// choose_isa MODEL.nsk [NAME]: runs a network on the best instruction set of this machine, or on the one that is named,
// and prints which one and the first numbers of its first output. The numbers are the same whatever is chosen.
#include <cstdio>
#include <cstring>
#include "../support/file.hpp"
#include "network.hpp"

namespace {

using choose_isa::network;

/// Best first.
const network* const networks[] = {
#if defined(__x86_64__) || defined(_M_X64)
    &choose_isa::avx512_network,
    &choose_isa::avx2_network,
#elif defined(__aarch64__) || defined(_M_ARM64)
    &choose_isa::neon_network,
#endif
    &choose_isa::scalar_network,
};

const network& choose(const char* name) {
  for (const network* n : networks) {
    if (name != nullptr && std::strcmp(name, n->name) != 0) continue;
    if (n->usable()) return *n;
  }
  example::fail(name == nullptr ? "no build of the network runs here" : std::string("not on this machine: ") + name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) example::fail("usage: choose_isa MODEL.nsk [scalar|avx2|avx512|neon]");
  const network& n = choose(argc > 2 ? argv[2] : nullptr);
  const example::memory_block file = example::read_file(argv[1]);
  std::size_t bytes = 0, count = 4;
  if (const char* problem = n.ask_memory(file.data(), file.size(), bytes)) example::fail(problem);
  const example::memory_block memory(bytes);
  float result[4];
  if (const char* problem = n.run(file.data(), file.size(), memory.data(), memory.size(), 0.5f, result, count))
    example::fail(problem);
  std::printf("%s\n", n.name);
  for (std::size_t i = 0; i < count; ++i) std::printf("%a\n", static_cast<double>(result[i]));
}
