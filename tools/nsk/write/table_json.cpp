// SPDX-License-Identifier: MIT
#include "write/table_json.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <netsuke/format/impl/flatbuffers_assert.hpp>
#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection_generated.h>
#include "write/generated/schema_bytes.hpp"
#include "write/schema.hpp"
#include "errors.hpp"

namespace nsk::tool {
namespace {

namespace fb = flatbuffers;
using reflection::BaseType;

const reflection::Schema& schema() { return *reflection::GetSchema(schema_bytes); }

/// Fields in the order of their numbers, which is the order in which they are written.
const std::vector<const reflection::Field*>& fields_of(const reflection::Object& object) {
  static std::map<const reflection::Object*, std::vector<const reflection::Field*>> known;
  std::vector<const reflection::Field*>& fields = known[&object];
  if (fields.empty()) {
    fields.assign(object.fields()->begin(), object.fields()->end());
    std::sort(fields.begin(), fields.end(), [](const auto* a, const auto* b) { return a->id() < b->id(); });
  }
  return fields;
}

const reflection::Object& object_at(std::int32_t index) {
  return *schema().objects()->Get(static_cast<fb::uoffset_t>(index));
}
const reflection::Enum* enum_at(std::int32_t index) {
  return index < 0 ? nullptr : schema().enums()->Get(static_cast<fb::uoffset_t>(index));
}

/// Calls f with a zero of the scalar's C++ type.
template <class F>
auto visit_scalar(BaseType type, F&& f) {
  switch (type) {
    case reflection::Bool:
    case reflection::UType:
    case reflection::UByte: return f(std::uint8_t{});
    case reflection::Byte: return f(std::int8_t{});
    case reflection::Short: return f(std::int16_t{});
    case reflection::UShort: return f(std::uint16_t{});
    case reflection::Int: return f(std::int32_t{});
    case reflection::UInt: return f(std::uint32_t{});
    case reflection::Long: return f(std::int64_t{});
    case reflection::ULong: return f(std::uint64_t{});
    case reflection::Float: return f(float{});
    default: break;
  }
  refuse("the schema has a field of a type that JSON files do not carry.");
}

std::size_t size_of_scalar(BaseType type) {
  return visit_scalar(type, [](auto zero) { return sizeof zero; });
}

// Table to JSON

table_json json_of_float(float x) {
  if (std::isfinite(x)) return x;
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return "nan:" + std::to_string(bits);
}

table_json json_of_scalar(BaseType type, std::int32_t enumeration, const std::uint8_t* at) {
  return visit_scalar(type, [&](auto zero) -> table_json {
    const auto value = fb::ReadScalar<decltype(zero)>(at);
    if constexpr (std::is_same_v<decltype(zero), float>) {
      return json_of_float(value);
    } else {
      if (type == reflection::Bool) return value != 0;
      if (const reflection::Enum* e = enum_at(enumeration))
        for (const reflection::EnumVal* v : *e->values())
          if (v->value() == static_cast<std::int64_t>(value)) return v->name()->str();
      return value;
    }
  });
}

table_json json_of_struct(const reflection::Object& object, const std::uint8_t* at) {
  table_json json = table_json::object();
  for (const reflection::Field* f : fields_of(object))
    json[f->name()->str()] = json_of_scalar(f->type()->base_type(), f->type()->index(), at + f->offset());
  return json;
}

table_json json_of_object(const reflection::Object& object, const fb::Table& table);

/// Whether a list is one of structs.
bool is_struct(const reflection::Type& type) {
  return type.element() == reflection::Obj && object_at(type.index()).is_struct();
}

table_json json_of_vector(const reflection::Type& type, const fb::Table& table, fb::voffset_t field) {
  const auto* vector = table.GetPointer<const fb::Vector<std::uint8_t>*>(field);
  table_json json = table_json::array();
  for (fb::uoffset_t i = 0; i < vector->size(); ++i) {
    if (is_struct(type)) {
      const reflection::Object& object = object_at(type.index());
      json.push_back(json_of_struct(object, vector->Data() + i * static_cast<fb::uoffset_t>(object.bytesize())));
    } else if (type.element() == reflection::Obj || type.element() == reflection::String) {
      const std::uint8_t* slot = vector->Data() + i * sizeof(fb::uoffset_t);
      const std::uint8_t* target = slot + fb::ReadScalar<fb::uoffset_t>(slot);
      if (type.element() == reflection::String)
        json.push_back(reinterpret_cast<const fb::String*>(target)->str());
      else
        json.push_back(json_of_object(object_at(type.index()), *reinterpret_cast<const fb::Table*>(target)));
    } else {
      json.push_back(json_of_scalar(type.element(), type.index(), vector->Data() + i * size_of_scalar(type.element())));
    }
  }
  return json;
}

/// The object of a union whose type field stands right before it.
table_json json_of_union(const reflection::Field& field, const fb::Table& table) {
  const auto kind = table.GetField<std::uint8_t>(static_cast<fb::voffset_t>(field.offset() - sizeof(fb::voffset_t)), 0);
  for (const reflection::EnumVal* v : *enum_at(field.type()->index())->values())
    if (v->value() == kind && v->union_type())
      return json_of_object(object_at(v->union_type()->index()), *table.GetPointer<const fb::Table*>(field.offset()));
  return nullptr;
}

table_json json_of_object(const reflection::Object& object, const fb::Table& table) {
  table_json json = table_json::object();
  for (const reflection::Field* f : fields_of(object)) {
    const fb::voffset_t where = table.GetOptionalFieldOffset(f->offset());
    if (where == 0) continue;
    const reflection::Type& type = *f->type();
    const std::uint8_t* at = reinterpret_cast<const std::uint8_t*>(&table) + where;
    table_json& value = json[f->name()->str()];
    switch (type.base_type()) {
      case reflection::String: value = table.GetPointer<const fb::String*>(f->offset())->str(); break;
      case reflection::Vector: value = json_of_vector(type, table, f->offset()); break;
      case reflection::Union: value = json_of_union(*f, table); break;
      case reflection::Obj:
        value = object_at(type.index()).is_struct()
                    ? json_of_struct(object_at(type.index()), at)
                    : json_of_object(object_at(type.index()), *table.GetPointer<const fb::Table*>(f->offset()));
        break;
      default: value = json_of_scalar(type.base_type(), type.index(), at);
    }
  }
  return json;
}

// JSON to table

[[noreturn]] void refuse_at(const std::string& path, const std::string& what) { refuse("JSON: " + path + " " + what); }

constexpr std::size_t max_shown = 40;

std::string shortened(const std::string& text) {
  return text.size() > max_shown ? text.substr(0, max_shown) + "..." : text;
}

/// The value in a message: short, however long or deep it is.
std::string shown(const table_json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list of " + std::to_string(json.size());
  return shortened(json.dump());
}

/// A text of the table; the engine reads it up to its first zero.
std::string text_of(const table_json& json, const std::string& path) {
  if (!json.is_string()) refuse_at(path, "is " + shown(json) + ", but a text is wanted.");
  const std::string text = json.get<std::string>();
  if (text.find('\0') != std::string::npos) refuse_at(path, "holds the character zero, which ends a text in the file.");
  return text;
}

float float_of(const table_json& json, const std::string& path) {
  if (json.is_number()) return json.get<float>();
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  if (text == "inf") return std::numeric_limits<float>::infinity();
  if (text == "-inf") return -std::numeric_limits<float>::infinity();
  if (text.rfind("nan:", 0) == 0 && text.size() > 4 && text.find_first_not_of("0123456789", 4) == std::string::npos) {
    const auto bits = static_cast<std::uint32_t>(std::stoull(text.substr(4, 10)));
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  refuse_at(path, "is " + shown(json) + ", but a number is wanted (or \"inf\", \"-inf\").");
}

std::int64_t enumerator_of(const reflection::Enum& e, const table_json& json, const std::string& path) {
  std::string names;
  for (const reflection::EnumVal* v : *e.values()) {
    if (v->name()->str() == json.get<std::string>()) return v->value();
    names += (names.empty() ? "" : ", ") + v->name()->str();
  }
  refuse_at(path, "is " + shown(json) + ", but it can be: " + names + ".");
}

template <class T>
T integer_of(const table_json& json, std::int32_t enumeration, const std::string& path) {
  if (json.is_boolean()) return static_cast<T>(json.get<bool>());
  if (const reflection::Enum* e = enum_at(enumeration); e != nullptr && json.is_string())
    return static_cast<T>(enumerator_of(*e, json, path));
  if (!json.is_number_integer()) refuse_at(path, "is " + shown(json) + ", but an integer is wanted.");
  const bool negative = json.is_number_integer() && !json.is_number_unsigned() && json.get<std::int64_t>() < 0;
  const bool fits = negative ? std::is_signed_v<T> &&
                                   json.get<std::int64_t>() >= static_cast<std::int64_t>(std::numeric_limits<T>::min())
                             : json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  if (!fits) refuse_at(path, "is " + shown(json) + ", which its field cannot hold.");
  return static_cast<T>(negative ? json.get<std::int64_t>() : static_cast<std::int64_t>(json.get<std::uint64_t>()));
}

/// Whether it is a number that a field of type T holds as it is, which long lists consist of.
template <class T>
bool is_plain(const table_json& json) {
  if constexpr (std::is_same_v<T, float>)
    return false;
  else
    return json.is_number_unsigned() &&
           json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
}

template <class T>
T scalar_of(const table_json& json, std::int32_t enumeration, const std::string& path) {
  if constexpr (std::is_same_v<T, float>)
    return float_of(json, path);
  else
    return integer_of<T>(json, enumeration, path);
}

void check_keys(const reflection::Object& object, const table_json& json, const std::string& path) {
  if (!json.is_object()) refuse_at(path, "is " + shown(json) + ", but an object is wanted.");
  for (const auto& item : json.items()) {
    if (object.fields()->LookupByKey(item.key().c_str()) != nullptr) continue;
    std::string names;
    for (const reflection::Field* f : fields_of(object)) names += (names.empty() ? "" : ", ") + f->name()->str();
    refuse_at(path, "has no field '" + shortened(item.key()) + "'. There are: " + names + ".");
  }
}

class table_writer {
 public:
  fb::Offset<void> write(const reflection::Object& object, const table_json& json, const std::string& path) {
    check_keys(object, json, path);
    const std::vector<const reflection::Field*>& fields = fields_of(object);
    const auto is_struct = [](const reflection::Field& f) {
      return f.type()->base_type() == reflection::Obj && object_at(f.type()->index()).is_struct();
    };
    const auto is_child = [&](const reflection::Field& f) {
      const BaseType t = f.type()->base_type();
      return t == reflection::String || t == reflection::Vector || t == reflection::Union ||
             (t == reflection::Obj && !is_struct(f));
    };
    const auto inside = [&](const reflection::Field& f) { return (path.empty() ? "" : path + ".") + f.name()->str(); };
    std::vector<fb::Offset<void>> children(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const reflection::Field& f = *fields[i];
      if (json.count(f.name()->str()) != 0 && is_child(f))
        children[i] = write_child(object, f, json[f.name()->str()], json, inside(f));
    }
    const fb::uoffset_t start = m_builder.StartTable();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const reflection::Field& f = *fields[i];
      if (json.count(f.name()->str()) == 0) continue;
      const table_json& value = json[f.name()->str()];
      if (is_child(f))
        m_builder.AddOffset(f.offset(), children[i]);
      else if (is_struct(f))
        add_struct(f, value, inside(f));
      else
        visit_scalar(f.type()->base_type(), [&](auto zero) {
          m_builder.AddElement(f.offset(), scalar_of<decltype(zero)>(value, f.type()->index(), inside(f)));
        });
    }
    return fb::Offset<void>(m_builder.EndTable(start));
  }
  std::vector<std::uint8_t> finish(fb::Offset<void> root) {
    m_builder.Finish(root);
    return {m_builder.GetBufferPointer(), m_builder.GetBufferPointer() + m_builder.GetSize()};
  }

 private:
  fb::Offset<void> write_vector(const reflection::Type& type, const table_json& json, const std::string& path) {
    if (!json.is_array()) refuse_at(path, "is " + shown(json) + ", but a list is wanted.");
    const auto at = [&](std::size_t i) { return path + "[" + std::to_string(i) + "]"; };
    if (is_struct(type)) return write_structs(object_at(type.index()), json, path);
    if (type.element() == reflection::Obj || type.element() == reflection::String) {
      std::vector<fb::Offset<void>> offsets;
      for (std::size_t i = 0; i < json.size(); ++i)
        offsets.push_back(type.element() == reflection::Obj ? write(object_at(type.index()), json[i], at(i))
                                                            : m_builder.CreateString(text_of(json[i], at(i))).Union());
      return m_builder.CreateVector(offsets).Union();
    }
    return visit_scalar(type.element(), [&](auto zero) {
      std::vector<decltype(zero)> values;
      values.reserve(json.size());
      for (std::size_t i = 0; i < json.size(); ++i)
        values.push_back(is_plain<decltype(zero)>(json[i])
                             ? static_cast<decltype(zero)>(json[i].template get<std::uint64_t>())
                             : scalar_of<decltype(zero)>(json[i], type.index(), at(i)));
      return fb::Offset<void>(m_builder.CreateVector(values).Union());
    });
  }

  fb::Offset<void> write_structs(const reflection::Object& object, const table_json& json, const std::string& path) {
    struct alignas(8) block {
      std::uint8_t bytes[16];
    };
    if (object.bytesize() != sizeof(block) || object.minalign() != alignof(block))
      refuse("the schema has a list of structs that JSON files do not carry.");
    std::vector<block> blocks(json.size());
    for (std::size_t i = 0; i < json.size(); ++i)
      write_struct(object, json[i], path + "[" + std::to_string(i) + "]", blocks[i].bytes);
    return m_builder.CreateVectorOfStructs(blocks).Union();
  }

  /// Writes what a field points at.
  fb::Offset<void> write_child(const reflection::Object& parent, const reflection::Field& f, const table_json& json,
                               const table_json& siblings, const std::string& path) {
    switch (f.type()->base_type()) {
      case reflection::String: return m_builder.CreateString(text_of(json, path)).Union();
      case reflection::Vector: return write_vector(*f.type(), json, path);
      case reflection::Obj: return write(object_at(f.type()->index()), json, path);
      default: break;
    }
    const std::string kind = f.name()->str() + "_type";
    if (parent.fields()->LookupByKey(kind.c_str()) == nullptr || siblings.count(kind) == 0)
      refuse_at(path, "is there without '" + kind + "' beside it.");
    const reflection::Enum& e = *enum_at(f.type()->index());
    const auto wanted = integer_of<std::uint8_t>(siblings[kind], f.type()->index(), kind);
    for (const reflection::EnumVal* v : *e.values())
      if (v->value() == wanted && v->union_type() && v->union_type()->base_type() == reflection::Obj)
        return write(object_at(v->union_type()->index()), json, path);
    refuse_at(path, "has a type without fields.");
  }

  static void write_struct(const reflection::Object& object, const table_json& json, const std::string& path,
                           std::uint8_t* to) {
    check_keys(object, json, path);
    for (const reflection::Field* member : fields_of(object)) {
      const std::string name = member->name()->str();
      if (json.count(name) == 0) refuse_at(path, "lacks '" + name + "'.");
      visit_scalar(member->type()->base_type(), [&](auto zero) {
        fb::WriteScalar(to + member->offset(),
                        scalar_of<decltype(zero)>(json[name], member->type()->index(), path + "." + name));
      });
    }
  }
  void add_struct(const reflection::Field& f, const table_json& json, const std::string& path) {
    const reflection::Object& object = object_at(f.type()->index());
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(object.bytesize()));
    write_struct(object, json, path, bytes.data());
    m_builder.Align(static_cast<std::size_t>(object.minalign()));
    m_builder.PushBytes(bytes.data(), bytes.size());
    m_builder.TrackField(f.offset(), m_builder.GetSize());
  }

  fb::FlatBufferBuilder m_builder{1 << 16};
};

}

std::string enumerator_name(const std::string& enumeration, int value) {
  const reflection::Enum* found = schema().enums()->LookupByKey(("nsk.format." + enumeration).c_str());
  const reflection::EnumVal* named = found == nullptr ? nullptr : found->values()->LookupByKey(std::int64_t{value});
  return named == nullptr ? "" : named->name()->str();
}

table_json json_of_table(const std::byte* table) {
  return json_of_object(*schema().root_table(), *fb::GetRoot<fb::Table>(table));
}

std::vector<std::uint8_t> table_of_json(const table_json& json) {
  table_writer writer;
  return writer.finish(writer.write(*schema().root_table(), json, ""));
}

std::vector<std::uint8_t> canonical_table(const std::byte* table) { return table_of_json(json_of_table(table)); }

}
