// SPDX-License-Identifier: MIT
// The smallest program that runs one model: NSK_SETTINGS names the type that `nsk inspect --settings` printed, whose
// header is included on the command line.
#include <cstdio>
#include <cstdlib>
#include <netsuke/netsuke.hpp>

int main(int argc, char** argv) {
  constexpr std::size_t maximum = std::size_t{64} << 20;
  auto* const bytes = static_cast<std::byte*>(std::aligned_alloc(64, maximum));
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(64, maximum));
  std::FILE* const file = argc == 2 ? std::fopen(argv[1], "rb") : nullptr;
  if (!file || !bytes || !memory) return 1;
  nsk::model m;
  if (const nsk::status s = nsk::open<NSK_SETTINGS>({bytes, std::fread(bytes, 1, maximum, file)}, m); !s) return 2;
  nsk::session<NSK_SETTINGS> net(m, {memory, maximum});
  if (!net) return 3;
  net.run();
  std::printf("%g\n", static_cast<double>(net.output<float>(0)[0]));
}
