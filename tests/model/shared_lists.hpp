// SPDX-License-Identifier: MIT
#pragma once
/// Files in which as many tables as possible refer to one list: of every list and text that the schema has, found by
/// reflection, so that a field added to the schema is covered without a line of code.
#include "plan_builder.hpp"
#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection_generated.h>
#include "../../tools/nsk/write/generated/schema_bytes.hpp"

namespace test {

inline const reflection::Schema& file_schema() { return *reflection::GetSchema(nsk::tool::schema_bytes); }

/// A field that leads from one table to the next: a table, a list of tables, or one kind of a union.
struct table_edge {
  const reflection::Field* field;
  const reflection::Object* to;
  std::int64_t union_kind = 0;

  bool is_list() const { return field->type()->base_type() == reflection::Vector; }
};

inline std::vector<table_edge> edges_from(const reflection::Object& table) {
  const auto object = [](std::int32_t i) { return file_schema().objects()->Get(static_cast<std::uint32_t>(i)); };
  std::vector<table_edge> edges;
  for (const reflection::Field* f : *table.fields()) {
    const reflection::Type& type = *f->type();
    if (type.base_type() == reflection::Obj ||
        (type.base_type() == reflection::Vector && type.element() == reflection::Obj)) {
      if (!object(type.index())->is_struct()) edges.push_back({f, object(type.index())});
    } else if (type.base_type() == reflection::Union) {
      for (const auto* kind : *file_schema().enums()->Get(static_cast<std::uint32_t>(type.index()))->values())
        if (kind->union_type()->base_type() == reflection::Obj)
          edges.push_back({f, object(kind->union_type()->index()), kind->value()});
    }
  }
  return edges;
}

/// A list or text of the schema, and a way to its table from the root.
struct list_field {
  const reflection::Object* table;
  const reflection::Field* field;
  std::vector<table_edge> path;

  /// Such as "Port.labels".
  std::string name() const {
    const std::string full = table->name()->str();
    return full.substr(full.rfind('.') + 1) + "." + field->name()->str();
  }
  int lists_on_path() const {
    int n = 0;
    for (const table_edge& e : path) n += e.is_list() ? 1 : 0;
    return n;
  }
};

/// All lists and texts of all tables, each reached by a shortest way.
inline std::vector<list_field> list_fields() {
  std::vector<list_field> found;
  std::vector<std::pair<const reflection::Object*, std::vector<table_edge>>> tables{{file_schema().root_table(), {}}};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto [table, path] = tables[i];
    for (const reflection::Field* f : *table->fields()) {
      const reflection::BaseType type = f->type()->base_type();
      if (type == reflection::String || type == reflection::Vector) found.push_back({table, f, path});
    }
    for (const table_edge& e : edges_from(*table)) {
      bool known = false;
      for (const auto& other : tables) known = known || other.first == e.to;
      if (known) continue;
      tables.push_back({e.to, path});
      tables.back().second.push_back(e);
    }
  }
  return found;
}

/// Who refers to the list: different tables; one table that the innermost list around it names again and again; or one
/// table in each of the lists on the way to it.
enum class sharing { many_tables, one_table, nested };
inline constexpr sharing all_sharings[] = {sharing::many_tables, sharing::one_table, sharing::nested};

/// Writes a table with one list, half of its bytes, and as many references to it as the other half holds.
class shared_list_writer {
 public:
  shared_list_writer(const list_field& f, sharing how) : m_field(f), m_how(how) {}

  aligned_bytes write(std::size_t bytes) const {
    const std::size_t half = bytes / 2;
    const auto lists = static_cast<std::size_t>(m_how == sharing::nested ? std::max(1, m_field.lists_on_path()) : 1);
    if (m_how != sharing::many_tables) return file(half, half / reference / lists);
    const std::size_t few = file(half, 64).size(), more = file(half, 128).size();
    return file(half, 64 * half / (more > few ? more - few : 64 * half));
  }

 private:
  static constexpr std::size_t reference = sizeof(flatbuffers::uoffset_t);
  using any = flatbuffers::Offset<void>;

  aligned_bytes file(std::size_t list_bytes, std::size_t owners) const {
    flatbuffers::FlatBufferBuilder b;
    const any list = write_list(b, list_bytes);
    b.Finish(flatbuffers::Offset<nsk::format::Model>(write_table(b, 0, list, owners).o));
    return assemble(b.GetBufferPointer(), b.GetSize(), {});
  }
  any write_list(flatbuffers::FlatBufferBuilder& b, std::size_t bytes) const {
    const reflection::Type& type = *m_field.field->type();
    if (type.base_type() == reflection::String) return b.CreateString(std::string(bytes, 'x')).Union();
    switch (type.element()) {
      case reflection::String: {
        const auto text = b.CreateString("");
        return b.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(bytes / reference, text)).Union();
      }
      case reflection::Obj: {
        if (file_schema().objects()->Get(static_cast<std::uint32_t>(type.index()))->is_struct())
          return b.CreateVectorOfStructs(std::vector<nsk::format::Term>(bytes / sizeof(nsk::format::Term))).Union();
        const any table(b.EndTable(b.StartTable()));
        return b.CreateVector(std::vector<any>(bytes / reference, table)).Union();
      }
      case reflection::Long: return b.CreateVector(std::vector<std::int64_t>(bytes / 8, 1)).Union();
      case reflection::UByte: return b.CreateVector(std::vector<std::uint8_t>(bytes, 0)).Union();
      default: return b.CreateVector(std::vector<std::uint32_t>(bytes / 4, 0)).Union();
    }
  }
  /// Whether the edge number `level` names its table more than once.
  bool repeats(std::size_t level) const {
    if (!m_field.path[level].is_list()) return false;
    for (std::size_t i = level + 1; i < m_field.path.size() && m_how != sharing::nested; ++i)
      if (m_field.path[i].is_list()) return false;
    return true;
  }
  any write_table(flatbuffers::FlatBufferBuilder& b, std::size_t level, any list, std::size_t owners) const {
    if (level == m_field.path.size()) {
      const auto start = b.StartTable();
      b.AddOffset(m_field.field->offset(), list);
      return any(b.EndTable(start));
    }
    const table_edge& edge = m_field.path[level];
    any child = write_table(b, level + 1, list, owners);
    if (edge.is_list()) {
      std::vector<any> children(repeats(level) ? owners : 1, child);
      if (repeats(level) && m_how == sharing::many_tables)
        for (std::size_t i = 1; i < children.size(); ++i) children[i] = write_table(b, level + 1, list, owners);
      child = b.CreateVector(children).Union();
    }
    const auto start = b.StartTable();
    b.AddOffset(edge.field->offset(), child);
    if (edge.union_kind != 0)
      b.AddElement<std::uint8_t>(
          static_cast<flatbuffers::voffset_t>(edge.field->offset() - sizeof(flatbuffers::voffset_t)),
          static_cast<std::uint8_t>(edge.union_kind), 0);
    return any(b.EndTable(start));
  }

  const list_field& m_field;
  sharing m_how;
};

}
