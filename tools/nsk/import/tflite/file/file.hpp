// SPDX-License-Identifier: MIT
#pragma once
/// A TensorFlow Lite file whose every reference has been checked: what the importer walks over.
#include <map>
#include <string>
#include <vector>
#include "graph/array.hpp"
#include "import/tflite/file/generated/model.hpp"

namespace nsk::tool {

/// One operator of a subgraph; indices are tensors, -1 where an input is absent.
struct tflite_operator {
  std::string name;  ///< "CONV_2D", or a custom operator's own name
  bool custom = false;
  int index = 0, version = 1;
  std::vector<int> inputs, outputs;
  const tfl::Operator* data = nullptr;
};

/// One tensor of a subgraph.
struct tflite_tensor {
  std::string name;  ///< unique; "tensor_<index>" where the file gives none
  shape_t shape;
  const tfl::Tensor* data = nullptr;
  const std::byte* bytes = nullptr;  ///< of a constant, null for all others
  std::size_t size = 0;
  bool signed_bytes = false;  ///< a constant of uint8 whose bytes are read as int8
};

struct tflite_subgraph {
  std::string name;
  std::vector<tflite_tensor> tensors;
  std::vector<tflite_operator> operators;  ///< in an order in which they can run
  std::vector<int> inputs, outputs;
};

struct tflite_file {
  std::string name, producer;
  std::map<int, tflite_subgraph> subgraphs;  ///< `first`, those that its operators name, and so on
  std::size_t size = 0;                      ///< bytes of the file
  const tfl::Model* model = nullptr;
  int first = 0;          ///< the subgraph that is converted
  std::string signature;  ///< its name, where that was asked for

  const tflite_subgraph& main() const { return subgraphs.at(first); }
};

/// The subgraphs that an operator runs: branches of IF, condition and body of WHILE, and their like.
std::vector<std::int64_t> subgraphs_of(const tflite_operator& o);

/// Verifies and reads the first subgraph, or that of `signature`, and those that it leads to. Refuses, naming what is
/// wrong: signatures that the file lacks, bytes that are no model, offsets and indices that point outside, negative
/// lengths, tables that are shared until they cost far more than the file, tensors that are read before they are
/// produced or produced twice, variables that are inputs, outputs or constants too. The result points into the bytes.
tflite_file read_tflite(const std::byte* bytes, std::size_t size, const std::string& name,
                        const std::string& signature);

/// "FLOAT32"; "element type 99" for unknown ones.
std::string name_of(tfl::TensorType type);

}
