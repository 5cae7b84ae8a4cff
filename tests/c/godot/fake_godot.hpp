// SPDX-License-Identifier: MIT
#pragma once
/// As much of Godot as an extension asks for: names, strings, packed arrays, variants, objects and classes. Values that
/// were not given back are counted.
#include <gdextension_interface.h>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace fake_godot {

inline int living = 0;  ///< names, strings and arrays that were made and not destroyed

/// Values in the memory that Godot's have: a string is one pointer, a packed array a pointer in 16 bytes.
struct string {
  std::string* text;
};
struct array {
  std::vector<std::uint8_t>* bytes;
  void* unused;
};
struct object {
  std::string of;
  void* self = nullptr;
  void* binding = nullptr;
};

inline bool is_array(int type) {
  return type == GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY || type == GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY ||
         type == GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY;
}
inline std::size_t element_bytes(int type) { return type == GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY ? 1 : 4; }

inline void make(int type, void* at) {
  if (type == GDEXTENSION_VARIANT_TYPE_STRING) *static_cast<string*>(at) = {new std::string}, ++living;
  if (is_array(type)) *static_cast<array*>(at) = {new std::vector<std::uint8_t>, nullptr}, ++living;
}
inline void destroy(int type, void* at) {
  if (type == GDEXTENSION_VARIANT_TYPE_STRING) delete static_cast<string*>(at)->text, --living;
  if (is_array(type)) delete static_cast<array*>(at)->bytes, --living;
  if (type == GDEXTENSION_VARIANT_TYPE_STRING_NAME) --living;
}
inline void copy(int type, void* to, const void* from) {
  make(type, to);
  if (type == GDEXTENSION_VARIANT_TYPE_STRING)
    *static_cast<string*>(to)->text = *static_cast<const string*>(from)->text;
  else if (is_array(type))
    *static_cast<array*>(to)->bytes = *static_cast<const array*>(from)->bytes;
  else
    std::memcpy(to, from, type == GDEXTENSION_VARIANT_TYPE_BOOL ? 1 : 8);
}

/// A variant, 24 bytes as Godot's: its type and the value.
struct variant {
  std::int32_t type;
  alignas(8) unsigned char value[16];
};
static_assert(sizeof(variant) == 24);

struct argument_types {
  std::vector<int> types;
  int result;
  GDExtensionClassMethodInfo info;
};
struct extension_class {
  GDExtensionClassCreationInfo2 info;
  std::map<std::string, argument_types> methods;
};
inline std::map<std::string, extension_class> classes;

inline const std::string& name_of(const void* name) { return **static_cast<const std::string* const*>(name); }

GDExtensionInterfaceFunctionPtr get_function(const char* name);

}
