// SPDX-License-Identifier: MIT
#pragma once
/// Any source model -> graph.
#include <filesystem>
#include "graph/graph.hpp"
#include "import/tflite/import.hpp"

namespace nsk::tool {

/// Reads a model whose bytes say what it is: a TensorFlow Lite model by its identifier, the JSON of a graph by its
/// first brace, everything else as ONNX. Of the latter, `options` has the outputs that are kept. Refuses what the
/// importers refuse (onnx, tflite and json/import.hpp). An ONNX model is dequantised where it is resolved.
graph import_model(const std::string& file, const tflite_options& options);

}
