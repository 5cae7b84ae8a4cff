// SPDX-License-Identifier: MIT
#pragma once
/// What decides how a model is read as one of TensorFlow Lite.
#include <cstddef>
#include <map>
#include <string>
#include <vector>
#include "graph/graph.hpp"

namespace nsk::tool {

/// Whether these bytes carry the identifier of a TensorFlow Lite model.
bool is_tflite(const std::byte* bytes, std::size_t size);

struct tflite_options {
  bool dequantize = false;  ///< quantised models become float32 ones; otherwise they compute their integers
  /// Shapes of inputs, by name: they count where the file leaves lengths open and agree with those that it fixes.
  std::map<std::string, shape_t> shapes = {};
  /// Tensors of the graph that is read which become the outputs: operators that they do not need are left out, refused
  /// or not. Where it lacks one of them, nothing is left out, and those that it has become outputs beside its own.
  std::vector<std::string> outputs = {};
  std::string signature = {};  ///< the function that is read; empty: the first subgraph
  bool reference = false;      ///< the meaning of LiteRT's reference kernels, for the evaluator alone
};

}
