// SPDX-License-Identifier: MIT
#pragma once
/// ONNX's element types as the graph's.
#include <cstdint>
#include <optional>
#include <string>
#include "graph/array.hpp"

namespace nsk::tool {

/// TensorProto.DataType.
enum class onnx_type : std::int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26
};

/// Whether a TensorProto.DataType is a 4- or 2-bit integer, or a float of 8 or 4 bits: stored numbers, with which
/// nothing can compute.
bool is_narrow(std::int64_t type);
/// Whether it is such a float.
bool is_small_float(std::int64_t type);
/// Returns the graph's type for a TensorProto.DataType: narrow floats become f32, 4- and 2-bit integers 8-bit ones.
/// Nothing for types that the graph cannot hold (complex numbers, floats of 6 bits, undefined).
std::optional<element> element_of_onnx(std::int64_t data_type);

/// Returns the TensorProto.DataType of a type of the graph.
onnx_type onnx_type_of(element t);

/// The number of a type, as attribute `to` of Cast has it.
constexpr std::int64_t number_of(onnx_type t) { return static_cast<std::int64_t>(t); }

/// Returns ONNX's spelling, "FLOAT16"; "element type 99" for unknown ones.
std::string onnx_type_name(std::int64_t data_type);

}
