// SPDX-License-Identifier: MIT
#pragma once
/// TensorFlow Lite file -> graph.
///
/// TensorFlow Lite keeps images as [N, H, W, C]; the graph uses ONNX operators. Operators on images become ONNX nodes
/// on channels-first values, so that the passes see the networks that they know; a value is transposed only where an
/// operator reads it in the other order, and the layout by strides makes those transpositions free. Inputs and outputs
/// keep the source's names, shapes and axes; what the model says of them becomes graph::facts.
#include <cstddef>
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "import/tflite/file/read_options.hpp"

namespace nsk::tool {

/// Reads the first subgraph of a model, or that of a signature; those that its operators run take their places. Lengths
/// that the file leaves open (its shape signatures) follow from the inputs' shapes, which are those of the file or of
/// `options`. Constants become f32, integers or bool (float16 and sparse ones are widened and spread, quantised ones
/// become scale * (stored
/// - zero_point)); every value is typed and static, and what follows from constants alone is folded. Nodes are named
/// "<OPERATOR>_<index>", values after their tensors. With `dequantize`, quantised activations become float32 values
/// that saturate where the source's would, but for the probabilities of SOFTMAX; Quantize and Dequantize disappear.
/// Variable tensors and resources become inputs, outputs and graph::states; branches on data are computed both, loops
/// are unrolled. Refuses, naming operator, index and tensor: damaged or contradictory files (every index, shape and
/// length is checked), operators and options that are not known, shapes that the operators do not give, loops whose end
/// depends on data, and without `dequantize` operators that have no form on stored integers. `name` is what messages
/// call the model.
graph import_tflite(const std::byte* bytes, std::size_t size, const std::string& name, const tflite_options& options);

/// Names of the builtin and custom operators that import, sorted.
std::vector<std::string> tflite_operators();

}
