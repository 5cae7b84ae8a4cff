// SPDX-License-Identifier: MIT
#pragma once
/// Weights that are rounded to float16, or to int8 with a scale for each output channel (--weights). They are rounded
/// in the graph, before everything else, so that the evaluator of the rounded graph says what the file means; panels
/// are then stored so where that changes no weight.
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>
#include <netsuke/model/model.hpp>
#include "compile/compile.hpp"

namespace nsk::tool {

/// Names of layers that keep float32, each with the reason.
using kept_layers = std::map<std::string, std::string>;

/// Rounds the constants that layers multiply with, ties to even; nodes that `kept` names stay as they are. To the
/// nearest float16 those of convolutions, products of matrices and recurrent layers; nodes with a weight beyond 65504,
/// or with an output channel that would lose more than a thousandth (2^-10) of its weights, by the root of the sum of
/// squares, stay too. To int8 those of products of matrices and recurrent layers, by the scale of each channel that
/// loses least of the sum of squares; its largest weight becomes 127.
struct rounded_weights {
  std::set<std::string> nodes;  ///< whose weights are rounded
  kept_layers declined;         ///< nodes that keep theirs, other than those of `kept`
};
rounded_weights round_weights(graph& g, const kept_layers& kept, weight_format format);

/// The nodes of layers whose weights could have the format, and are float32 in the variants for CPUs.
kept_layers float_layers(const model& m, weight_format format);

/// Rounds the weights of `variants` to options.weights and compiles them; a layer that cannot have that format, or is
/// computed by Winograd's algorithms, keeps its own weights. `note` says which those are. Refuses int8 that no layer
/// has.
compiled_file compile_with_narrow_weights(std::vector<variant_source>& variants, const compile_options& options,
                                          std::string& note);

}
