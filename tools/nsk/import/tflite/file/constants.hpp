// SPDX-License-Identifier: MIT
#pragma once
/// Constants of TensorFlow Lite files, and what their types and quantisation mean.
#include <optional>
#include <utility>
#include "graph/array.hpp"
#include "import/tflite/file/file.hpp"

namespace nsk::tool {

/// Returns the graph's type for a TensorFlow Lite type as it is stored; float16 and bfloat16 become f32, 4-bit
/// integers i8.
/// Nothing for types that the graph cannot hold.
std::optional<element> element_of_tflite(tfl::TensorType type);

/// Whether the tensor's integers stand for real numbers, scale * (stored - zero_point): 4-, 8- and 16-bit integers with
/// a scale, and wider ones that are constant.
bool is_quantized(const tflite_tensor& t);

/// Whether two quantised tensors give stored numbers the same meaning.
bool stored_alike(const tflite_tensor& a, const tflite_tensor& b);

/// Smallest and largest real number that a quantised tensor with one scale can hold.
std::pair<double, double> quantized_range(const tflite_tensor& t);

/// What stored integers stand for: scale * (stored - zero), with one of each, or one per position of `axis`.
struct stored_scale {
  std::vector<float> scale;
  std::vector<std::int64_t> zero;
  std::int64_t axis = 0;
};
/// Refuses scales and zero points that make no sense.
stored_scale scale_of(const tflite_tensor& t);

/// Decodes a constant. Float16 and bfloat16 are widened, sparse tensors are spread, booleans become 0 and 1. With
/// `dequantize`, quantised ones become f32: scale * (stored - zero_point) in double precision, rounded once. Refuses
/// types that the graph cannot hold, bytes that disagree with the shape, and scales, zero points and sparse indices
/// that make no sense.
array decode_tflite(const tflite_tensor& t, bool dequantize);

}
