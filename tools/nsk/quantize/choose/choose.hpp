// SPDX-License-Identifier: MIT
#pragma once
/// Which layers are worth being integers on a machine.
#include <set>
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "quantize/layers.hpp"
#include "quantize/choose/targets.hpp"

namespace nsk::tool {

struct layer_choice {
  std::set<std::string> floats;  ///< names of the layers that stay float32
  double float_cycles = 0;       ///< of the network in float32, its layers and what stands between them
  double cycles = 0;             ///< of the network with the other layers as integers
};

/// Chooses the layers, of all but `kept` and those of `integers`, which are stored in any case, so that the whole
/// network is estimated to take least on the target, with the conversions between floats and integers.
layer_choice choose_layers(const graph& g, const std::vector<float_layer>& layers, const std::set<std::string>& kept,
                           const std::set<std::string>& integers, const target& t);

}
