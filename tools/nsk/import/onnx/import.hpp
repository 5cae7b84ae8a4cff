// SPDX-License-Identifier: MIT
#pragma once
/// ONNX file -> graph. Reads any ModelProto of IR version 3 and up with opset 7 or newer of the default domain.
#include <cstddef>
#include <filesystem>
#include <string>
#include "graph/graph.hpp"

namespace nsk::tool {

inline constexpr int oldest_onnx_opset = 1;  ///< of the domain ai.onnx
inline constexpr int newest_onnx_opset =
    28;  ///< operators may change their meaning in later ones, so those are refused

/// Reads a model. Constants become f32/f64/integers/bool (float16 and bfloat16 are widened to f32, 4-bit integers to
/// 8-bit), model-local functions are inlined, nodes are put in topological order, initializers that are also inputs
/// become constants. Names are the source's; a node without a name, or with one that another has, gets "<op>_<index>".
/// Tensors with external data are read from files beside the model, never from outside its folder.
/// Refuses, naming what is wrong: what is no ONNX model, truncated or contradictory bytes, cycles, names without a
/// producer or with two.
graph import_onnx(const std::string& file);

/// Reads a model from bytes; `folder` is where external data is, `name` is what messages call the model. Where the
/// graph has all values that `outputs` names, the rest is left out, refused or not.
graph import_onnx(const std::byte* bytes, std::size_t size, const std::filesystem::path& folder,
                  const std::string& name, const std::vector<std::string>& outputs = {});

namespace wire {
struct model;
}
/// Makes the graph of messages that were read or made otherwise. With `own`, attributes of the converter's own that an
/// import makes (graph/recurrent.hpp) are allowed.
graph import_onnx(wire::model m, const std::filesystem::path& folder, const std::string& name, bool own,
                  const std::vector<std::string>& outputs = {});

}
