// SPDX-License-Identifier: MIT
#pragma once
/// What the files of the extension's classes share. Methods that can fail return "", or what is wrong and what to do.
#include "api.hpp"
#include "model.hpp"

constexpr GDExtensionVariantType no_type = GDEXTENSION_VARIANT_TYPE_NIL, int_type = GDEXTENSION_VARIANT_TYPE_INT,
                                 bool_type = GDEXTENSION_VARIANT_TYPE_BOOL,
                                 string_type = GDEXTENSION_VARIANT_TYPE_STRING,
                                 object_type = GDEXTENSION_VARIANT_TYPE_OBJECT,
                                 bytes_type = GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY,
                                 ints_type = GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY,
                                 floats_type = GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY;

/// The object of a class behind an argument; null where it is none, or of another class.
template <class Object>
Object* object_of(const void* argument) {
  void* const self = godot_api::self_of(argument);
  return self != nullptr && *static_cast<const kind*>(self) == Object::is ? static_cast<Object*>(self) : nullptr;
}

/// Registers a class with its methods.
template <class Object, int count>
void register_object(const godot_api::method (&methods)[count]) {
  const GDExtensionClassCreateInstance make = [](void*) -> GDExtensionObjectPtr {
    return godot_api::make_object(Object::name, new Object);
  };
  const GDExtensionClassFreeInstance free = [](void*, GDExtensionClassInstancePtr self) {
    delete static_cast<Object*>(static_cast<void*>(godot_api::at(self)));
  };
  godot_api::register_class(Object::name, make, free);
  godot_api::register_methods(Object::name, methods, count);
}

void register_batcher();
void register_logs();

inline void say(nsk_status status, const nsk_model* model, void* result) {
  godot_api::put(result, line_of(status, model).c_str());
}
