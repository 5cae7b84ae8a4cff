// SPDX-License-Identifier: MIT
#pragma once
/// Godot's functions that the extension calls, and Godot's values as it sees them: no bindings of another project are
/// needed. gdextension_interface.h is Godot's own header, of version 4.2 or newer.
#include <gdextension_interface.h>
#include <cstddef>
#include <cstdint>
#include <string>

namespace godot_api {

/// One function of Godot: its type, its member here, and the name that Godot's header gives it.
#define NSK_GODOT_FUNCTIONS(X)                                                                          \
  X(StringNameNewWithLatin1Chars, string_name_new, "string_name_new_with_latin1_chars")                 \
  X(StringNewWithUtf8Chars, string_new, "string_new_with_utf8_chars")                                   \
  X(StringToUtf8Chars, string_to_utf8, "string_to_utf8_chars")                                          \
  X(VariantGetType, variant_type, "variant_get_type")                                                   \
  X(VariantGetPtrConstructor, constructor_of, "variant_get_ptr_constructor")                            \
  X(VariantGetPtrDestructor, destructor_of, "variant_get_ptr_destructor")                               \
  X(VariantGetPtrBuiltinMethod, builtin_method, "variant_get_ptr_builtin_method")                       \
  X(GetVariantFromTypeConstructor, variant_from, "get_variant_from_type_constructor")                   \
  X(GetVariantToTypeConstructor, variant_to, "get_variant_to_type_constructor")                         \
  X(PackedByteArrayOperatorIndex, bytes_at, "packed_byte_array_operator_index")                         \
  X(PackedByteArrayOperatorIndexConst, const_bytes_at, "packed_byte_array_operator_index_const")        \
  X(PackedFloat32ArrayOperatorIndex, floats_at, "packed_float32_array_operator_index")                  \
  X(PackedFloat32ArrayOperatorIndexConst, const_floats_at, "packed_float32_array_operator_index_const") \
  X(PackedInt32ArrayOperatorIndex, ints_at, "packed_int32_array_operator_index")                        \
  X(ClassdbConstructObject, construct_object, "classdb_construct_object")                               \
  X(ClassdbRegisterExtensionClass2, register_class, "classdb_register_extension_class2")                \
  X(ClassdbRegisterExtensionClassMethod, register_method, "classdb_register_extension_class_method")    \
  X(ClassdbUnregisterExtensionClass, unregister_class, "classdb_unregister_extension_class")            \
  X(ObjectSetInstance, set_instance, "object_set_instance")                                             \
  X(ObjectSetInstanceBinding, set_binding, "object_set_instance_binding")                               \
  X(ObjectGetInstanceBinding, get_binding, "object_get_instance_binding")

struct functions {
#define NSK_GODOT_MEMBER(type, member, name) GDExtensionInterface##type member = nullptr;
  NSK_GODOT_FUNCTIONS(NSK_GODOT_MEMBER)
#undef NSK_GODOT_MEMBER
  GDExtensionClassLibraryPtr library = nullptr;
  GDExtensionPtrDestructor destroy_name = nullptr, destroy_text = nullptr;

  /// Asks Godot for all functions; false where this version lacks one.
  bool load(GDExtensionInterfaceGetProcAddress get, GDExtensionClassLibraryPtr of);
};
extern functions godot;

/// An address as the pointer type that a function of Godot takes: void* in Godot's own header, types of their own in
/// copies of it that other bindings carry.
struct at {
  const void* address;
  explicit at(const void* of) : address(of) {}
  template <class Pointer>
  operator Pointer() const {
    return reinterpret_cast<Pointer>(const_cast<void*>(address));
  }
};

/// A name of Godot.
struct string_name {
  alignas(8) unsigned char block[8];
  explicit string_name(const char* latin1) { godot.string_name_new(at(block), latin1, 0); }
  ~string_name() { godot.destroy_name(at(block)); }
  string_name(const string_name&) = delete;
  string_name& operator=(const string_name&) = delete;
};

/// Memory of any value that methods take and return.
struct value {
  alignas(16) unsigned char block[24] = {};
};

using builtin = GDExtensionPtrBuiltInMethod;

/// Number of elements of a packed array of this type.
std::int64_t size_of(GDExtensionVariantType type, const void* array);
void resize(GDExtensionVariantType type, void* array, std::int64_t size);

/// What a method returns: Godot has made it, a method replaces it.
void put(void* to, std::int64_t number);
void put(void* to, bool truth);
void put(void* to, const char* utf8);
void put_bytes(void* to, const void* from, std::size_t count);
void put_floats(void* to, const void* from, std::size_t count);
void put_ints(void* to, const std::int32_t* from, std::size_t count);

/// Elements of an argument.
struct bytes {
  const std::uint8_t* data = nullptr;
  std::size_t count = 0;
  explicit bytes(const void* argument);
};
struct floats {
  const float* data = nullptr;
  std::size_t count = 0;
  explicit floats(const void* argument);
};
std::string text(const void* argument);
inline bool truth(const void* argument) { return *static_cast<const GDExtensionBool*>(argument) != 0; }
inline std::int64_t number(const void* argument) { return *static_cast<const std::int64_t*>(argument); }
/// A number that is to be an int32: others become -1, which every function refuses.
inline std::int32_t index(const void* argument) {
  const std::int64_t n = number(argument);
  return n >= 0 && n <= INT32_MAX ? static_cast<std::int32_t>(n) : -1;
}

struct argument {
  const char* name;
  GDExtensionVariantType type;
  const char* class_name;  ///< of objects
};
inline constexpr int max_arguments = 5;

/// A method of a class; arguments end at the first without a name.
struct method {
  const char* name;
  GDExtensionVariantType result;  ///< nil: none
  argument arguments[max_arguments];
  void (*call)(void* self, const void* const* arguments, void* result);
};

/// Registers a class that extends RefCounted, and its methods.
void register_class(const char* name, GDExtensionClassCreateInstance create, GDExtensionClassFreeInstance free);
void register_methods(const char* class_name, const method* methods, int count);

/// Makes a Godot object that belongs to `self`, an object of a class of the extension.
GDExtensionObjectPtr make_object(const char* class_name, void* self);
/// The object of the extension behind an argument; null where it is none.
void* self_of(const void* argument);

}
