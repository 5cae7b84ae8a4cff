// SPDX-License-Identifier: MIT
#pragma once
/// What to do with a source model before it is compiled: one set of options for every command that makes a .nsk file
/// of a source. A new one is a member here, a line in conversion_commands.cpp, and a use in source_variants.cpp.
#include <string>
#include <vector>

namespace nsk::tool {

struct source_options {
  std::string path;                       ///< of the model
  std::string signature;                  ///< of a TensorFlow Lite model; empty: the first subgraph
  std::vector<std::string> inputs, sets;  ///< NAME=1x3x224x224, NAME=VALUE
  std::vector<std::string> constants;     ///< NODE=follow, NODE=keep, NODE=NUMBER,..
  std::vector<std::string> bounds;        ///< NAME=COUNT
  std::vector<std::string> chunks;        ///< NAME=CHUNK or NAME=CHUNK+LATE
  std::vector<std::string> variants;      ///< NAME:INPUT=1x3x192x192,...
  std::vector<std::string> states;        ///< INPUT=OUTPUT
  std::vector<std::string> outputs;       ///< names of tensors; empty: the model's own
  std::vector<std::string> argmaxes;      ///< NAME or NAME=AXIS
  std::vector<std::string> names;         ///< OLD=NEW
  std::vector<std::string> kept_layouts;  ///< names of inputs and outputs
  std::vector<std::string> input_ranges;  ///< NAME=LO..HI
  std::vector<std::string> hdr_inputs;    ///< names
  int batch = 0;                          ///< maximum number of rows; 0: fixed shapes
  bool dequantize = false, float_io = false;
  bool find_states = true;
  bool counts_results = true;  ///< numbers of results may become lengths
  bool to_hard_swish = false, to_swish = false;
  bool trusted = false;
  bool gpu = false;  ///< a variant for GPUs beside every one
};

}
