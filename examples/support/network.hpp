// SPDX-License-Identifier: MIT
#pragma once
/// An opened model with its memory, and what examples compare: the bits of its outputs.
#include <cstring>
#include <string>
#include <vector>
#include <netsuke/netsuke.hpp>
#include <netsuke/prepare.hpp>
#include "support/must.hpp"

namespace example {

/// A model and memory for some lanes.
struct network {
  memory_block file, memory;
  std::size_t stored_bytes;  ///< of the file as it is on disk
  nsk::model model;

  explicit network(const std::string& path, int lanes = 1) : file(read_file(path)), stored_bytes(file.size()) {
    if (const std::size_t bytes = nsk::required_bytes(file)) {  // a small file
      memory_block expanded(bytes);
      must(nsk::prepare(file, expanded));
      file = std::move(expanded);
    }
    must(nsk::open(file, model));
    memory = memory_block(model.required_bytes(lanes));
  }
};

/// Writes numbers in [0, 1) into the first input, others for each `seed`. Ends the program where that takes no floats.
inline void fill_input(nsk::session<>& net, unsigned seed = 1) {
  nsk::span<float> input;
  must(net.input(0, input), net.variant());
  for (float& x : input) {
    seed = seed * 1664525U + 1013904223U;
    x = static_cast<float>(seed >> 8) / 16777216.0F;
  }
}

/// Returns the bytes of all outputs.
inline std::vector<std::byte> results(const nsk::session<>& net) {
  std::vector<std::byte> all;
  for (int i = 0; i < net.output_count(); ++i) {
    for (const std::byte b : net.output_bytes(i)) all.push_back(b);
  }
  return all;
}

/// Returns what run() on one thread gives for the input of `seed`.
inline std::vector<std::byte> expected_results(const nsk::model& model, unsigned seed = 1) {
  const memory_block memory(model.required_bytes());
  nsk::session<> net(model, memory);
  must(net.status());
  fill_input(net, seed);
  net.run();
  return results(net);
}

}  // namespace example
