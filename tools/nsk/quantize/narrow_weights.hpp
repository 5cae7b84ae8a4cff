// SPDX-License-Identifier: MIT
#pragma once
/// Files of rounded weights (--weights). They are rounded in the graph (round_weights.hpp), before everything else, so
/// that the evaluator of the rounded graph says what the file means; panels are then stored so where that changes no
/// weight.
#include <map>
#include <set>
#include <string>
#include <vector>
#include <netsuke/model/model.hpp>
#include "compile/compile.hpp"
#include "quantize/round_weights.hpp"

namespace nsk::tool {

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
