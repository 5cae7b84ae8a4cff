// SPDX-License-Identifier: MIT
#include "graph/onnx_type.hpp"

namespace nsk::tool {

bool is_narrow(std::int64_t type) {
  const auto t = static_cast<onnx_type>(type);
  return t == onnx_type::uint4 || t == onnx_type::int4 || t == onnx_type::uint2 || t == onnx_type::int2 ||
         is_small_float(type);
}

bool is_small_float(std::int64_t type) {
  const auto t = static_cast<onnx_type>(type);
  return t == onnx_type::float8e4m3fn || t == onnx_type::float8e4m3fnuz || t == onnx_type::float8e5m2 ||
         t == onnx_type::float8e5m2fnuz || t == onnx_type::float4e2m1 || t == onnx_type::float8e8m0;
}

std::optional<element> element_of_onnx(std::int64_t type) {
  switch (static_cast<onnx_type>(type)) {
    case onnx_type::float32:
    case onnx_type::float16:
    case onnx_type::bfloat16:
    case onnx_type::float8e4m3fn:
    case onnx_type::float8e4m3fnuz:
    case onnx_type::float8e5m2:
    case onnx_type::float8e5m2fnuz:
    case onnx_type::float8e8m0:
    case onnx_type::float4e2m1: return element::f32;
    case onnx_type::float64: return element::f64;
    case onnx_type::int8:
    case onnx_type::int4:
    case onnx_type::int2: return element::i8;
    case onnx_type::uint8:
    case onnx_type::uint4:
    case onnx_type::uint2: return element::u8;
    case onnx_type::int16: return element::i16;
    case onnx_type::uint16: return element::u16;
    case onnx_type::int32: return element::i32;
    case onnx_type::uint32: return element::u32;
    case onnx_type::int64: return element::i64;
    case onnx_type::uint64: return element::u64;
    case onnx_type::boolean: return element::boolean;
    case onnx_type::string: return element::string;
    default: return std::nullopt;
  }
}

onnx_type onnx_type_of(element t) {
  if (t == element::f16) return onnx_type::float16;  // read as f32
  std::int64_t type = number_of(onnx_type::float32);
  while (element_of_onnx(type) != t) ++type;  // types of their own come before those that are widened
  return static_cast<onnx_type>(type);
}

std::string onnx_type_name(std::int64_t type) {
  static const char* const names[] = {"UNDEFINED",      "FLOAT",    "UINT8",        "INT8",           "UINT16",
                                      "INT16",          "INT32",    "INT64",        "STRING",         "BOOL",
                                      "FLOAT16",        "DOUBLE",   "UINT32",       "UINT64",         "COMPLEX64",
                                      "COMPLEX128",     "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2",
                                      "FLOAT8E5M2FNUZ", "UINT4",    "INT4",         "FLOAT4E2M1",     "FLOAT8E8M0",
                                      "UINT2",          "INT2",     "FLOAT6E2M3",   "FLOAT6E3M2"};
  constexpr std::int64_t count = sizeof names / sizeof names[0];
  return type >= 0 && type < count ? names[type] : "element type " + std::to_string(type);
}

}
