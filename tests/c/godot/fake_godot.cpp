// SPDX-License-Identifier: MIT
#include "fake_godot.hpp"

namespace fake_godot {
namespace {

template <class T>
const void* address(T* pointer) {
  return static_cast<const void*>(pointer);
}
template <class T>
void* writable(T* pointer) {
  return const_cast<void*>(static_cast<const void*>(pointer));
}

void string_name_new(GDExtensionUninitializedStringNamePtr to, const char* text, GDExtensionBool) {
  static std::set<std::string> names;
  const std::string* const name = &*names.insert(text).first;
  std::memcpy(writable(to), &name, sizeof name);
  ++living;
}
void string_new(GDExtensionUninitializedStringPtr to, const char* text) {
  make(GDEXTENSION_VARIANT_TYPE_STRING, writable(to));
  *static_cast<string*>(writable(to))->text = text;
}
GDExtensionInt string_to_utf8(GDExtensionConstStringPtr from, char* to, GDExtensionInt max_length) {
  const std::string& text = *static_cast<const string*>(address(from))->text;
  if (to != nullptr) text.copy(to, static_cast<std::size_t>(max_length));
  return static_cast<GDExtensionInt>(text.size());
}
GDExtensionVariantType variant_type(GDExtensionConstVariantPtr v) {
  return static_cast<GDExtensionVariantType>(static_cast<const variant*>(address(v))->type);
}

// Functions of one type each, because Godot gives out plain pointers.
template <int type>
struct of_type {
  static void construct(GDExtensionUninitializedTypePtr to, const GDExtensionConstTypePtr*) {
    make(type, writable(to));
  }
  static void destruct(GDExtensionTypePtr at) { destroy(type, writable(at)); }
  static void variant_from(GDExtensionUninitializedVariantPtr to, GDExtensionTypePtr from) {
    static_cast<variant*>(writable(to))->type = type;
    copy(type, static_cast<variant*>(writable(to))->value, address(from));
  }
  static void variant_to(GDExtensionUninitializedTypePtr to, GDExtensionVariantPtr from) {
    copy(type, writable(to), static_cast<const variant*>(address(from))->value);
  }
  static void size(GDExtensionTypePtr at, const GDExtensionConstTypePtr*, GDExtensionTypePtr result, int) {
    *static_cast<std::int64_t*>(writable(result)) =
        static_cast<std::int64_t>(static_cast<array*>(writable(at))->bytes->size() / element_bytes(type));
  }
  static void resize(GDExtensionTypePtr at, const GDExtensionConstTypePtr* arguments, GDExtensionTypePtr, int) {
    const std::int64_t count = *static_cast<const std::int64_t*>(address(arguments[0]));
    static_cast<array*>(writable(at))->bytes->resize(static_cast<std::size_t>(count) * element_bytes(type));
  }
};

#define FAKE_GODOT_PICK(function)                                                                    \
  switch (type) {                                                                                    \
    case GDEXTENSION_VARIANT_TYPE_BOOL: return of_type<GDEXTENSION_VARIANT_TYPE_BOOL>::function;     \
    case GDEXTENSION_VARIANT_TYPE_INT: return of_type<GDEXTENSION_VARIANT_TYPE_INT>::function;       \
    case GDEXTENSION_VARIANT_TYPE_STRING: return of_type<GDEXTENSION_VARIANT_TYPE_STRING>::function; \
    case GDEXTENSION_VARIANT_TYPE_OBJECT: return of_type<GDEXTENSION_VARIANT_TYPE_OBJECT>::function; \
    case GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY:                                                 \
      return of_type<GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY>::function;                          \
    case GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY:                                                \
      return of_type<GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY>::function;                         \
    case GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY:                                              \
      return of_type<GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY>::function;                       \
    default: return nullptr;                                                                         \
  }

GDExtensionPtrConstructor constructor_of(GDExtensionVariantType type, std::int32_t number) {
  if (number != 0) return nullptr;
  FAKE_GODOT_PICK(construct);
}
GDExtensionPtrDestructor destructor_of(GDExtensionVariantType type) {
  if (type == GDEXTENSION_VARIANT_TYPE_STRING_NAME) return of_type<GDEXTENSION_VARIANT_TYPE_STRING_NAME>::destruct;
  FAKE_GODOT_PICK(destruct);
}
GDExtensionVariantFromTypeConstructorFunc variant_from(GDExtensionVariantType type) { FAKE_GODOT_PICK(variant_from); }
GDExtensionTypeFromVariantConstructorFunc variant_to(GDExtensionVariantType type) { FAKE_GODOT_PICK(variant_to); }
GDExtensionPtrBuiltInMethod size_of(GDExtensionVariantType type) { FAKE_GODOT_PICK(size); }
GDExtensionPtrBuiltInMethod resize_of(GDExtensionVariantType type) { FAKE_GODOT_PICK(resize); }
/// The hashes are those of extension_api.json of Godot 4.2 to 4.6.
GDExtensionPtrBuiltInMethod builtin_method(GDExtensionVariantType type, GDExtensionConstStringNamePtr name,
                                           GDExtensionInt hash) {
  if (!is_array(type)) return nullptr;
  if (name_of(address(name)) == "size" && hash == 3173160232) return size_of(type);
  return name_of(address(name)) == "resize" && hash == 848867239 ? resize_of(type) : nullptr;
}

template <class Element>
Element* element(const void* at, GDExtensionInt index) {
  return reinterpret_cast<Element*>(static_cast<const array*>(at)->bytes->data()) + index;
}
std::uint8_t* bytes_at(GDExtensionTypePtr at, GDExtensionInt i) { return element<std::uint8_t>(address(at), i); }
const std::uint8_t* const_bytes_at(GDExtensionConstTypePtr at, GDExtensionInt i) {
  return element<std::uint8_t>(address(at), i);
}
float* floats_at(GDExtensionTypePtr at, GDExtensionInt i) { return element<float>(address(at), i); }
const float* const_floats_at(GDExtensionConstTypePtr at, GDExtensionInt i) { return element<float>(address(at), i); }
std::int32_t* ints_at(GDExtensionTypePtr at, GDExtensionInt i) { return element<std::int32_t>(address(at), i); }

GDExtensionObjectPtr construct_object(GDExtensionConstStringNamePtr name) {
  return reinterpret_cast<GDExtensionObjectPtr>(new object{name_of(address(name)), nullptr, nullptr});
}
object& object_at(GDExtensionObjectPtr o) { return *static_cast<object*>(writable(o)); }
void set_instance(GDExtensionObjectPtr o, GDExtensionConstStringNamePtr name, GDExtensionClassInstancePtr self) {
  object_at(o).of = name_of(address(name));
  object_at(o).self = writable(self);
}
void set_binding(GDExtensionObjectPtr o, void*, void* binding, const GDExtensionInstanceBindingCallbacks*) {
  object_at(o).binding = binding;
}
void* get_binding(GDExtensionObjectPtr o, void* token, const GDExtensionInstanceBindingCallbacks* callbacks) {
  object& of = object_at(o);
  if (of.binding == nullptr) of.binding = callbacks->create_callback(token, &of);
  return of.binding;
}

void register_class(GDExtensionClassLibraryPtr, GDExtensionConstStringNamePtr name,
                    GDExtensionConstStringNamePtr parent, const GDExtensionClassCreationInfo2* info) {
  if (name_of(address(parent)) == "RefCounted") classes[name_of(address(name))].info = *info;
}
void register_method(GDExtensionClassLibraryPtr, GDExtensionConstStringNamePtr of,
                     const GDExtensionClassMethodInfo* info) {
  argument_types types = {{}, info->has_return_value ? int{info->return_value_info->type} : 0, *info};
  for (std::uint32_t i = 0; i < info->argument_count; ++i) types.types.push_back(info->arguments_info[i].type);
  classes.at(name_of(address(of))).methods[name_of(address(info->name))] = types;
}
void unregister_class(GDExtensionClassLibraryPtr, GDExtensionConstStringNamePtr name) {
  classes.erase(name_of(address(name)));
}

template <class Function>
GDExtensionInterfaceFunctionPtr plain(Function* function) {
  return reinterpret_cast<GDExtensionInterfaceFunctionPtr>(function);
}

}

GDExtensionInterfaceFunctionPtr get_function(const char* name) {
  static const std::map<std::string, GDExtensionInterfaceFunctionPtr> functions = {
      {"string_name_new_with_latin1_chars", plain(string_name_new)},
      {"string_new_with_utf8_chars", plain(string_new)},
      {"string_to_utf8_chars", plain(string_to_utf8)},
      {"variant_get_type", plain(variant_type)},
      {"variant_get_ptr_constructor", plain(constructor_of)},
      {"variant_get_ptr_destructor", plain(destructor_of)},
      {"variant_get_ptr_builtin_method", plain(builtin_method)},
      {"get_variant_from_type_constructor", plain(variant_from)},
      {"get_variant_to_type_constructor", plain(variant_to)},
      {"packed_byte_array_operator_index", plain(bytes_at)},
      {"packed_byte_array_operator_index_const", plain(const_bytes_at)},
      {"packed_float32_array_operator_index", plain(floats_at)},
      {"packed_float32_array_operator_index_const", plain(const_floats_at)},
      {"packed_int32_array_operator_index", plain(ints_at)},
      {"classdb_construct_object", plain(construct_object)},
      {"classdb_register_extension_class2", plain(register_class)},
      {"classdb_register_extension_class_method", plain(register_method)},
      {"classdb_unregister_extension_class", plain(unregister_class)},
      {"object_set_instance", plain(set_instance)},
      {"object_set_instance_binding", plain(set_binding)},
      {"object_get_instance_binding", plain(get_binding)},
  };
  const auto found = functions.find(name);
  return found != functions.end() ? found->second : nullptr;
}

}
