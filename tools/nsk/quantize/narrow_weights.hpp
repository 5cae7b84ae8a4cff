// SPDX-License-Identifier: MIT
#pragma once
/// Weights that are rounded to float16, or to int8 with a scale for each output channel (--weights). They are rounded
/// in the graph, before everything else, so that the evaluator of the rounded graph says what the file means; panels
/// are then stored so where that changes no weight.
#include <map>
#include <set>
#include <string>
#include <vector>
#include <netsuke/model/model.hpp>
#include "compile/compile.hpp"

namespace nsk::tool {

/// Names of layers that keep float32, each with the reason.
using kept_layers = std::map<std::string, std::string>;

/// Folds BatchNormalization into the layers before it, then rounds the constants that layers multiply with, ties to
/// even: those of convolutions, products of matrices and recurrent layers. Nodes that `kept` names stay as they are,
/// and those with numbers beyond 2^100 or channels below 2^-100. To the nearest float16, times a power of two in
/// channels that float16 does not hold, or of which it would lose more than a thousandth (2^-10, by the root of the sum
/// of squares). To int8 by the scale of each output channel that loses least of the sum of squares, its largest weight
/// becoming 127 or being cut by up to a quarter; convolutions with at most nine weights for each, depthwise ones
/// mostly, to float16.
struct rounded_weights {
  std::set<std::string> nodes;  ///< whose weights are rounded
  kept_layers declined;         ///< nodes that keep theirs, other than those of `kept`
};
rounded_weights round_weights(graph& g, const kept_layers& kept, weight_format format);

/// The key of the metadata that says that weights of a file are rounded so.
const char* rounded_key(weight_format format);

/// The nodes whose weights a file of such weights has not rounded: those that its metadata names, or, where it names
/// none, those of float32 panels in the variants for CPUs.
kept_layers float_layers(const model& m, weight_format format);

/// A file of rounded weights.
struct narrow_file {
  compiled_file file;
  kept_layers kept;  ///< nodes whose weights are not rounded, each with the reason
  std::string note;  ///< how many layers have which weights, for people
};

/// Rounds the weights of `variants` to options.weights and compiles them. Kernels read rounded weights as float32 where
/// Winograd's algorithms compute the layer, where they take no others, and where that is faster; the small file
/// (shrink/) stores those in the format too.
narrow_file compile_with_narrow_weights(std::vector<variant_source>& variants, const compile_options& options);

}
