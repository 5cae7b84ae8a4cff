// SPDX-License-Identifier: MIT
#pragma once
/// Pairs of QuantizeLinear and DequantizeLinear, and integer weights, in a float graph.
#include <map>
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "quantize/calibrate/calibrate.hpp"
#include "quantize/choose/flow.hpp"
#include "quantize/layers.hpp"
#include "quantize/apply/quantize.hpp"

namespace nsk::tool {

/// The name of a layer's stored weights in the graph that store_layers() makes.
inline std::string weights_name(const std::string& layer) { return layer + "#weights"; }

/// Stores the weights of the layers and what `flow` names, by the scale of each tensor. Returns the names of layers
/// whose sums may be beyond int32, which keep their weights.
std::vector<std::string> store_layers(graph& g, const std::vector<float_layer>& layers, const byte_flow& flow,
                                      const std::map<std::string, tensor_statistics>& seen,
                                      const std::map<std::string, byte_scale>& scales, const quantize_choices& how);

}
