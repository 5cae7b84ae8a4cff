// SPDX-License-Identifier: MIT
#pragma once
/// What a script does with the classes of an extension: values, calls by variants and by values, and what is required
/// of their answers.
#include <cstdio>
#include <fstream>
#include <iterator>
#include "fake_godot.hpp"

namespace fake_godot {

inline int failures = 0;
inline void require(bool condition, const std::string& text) {
  if (condition) return;
  ++failures;
  std::printf("wrong: %s\n", text.c_str());
}

/// A value of a script.
struct script_value {
  variant v = {};
  script_value() = default;
  explicit script_value(std::int64_t number) : v{GDEXTENSION_VARIANT_TYPE_INT, {}} { std::memcpy(v.value, &number, 8); }
  explicit script_value(int number) : script_value(std::int64_t{number}) {}
  explicit script_value(bool truth) : v{GDEXTENSION_VARIANT_TYPE_BOOL, {}} { v.value[0] = truth ? 1 : 0; }
  explicit script_value(const char* text) : v{GDEXTENSION_VARIANT_TYPE_STRING, {}} {
    make(v.type, v.value);
    *reinterpret_cast<string*>(v.value)->text = text;
  }
  explicit script_value(object* o) : v{GDEXTENSION_VARIANT_TYPE_OBJECT, {}} { std::memcpy(v.value, &o, 8); }
  script_value(int type, const void* data, std::size_t bytes) : v{type, {}} {
    make(type, v.value);
    items().assign(static_cast<const std::uint8_t*>(data), static_cast<const std::uint8_t*>(data) + bytes);
  }
  explicit script_value(const std::vector<float>& of)
      : script_value(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, of.data(), of.size() * sizeof(float)) {}
  explicit script_value(const std::vector<std::uint8_t>& of)
      : script_value(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, of.data(), of.size()) {}
  script_value(script_value&& other) : v(other.v) { other.v.type = 0; }
  script_value(const script_value&) = delete;
  ~script_value() { destroy(v.type, v.value); }

  std::vector<std::uint8_t>& items() { return *reinterpret_cast<array*>(v.value)->bytes; }
  std::string text() {
    return v.type == GDEXTENSION_VARIANT_TYPE_STRING ? *reinterpret_cast<string*>(v.value)->text : "no text";
  }
  std::int64_t number() {
    return v.type == GDEXTENSION_VARIANT_TYPE_BOOL ? v.value[0] : *reinterpret_cast<std::int64_t*>(v.value);
  }
  std::vector<float> floats() {
    std::vector<float> values(items().size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), items().data(), items().size());
    return values;
  }
};

inline bool by_values = false;  ///< whether methods are called with values, not with variants

template <class To>
To as(const void* address) {
  return reinterpret_cast<To>(const_cast<void*>(address));
}

/// Calls a method as a script does; an error of the call is its number in `error`.
template <class... Arguments>
script_value call(object* on, const char* name, int* error, const Arguments&... given) {
  const argument_types& m = classes.at(on->of).methods.at(name);
  const variant* variants[] = {&given.v..., nullptr};
  script_value result;
  if (!by_values) {
    GDExtensionCallError said = {};
    m.info.call_func(m.info.method_userdata, as<GDExtensionClassInstancePtr>(on->self),
                     as<const GDExtensionConstVariantPtr*>(variants), sizeof...(given),
                     as<GDExtensionVariantPtr>(&result.v), &said);
    if (error != nullptr) *error = said.error;
    return result;
  }
  const void* values[] = {given.v.value..., nullptr};
  result.v.type = m.result;
  make(m.result, result.v.value);
  m.info.ptrcall_func(m.info.method_userdata, as<GDExtensionClassInstancePtr>(on->self),
                      as<const GDExtensionConstTypePtr*>(values), as<GDExtensionTypePtr>(result.v.value));
  return result;
}
template <class... Arguments>
void must(object* on, const char* name, const Arguments&... given) {
  const std::string said = call(on, name, nullptr, given...).text();
  require(said.empty(), std::string(name) + ": " + said);
}
template <class... Arguments>
void refused(const char* begin, object* on, const char* name, const Arguments&... given) {
  const std::string said = call(on, name, nullptr, given...).text();
  require(said.compare(0, std::strlen(begin), begin) == 0 && said.size() > 40,
          std::string(begin) + " was expected, not " + said);
}

inline object* make_object(const char* of) { return as<object*>(classes.at(of).info.create_instance_func(nullptr)); }
inline void free_object(object* o) {
  classes.at(o->of).info.free_instance_func(nullptr, as<GDExtensionClassInstancePtr>(o->self));
  delete o;
}

inline std::vector<std::uint8_t> file_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline std::vector<float> inputs_of(std::size_t count, std::uint32_t first) {
  std::vector<float> values;
  for (std::uint32_t i = first; i < first + count; ++i)
    values.push_back(static_cast<float>((i * 2654435761u) >> 16) / 65536.0f - 0.5f);
  return values;
}
inline std::uint64_t hash_of(const std::vector<float>& values) {
  std::uint64_t hash = 14695981039346656037u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (std::size_t i = 0; i < values.size() * sizeof(float); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}
/// Number of elements of port 0, by its shape.
inline std::size_t elements(object* model, const char* which) {
  script_value shape = call(model, which, nullptr, script_value(std::int64_t{0}));
  std::size_t count = 1;
  for (std::size_t at = 0; at < shape.items().size(); at += 4) {
    std::int32_t length;
    std::memcpy(&length, shape.items().data() + at, 4);
    count *= static_cast<std::size_t>(length);
  }
  return count;
}

}
