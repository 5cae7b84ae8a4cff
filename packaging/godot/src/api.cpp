// SPDX-License-Identifier: MIT
#include "api.hpp"
#include <cstring>
#include <optional>

namespace godot_api {

functions godot;

namespace {

// Hashes of builtin methods, from Godot's extension_api.json: they change only when a method's parameters do.
constexpr GDExtensionInt hash_of_size = 3173160232, hash_of_resize = 848867239;
constexpr std::uint32_t usage_default = 6, method_flags_default = 1;

GDExtensionInstanceBindingCallbacks no_binding = {[](void*, void*) -> void* { return nullptr; },
                                                  [](void*, void*, void*) {},
                                                  [](void*, void*, GDExtensionBool) -> GDExtensionBool { return 1; }};

/// Methods of a packed array, asked for once.
struct array_methods {
  builtin size = nullptr, resize = nullptr;

  array_methods() = default;
  explicit array_methods(GDExtensionVariantType type) {
    const string_name size_name("size"), resize_name("resize");
    size = godot.builtin_method(type, at(size_name.block), hash_of_size);
    resize = godot.builtin_method(type, at(resize_name.block), hash_of_resize);
  }
};
array_methods bytes_methods, ints_methods, floats_methods;
const array_methods& methods_of(GDExtensionVariantType type) {
  return type == GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY    ? bytes_methods
         : type == GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY ? ints_methods
                                                               : floats_methods;
}

bool has_destructor(GDExtensionVariantType type) {
  return type != GDEXTENSION_VARIANT_TYPE_NIL && type != GDEXTENSION_VARIANT_TYPE_INT &&
         type != GDEXTENSION_VARIANT_TYPE_BOOL && type != GDEXTENSION_VARIANT_TYPE_OBJECT;
}
void destroy(GDExtensionVariantType type, value& of) {
  if (has_destructor(type)) godot.destructor_of(type)(at(of.block));
}

int count_of(const method& m) {
  int count = 0;
  while (count < max_arguments && m.arguments[count].name != nullptr) ++count;
  return count;
}

/// Calls a method with variants: what scripts without types do.
void call_with_variants(void* userdata, GDExtensionClassInstancePtr self, const GDExtensionConstVariantPtr* given,
                        GDExtensionInt given_count, GDExtensionVariantPtr result, GDExtensionCallError* error) {
  const method& m = *static_cast<const method*>(userdata);
  const int count = count_of(m);
  if (given_count != count) {
    error->error =
        given_count < count ? GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS : GDEXTENSION_CALL_ERROR_TOO_MANY_ARGUMENTS;
    error->expected = count;
    return;
  }
  for (int i = 0; i < count; ++i) {
    if (godot.variant_type(given[i]) == m.arguments[i].type) continue;
    error->error = GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT;
    error->argument = i;
    error->expected = m.arguments[i].type;
    return;
  }
  value values[max_arguments], returned;
  const void* arguments[max_arguments] = {};
  for (int i = 0; i < count; ++i) {
    godot.variant_to(m.arguments[i].type)(at(values[i].block), at(given[i]));
    arguments[i] = values[i].block;
  }
  if (has_destructor(m.result)) godot.constructor_of(m.result, 0)(at(returned.block), nullptr);
  m.call(at(self), arguments, returned.block);
  if (m.result != GDEXTENSION_VARIANT_TYPE_NIL) godot.variant_from(m.result)(at(result), at(returned.block));
  destroy(m.result, returned);
  for (int i = 0; i < count; ++i) destroy(m.arguments[i].type, values[i]);
  error->error = GDEXTENSION_CALL_OK;
}

/// Calls a method with Godot's values themselves: what scripts with types do.
void call_with_values(void* userdata, GDExtensionClassInstancePtr self, const GDExtensionConstTypePtr* arguments,
                      GDExtensionTypePtr result) {
  static_cast<const method*>(userdata)->call(at(self), at(arguments), at(result));
}

/// What one registration tells Godot of an argument, which copies it.
struct property {
  string_name name, class_name;
  value hint;
  property(const char* of, const char* type) : name(of), class_name(type) { godot.string_new(at(hint.block), ""); }
  ~property() { godot.destroy_text(at(hint.block)); }
  GDExtensionPropertyInfo info(GDExtensionVariantType type) {
    return {type, at(name.block), at(class_name.block), 0, at(hint.block), usage_default};
  }
};

}

bool functions::load(GDExtensionInterfaceGetProcAddress get, GDExtensionClassLibraryPtr of) {
  library = of;
  bool all = true;
#define NSK_GODOT_LOAD(type, member, name)                          \
  member = reinterpret_cast<GDExtensionInterface##type>(get(name)); \
  all = all && member != nullptr;
  NSK_GODOT_FUNCTIONS(NSK_GODOT_LOAD)
#undef NSK_GODOT_LOAD
  if (!all) return false;
  destroy_name = destructor_of(GDEXTENSION_VARIANT_TYPE_STRING_NAME);
  destroy_text = destructor_of(GDEXTENSION_VARIANT_TYPE_STRING);
  bytes_methods = array_methods(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY);
  ints_methods = array_methods(GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY);
  floats_methods = array_methods(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY);
  return bytes_methods.size != nullptr && bytes_methods.resize != nullptr;
}

std::int64_t size_of(GDExtensionVariantType type, const void* array) {
  std::int64_t size = 0;
  methods_of(type).size(at(array), nullptr, at(&size), 0);
  return size;
}
void resize(GDExtensionVariantType type, void* array, std::int64_t size) {
  const void* arguments[] = {&size};
  std::int64_t error = 0;
  methods_of(type).resize(at(array), at(arguments), at(&error), 1);
}

void put(void* to, std::int64_t number) { *static_cast<std::int64_t*>(to) = number; }
void put(void* to, bool truth) { *static_cast<GDExtensionBool*>(to) = truth ? 1 : 0; }
void put(void* to, const char* utf8) {
  godot.destroy_text(at(to));
  godot.string_new(at(to), utf8);
}
void put_bytes(void* to, const void* from, std::size_t count) {
  resize(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, to, static_cast<std::int64_t>(count));
  if (count > 0) std::memcpy(godot.bytes_at(at(to), 0), from, count);
}
void put_floats(void* to, const void* from, std::size_t count) {
  resize(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, to, static_cast<std::int64_t>(count));
  if (count > 0) std::memcpy(godot.floats_at(at(to), 0), from, count * sizeof(float));
}
void put_ints(void* to, const std::int32_t* from, std::size_t count) {
  resize(GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY, to, static_cast<std::int64_t>(count));
  if (count > 0) std::memcpy(godot.ints_at(at(to), 0), from, count * sizeof(std::int32_t));
}

bytes::bytes(const void* argument)
    : count(static_cast<std::size_t>(size_of(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, argument))) {
  if (count > 0) data = godot.const_bytes_at(at(argument), 0);
}
floats::floats(const void* argument)
    : count(static_cast<std::size_t>(size_of(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, argument))) {
  if (count > 0) data = godot.const_floats_at(at(argument), 0);
}

std::string text(const void* argument) {
  std::string utf8(static_cast<std::size_t>(godot.string_to_utf8(at(argument), nullptr, 0)), '\0');
  godot.string_to_utf8(at(argument), &utf8[0], static_cast<GDExtensionInt>(utf8.size()));
  return utf8;
}

void register_class(const char* name, GDExtensionClassCreateInstance create, GDExtensionClassFreeInstance free) {
  GDExtensionClassCreationInfo2 info = {};
  info.is_exposed = 1;
  info.create_instance_func = create;
  info.free_instance_func = free;
  const string_name own(name), parent("RefCounted");
  godot.register_class(godot.library, at(own.block), at(parent.block), &info);
}

void register_methods(const char* class_name, const method* methods, int count) {
  const string_name own(class_name);
  for (int i = 0; i < count; ++i) {
    const method& m = methods[i];
    const int arguments = count_of(m);
    string_name name(m.name);
    std::optional<property> names[max_arguments];
    GDExtensionPropertyInfo infos[max_arguments];
    GDExtensionClassMethodArgumentMetadata metadata[max_arguments] = {};
    for (int k = 0; k < arguments; ++k) {
      const argument& a = m.arguments[k];
      infos[k] = names[k].emplace(a.name, a.class_name != nullptr ? a.class_name : "").info(a.type);
    }
    property returned("", "");
    GDExtensionPropertyInfo result = returned.info(m.result);
    GDExtensionClassMethodInfo info = {};
    info.name = at(name.block);
    info.method_userdata = const_cast<method*>(&m);
    info.call_func = call_with_variants;
    info.ptrcall_func = call_with_values;
    info.method_flags = method_flags_default;
    info.has_return_value = m.result != GDEXTENSION_VARIANT_TYPE_NIL;
    info.return_value_info = &result;
    info.argument_count = static_cast<std::uint32_t>(arguments);
    info.arguments_info = infos;
    info.arguments_metadata = metadata;
    godot.register_method(godot.library, at(own.block), &info);
  }
}

GDExtensionObjectPtr make_object(const char* class_name, void* self) {
  const string_name own(class_name), parent("RefCounted");
  const GDExtensionObjectPtr object = godot.construct_object(at(parent.block));
  godot.set_instance(object, at(own.block), at(self));
  godot.set_binding(object, godot.library, self, &no_binding);
  return object;
}
void* self_of(const void* argument) {
  const GDExtensionObjectPtr object = *static_cast<const GDExtensionObjectPtr*>(argument);
  return object != nullptr ? godot.get_binding(object, godot.library, &no_binding) : nullptr;
}

}
