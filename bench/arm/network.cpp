// SPDX-License-Identifier: MIT
// Runs a network on random inputs: network MODEL.nsk TIMES. bench/arm_instructions.py counts its instructions.
#include <netsuke/all_ops.hpp>
#include <cstdio>
#include <cstdlib>

namespace {

alignas(64) std::byte file[std::size_t{160} << 20], memory[std::size_t{256} << 20];

/// Fills the bytes of inputs: floats in [-1, 1), others at random.
void fill(nsk::session<nsk::all_settings>& net) {
  unsigned state = 1;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  for (int i = 0; i < net.input_count(); ++i) {
    for (std::byte& x : net.input_bytes(i)) x = static_cast<std::byte>(next() >> 16);
    if (!net.input<float>(i)) continue;
    for (float& x : net.input<float>(i)) x = static_cast<float>(next()) / 8388608.0f - 1.0f;
  }
}

}

int main(int argc, char** argv) {
  std::FILE* const from = argc == 3 ? std::fopen(argv[1], "rb") : nullptr;
  if (from == nullptr) return std::puts("network MODEL.nsk TIMES"), 1;
  const std::size_t size = std::fread(file, 1, sizeof file, from);
  nsk::model model;
  if (const nsk::status s = nsk::open({file, size}, model); !s) return std::puts(s.message()), 1;
  nsk::session<nsk::all_settings> net(model, {memory, sizeof memory});
  if (!net) return std::puts(net.status().message()), 1;
  fill(net);
  for (int left = std::atoi(argv[2]); left > 0; --left) net.run();
}
