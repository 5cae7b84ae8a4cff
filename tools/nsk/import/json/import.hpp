// SPDX-License-Identifier: MIT
#pragma once
/// The JSON that `nsk json` makes of a source model -> graph.
#include <cstddef>
#include <filesystem>
#include "graph/graph.hpp"

namespace nsk::tool {

/// Whether these bytes are a text that begins like a JSON object; no other source model does.
bool is_json(const std::byte* bytes, std::size_t size);

/// Reads a graph that a person may have edited: operators of ONNX in the source's names, constants in the text or in
/// .npy files of its folder. The same rules hold as for an ONNX model (onnx/import.hpp), and the order of the nodes is
/// free. Refuses, naming file, node and reason: wrong types and unknown keys, values without a producer or with two,
/// cycles, shapes that contradict the elements, and files that are missing, used twice or outside the folder.
graph import_json(const std::byte* bytes, std::size_t size, const std::string& file);

}
