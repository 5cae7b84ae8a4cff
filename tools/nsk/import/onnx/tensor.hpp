// SPDX-License-Identifier: MIT
#pragma once
/// ONNX's tensors as the graph's.
#include <filesystem>
#include <set>
#include <string>
#include "graph/array.hpp"
#include "import/onnx/wire.hpp"

namespace nsk::tool {

/// Where external data may be, and how messages begin.
struct tensor_source {
  std::filesystem::path folder;
  std::string what;              ///< "initializer 'w'"
  std::set<std::string>* files;  ///< gets the paths of external files; may be null
};

/// Whether a tensor holds strings, which the graph has no elements for.
bool holds_text(const wire::tensor& t);

/// Decodes a tensor. Refuses types that the graph cannot hold, strings, negative or huge dimensions, bytes that
/// disagree with the shape, and external files that are missing, too short or outside `source.folder`.
array decode_tensor(const wire::tensor& t, const tensor_source& source);

}
