// SPDX-License-Identifier: MIT
#pragma once
/// Weights that are rounded to float16 (--weights fp16). They are rounded in the graph, before everything else, so that
/// the evaluator of the rounded graph says what the file means; panels are then stored as float16 where that changes no
/// weight.
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

/// Rounds the constants that convolutions, products of matrices and recurrent layers multiply with to the nearest
/// float16, ties to even. Nodes that `kept` names stay as they are, and so does a node with a weight beyond 65504, or
/// with an output channel that would lose more than a thousandth (2^-10) of its weights, by the root of the sum of
/// squares.
struct rounded_weights {
  std::set<std::string> nodes;  ///< whose weights are rounded
  kept_layers declined;         ///< nodes that keep theirs, other than those of `kept`
};
rounded_weights round_weights(graph& g, const kept_layers& kept);

/// The nodes of layers whose weights are float32 in the variants for CPUs.
kept_layers float_layers(const model& m);

/// Rounds the weights of `variants` and compiles them; a layer that cannot have float16, or is computed by Winograd's
/// algorithms, keeps its own weights. `note` says which those are.
std::vector<std::byte> compile_with_half_weights(std::vector<variant_source>& variants, compile_options options,
                                                 std::string& note);

}
