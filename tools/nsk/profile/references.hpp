// SPDX-License-Identifier: MIT
#pragma once
/// The networks that a profile measures: one per family of kernels, each a list of independent layers of shapes that
/// networks for games have, from small to large. Built in code, converted like any model.
#include <cstddef>
#include <string>
#include <vector>

namespace nsk::tool {

struct reference_network {
  std::string name;             ///< "convolutions"
  std::vector<std::byte> file;  ///< .nsk
};

/// Returns the networks, in the order in which they are measured.
std::vector<reference_network> make_reference_networks();

/// Name of the steps of these networks that only bring a layer's input into being.
inline constexpr const char* preparation_name = "preparation";

/// Returns a network of `steps` steps that do next to nothing, each cut into `tiles` tiles (a power of two up to 32).
reference_network make_overhead_network(int steps, int tiles);

}
