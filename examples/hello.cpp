// SPDX-License-Identifier: MIT
// hello MODEL.nsk: runs a network once on zeros and prints the first numbers of its first output.
#include <algorithm>
#include <cstring>
#include <netsuke/all_ops.hpp>
#include "support/file.hpp"

int main(int argc, char** argv) {
  const example::memory_block file = example::read_file(argc > 1 ? argv[1] : "model.nsk");
  nsk::model model;
  if (nsk::status s = nsk::open(file, model); !s) example::fail(s.message());
  const example::memory_block memory(model.required_bytes());
  nsk::session<nsk::all_settings> net(model, memory);
  if (!net) example::fail(net.status().message());
  for (int i = 0; i < net.input_count(); ++i) std::memset(net.input_bytes(i).data(), 0, net.input_bytes(i).size());
  net.run();
  nsk::span<const float> numbers;
  if (nsk::status s = net.output(0, numbers); !s) example::fail(s.message());
  for (std::size_t i = 0; i < std::min<std::size_t>(4, numbers.size()); ++i)
    std::printf("%g\n", static_cast<double>(numbers[i]));
}
