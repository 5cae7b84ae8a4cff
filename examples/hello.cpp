// SPDX-License-Identifier: MIT
// hello MODEL.nsk: runs a network once on zeros and prints the first numbers of its first output.
#include <netsuke/netsuke.hpp>
#include "support/file.hpp"

int main(int argc, char** argv) {
  const example::memory_block file = example::read_file(argc > 1 ? argv[1] : "model.nsk");
  nsk::model model;
  if (nsk::status s = nsk::open(file, model); !s) example::fail(s.message());
  const example::memory_block memory(model.arena_bytes());
  nsk::session<> net(model, memory);
  for (float& x : net.input<float>(0)) x = 0;
  net.run();
  for (int i = 0; i < 4; ++i) std::printf("%g\n", net.output<float>(0)[i]);
}
