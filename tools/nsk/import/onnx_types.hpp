// SPDX-License-Identifier: MIT
#pragma once
/// ONNX's element types and tensors as the graph's.
#include <filesystem>
#include <optional>
#include "graph/array.hpp"
#include "import/onnx_wire.hpp"

namespace nsk::tool {

/// Whether a TensorProto.DataType is a 4- or 2-bit integer: stored numbers, with which nothing can compute.
bool is_narrow(std::int64_t type);
/// Returns the graph's type for a TensorProto.DataType: narrow floats become f32, 4- and 2-bit integers 8-bit ones.
/// Nothing for types that the graph cannot hold (complex numbers, 8-bit floats and below, undefined).
std::optional<element> element_of_onnx(std::int64_t data_type);

/// Returns ONNX's spelling, "FLOAT16"; "element type 99" for unknown ones.
std::string onnx_type_name(std::int64_t data_type);

/// Where external data may lie, and how messages begin.
struct tensor_source {
  std::filesystem::path folder;
  std::string what;  ///< "initializer 'w'"
};

/// Decodes a tensor. Refuses types that the graph cannot hold, strings, negative or huge dimensions, bytes that
/// disagree with the shape, and external files that are missing, too short or outside `source.folder`.
array decode_tensor(const wire::tensor& t, const tensor_source& source);

}
