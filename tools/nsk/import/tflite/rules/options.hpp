// SPDX-License-Identifier: MIT
#pragma once
/// Options of custom operators in TensorFlow Lite files: maps of names, or packed 32-bit integers. Include it before
/// any other header of FlatBuffers.
// Numbers in texts are never read, so that no library needs to be linked for them.
#define FLATBUFFERS_LOCALE_INDEPENDENT 0
#include <netsuke/format/impl/flatbuffers_assert.hpp>
#include <flatbuffers/flexbuffers.h>
#include <flatbuffers/vector.h>

#include <cmath>
#include <string>
#include <vector>

#include "errors.hpp"

namespace nsk::tool {

/// Options of a custom operator as a map of names.
class named_options {
 public:
  explicit named_options(const flatbuffers::Vector<std::uint8_t>* bytes) {
    std::vector<std::uint8_t> visited;  // without it, shared vectors are verified again and again
    if (bytes == nullptr || bytes->size() < 3 || !flexbuffers::VerifyBuffer(bytes->data(), bytes->size(), &visited))
      refuse("its options are missing or damaged");
    const flexbuffers::Reference root = flexbuffers::GetRoot(bytes->data(), bytes->size());
    if (!root.IsMap()) refuse("its options are no map of names. The file is damaged");
    m_map = root.AsMap();
  }
  /// A whole number of at least `min`.
  std::int64_t integer(const char* name, std::int64_t min) const {
    const flexbuffers::Reference r = m_map[name];
    if (!r.IsIntOrUint() || r.AsInt64() < min || r.AsInt64() > 65535)
      refuse(std::string("its option '") + name + "' is missing or out of range");
    return r.AsInt64();
  }
  bool has(const char* name) const { return !m_map[name].IsNull(); }
  /// A finite number, as a float; `fallback` where it is absent.
  double number(const char* name, double fallback) const {
    const flexbuffers::Reference r = m_map[name];
    if (r.IsNull()) return fallback;
    if (!r.IsNumeric() || !std::isfinite(r.AsDouble())) refuse(std::string("its option '") + name + "' is no number");
    return static_cast<double>(r.AsFloat());
  }
  /// A truth; `fallback` where it is absent.
  bool flag(const char* name, bool fallback) const {
    const flexbuffers::Reference r = m_map[name];
    if (r.IsNull()) return fallback;
    if (!r.IsBool() && !r.IsIntOrUint()) refuse(std::string("its option '") + name + "' is no truth value");
    return r.IsBool() ? r.AsBool() : r.AsInt64() != 0;
  }
  std::vector<std::int64_t> integers(const char* name) const {
    const flexbuffers::Reference r = m_map[name];
    if (!r.IsTypedVector() && !r.IsUntypedVector()) refuse(std::string("its option '") + name + "' is missing");
    std::vector<std::int64_t> result;
    if (r.IsTypedVector()) {
      const auto v = r.AsTypedVector();
      for (std::size_t i = 0; i < v.size(); ++i) result.push_back(v[i].AsInt64());
    } else {
      const auto v = r.AsVector();
      for (std::size_t i = 0; i < v.size(); ++i) result.push_back(v[i].AsInt64());
    }
    return result;
  }

 private:
  flexbuffers::Map m_map = flexbuffers::Map::EmptyMap();
};

/// Returns the first `count` of the packed 32-bit integers; refuses fewer.
inline std::vector<std::int64_t> packed_integers(const flatbuffers::Vector<std::uint8_t>* bytes, std::size_t count) {
  if (bytes == nullptr || bytes->size() < 4 * count)
    refuse("its options are shorter than " + std::to_string(4 * count) + " bytes. The file is damaged");
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t value;
    std::memcpy(&value, bytes->data() + 4 * i, sizeof value);
    result.push_back(value);
  }
  return result;
}

}
