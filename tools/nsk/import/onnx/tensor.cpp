// SPDX-License-Identifier: MIT
#include "import/onnx/tensor.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include "errors.hpp"
#include "graph/float16.hpp"
#include "graph/float8.hpp"
#include "graph/onnx_type.hpp"
#include "graph/names.hpp"
#include "io/files.hpp"
#include "io/system/paths.hpp"

namespace nsk::tool {
namespace {

using data_type = onnx_type;
namespace fs = std::filesystem;

/// Bits of one element in raw_data; 0 for what is not decoded.
int raw_bits(data_type t) {
  switch (t) {
    case data_type::uint8:
    case data_type::int8:
    case data_type::float8e4m3fn:
    case data_type::float8e4m3fnuz:
    case data_type::float8e5m2:
    case data_type::float8e5m2fnuz:
    case data_type::float8e8m0:
    case data_type::boolean: return 8;
    case data_type::uint16:
    case data_type::int16:
    case data_type::float16:
    case data_type::bfloat16: return 16;
    case data_type::float32:
    case data_type::int32:
    case data_type::uint32: return 32;
    case data_type::float64:
    case data_type::int64:
    case data_type::uint64: return 64;
    case data_type::float4e2m1:
    case data_type::uint4:
    case data_type::int4: return 4;
    case data_type::uint2:
    case data_type::int2: return 2;
    default: return 0;
  }
}

small_float small_float_of(data_type t) {
  return t == data_type::float8e4m3fn     ? e4m3fn
         : t == data_type::float8e4m3fnuz ? e4m3fnuz
         : t == data_type::float8e5m2     ? e5m2
         : t == data_type::float8e5m2fnuz ? e5m2fnuz
         : t == data_type::float8e8m0     ? e8m0
                                          : e2m1;
}

[[noreturn]] void wrong_size(const std::string& what, const array& a, const std::string& have,
                             const std::string& expected) {
  refuse(what + ": shape " + to_string(a.shape) + " needs " + expected + ", but the file holds " + have +
         ". The file is damaged; export the model again");
}

std::int64_t parse_number(const std::string& text, const std::string& what) {
  std::int64_t v = 0;
  if (text.empty() || text.size() > 18) refuse(what + ": external data has a bad offset or length '" + text + "'");
  for (char c : text) {
    if (c < '0' || c > '9') refuse(what + ": external data has a bad offset or length '" + text + "'");
    v = v * 10 + (c - '0');
  }
  return v;
}

/// Reads `expected` bytes of a tensor that is in a file of its own.
std::string read_external(const wire::tensor& t, const tensor_source& source, std::size_t expected) {
  const auto entry = [&](const char* key) {
    const auto found = t.external.find(key);
    return found == t.external.end() ? std::string() : found->second;
  };
  const std::string location = entry("location");
  if (location.empty()) refuse(source.what + ": external data without a location. The file is damaged");
  require_name(location, source.what + ": the name of the file with its data");
  const fs::path file = file_inside(source.folder, location, source.what + ": external data");
  const std::int64_t offset = entry("offset").empty() ? 0 : parse_number(entry("offset"), source.what);
  const std::int64_t length =
      entry("length").empty() ? static_cast<std::int64_t>(expected) : parse_number(entry("length"), source.what);
  if (length != static_cast<std::int64_t>(expected))
    refuse(source.what + ": external data has " + std::to_string(length) + " bytes, its shape needs " +
           std::to_string(expected));
  std::error_code failed;
  const auto size = static_cast<std::int64_t>(fs::file_size(file, failed));
  if (failed || offset > size || length > size - offset)
    refuse(source.what + ": external data file '" + location + "' is truncated: it has " + std::to_string(size) +
           " bytes, the tensor ends at " + std::to_string(offset + length));
  if (source.files != nullptr) source.files->insert(utf8_of(file));
  std::ifstream in(file, std::ios::binary);
  std::string bytes(expected, '\0');
  in.seekg(offset);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    refuse(source.what + ": cannot read external data file '" + location + "'");
  return bytes;
}

/// Decodes little-endian bytes of the file's type into `a`.
void decode_raw(array& a, data_type t, std::string_view bytes) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const std::int64_t count = a.count();
  if (is_small_float(static_cast<std::int64_t>(t))) {
    const int bits = raw_bits(t), per_byte = 8 / bits;
    for (std::int64_t i = 0; i < count; ++i) {
      const unsigned field = static_cast<unsigned>(p[i / per_byte]) >> (bits * (i % per_byte));
      a.as<float>()[i] = float_from_bits(field & ((1U << bits) - 1), small_float_of(t));
    }
    return;
  }
  const auto half_at = [&](std::int64_t i) { return static_cast<std::uint16_t>(p[2 * i] | (p[2 * i + 1] << 8)); };
  switch (t) {
    case data_type::float16:
      for (std::int64_t i = 0; i < count; ++i) a.as<float>()[i] = float_from_half(half_at(i));
      break;
    case data_type::bfloat16:
      for (std::int64_t i = 0; i < count; ++i) a.as<float>()[i] = float_from_bfloat(half_at(i));
      break;
    case data_type::uint4:
    case data_type::int4:
    case data_type::uint2:
    case data_type::int2: {
      const int bits = raw_bits(t), per_byte = 8 / bits, mask = (1 << bits) - 1;
      const bool is_signed = t == data_type::int4 || t == data_type::int2;
      for (std::int64_t i = 0; i < count; ++i) {
        const int field = (p[i / per_byte] >> (bits * (i % per_byte))) & mask;
        a.set_integer(i, is_signed && field > mask / 2 ? field - mask - 1 : field);
      }
      break;
    }
    case data_type::boolean:
      for (std::int64_t i = 0; i < count; ++i) a.as<std::uint8_t>()[i] = p[i] != 0 ? 1 : 0;
      break;
    default:
      if (!bytes.empty()) std::memcpy(a.data.data(), p, bytes.size());
  }
}

/// Decodes float_data, double_data, int32_data, int64_data, uint64_data; the caller has checked their sizes.
void decode_typed(array& a, data_type t, const wire::tensor& w) {
  const std::int64_t count = a.count();
  const int bits = raw_bits(t);
  if (t == data_type::float32) {
    std::copy(w.floats.begin(), w.floats.end(), a.as<float>());
  } else if (t == data_type::float64) {
    std::copy(w.doubles.begin(), w.doubles.end(), a.as<double>());
  } else if (bits < 8 || is_small_float(w.type)) {
    std::string bytes;
    for (std::int64_t v : w.integers) bytes += static_cast<char>(v);
    decode_raw(a, t, bytes);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t v = w.integers[static_cast<std::size_t>(i)];
      if (t == data_type::float16)
        a.as<float>()[i] = float_from_half(static_cast<std::uint16_t>(v));
      else if (t == data_type::bfloat16)
        a.as<float>()[i] = float_from_bfloat(static_cast<std::uint16_t>(v));
      else
        a.set_integer(i, v);
    }
  }
}

}

bool holds_text(const wire::tensor& t) { return t.has_strings || static_cast<data_type>(t.type) == data_type::string; }

array decode_tensor(const wire::tensor& t, const tensor_source& source) {
  const auto type = static_cast<data_type>(t.type);
  const std::optional<element> target = element_of_onnx(t.type);
  if (holds_text(t))
    refuse(source.what +
           ": it holds strings, which no operator here takes. Remove text processing from the model, or choose outputs "
           "that do not need it (--output-value NAME)");
  if (!target)
    refuse(source.what + ": elements of type " + onnx_type_name(t.type) +
           " are not supported. Export the model in float32");
  if (t.has_segment)
    refuse(source.what + ": tensors in segments are not supported. Save the model again with a current onnx package");
  const std::int64_t count = checked_count(t.dims, source.what);
  const auto raw_size = static_cast<std::size_t>((count * raw_bits(type) + 7) / 8);

  // The bytes are compared with the shape before anything of the shape's size is allocated.
  array result;
  result.type = *target;
  result.shape = t.dims;
  const bool typed = !t.is_external && !t.has_raw;
  if (typed) {
    const std::size_t have = type == data_type::float32   ? t.floats.size()
                             : type == data_type::float64 ? t.doubles.size()
                                                          : t.integers.size();
    const std::size_t expected = raw_bits(type) < 8 ? raw_size : static_cast<std::size_t>(count);
    if (have != expected) wrong_size(source.what, result, std::to_string(have) + " values", std::to_string(expected));
  } else if (!t.is_external && t.raw.size() != raw_size) {
    wrong_size(source.what, result, std::to_string(t.raw.size()) + " bytes",
               std::to_string(raw_size) + " bytes of " + onnx_type_name(t.type));
  }
  const std::string external = t.is_external ? read_external(t, source, raw_size) : std::string();
  result = array(*target, t.dims);
  if (typed)
    decode_typed(result, type, t);
  else
    decode_raw(result, type, t.is_external ? std::string_view(external) : t.raw);
  return result;
}

}
