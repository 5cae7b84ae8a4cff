// SPDX-License-Identifier: MIT
#pragma once
/// Walks the table of a file before anything is known of it. The generated accessors call it for each of their fields.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/format/impl/flatbuffers.hpp>
#include <netsuke/format/impl/work_budget.hpp>
#include <type_traits>

NSK_BEGIN
namespace impl {

/// FlatBuffers' verifier, which keeps references inside the table, with a price on every visit: a list costs its bytes
/// each time that a table refers to it, so that whatever goes through the lists of all tables later is bounded too.
class table_verifier {
 public:
  table_verifier(span<const std::byte> table, work_budget& work)
      : m_data(reinterpret_cast<const std::uint8_t*>(table.data())),
        m_bounds(m_data, table.size(), limits()),
        m_work(work) {}

  /// Returns the table at the root with all that it refers to verified, null where that failed.
  template <class T>
  const T* root() {
    const std::size_t offset = m_bounds.VerifyOffset(std::size_t{0});
    if (offset == 0) return nullptr;
    const T* table = reinterpret_cast<const T*>(m_data + offset);
    return table->Verify(*this) ? table : nullptr;
  }

  /// For a table's own fields.
  flatbuffers::Verifier& bounds() { return m_bounds; }

  template <class T>
  bool VerifyTable(const T* table) {
    return !table || table->Verify(*this);
  }
  /// A list of numbers, or of structs, of which FlatBuffers gives pointers.
  template <class T>
  bool VerifyVector(const flatbuffers::Vector<T>* v) {
    return !v || verify_list(reinterpret_cast<const std::uint8_t*>(v), sizeof(std::remove_pointer_t<T>));
  }
  NSK_NOINLINE bool VerifyString(const flatbuffers::String* s) {
    return m_bounds.VerifyString(s) && (!s || charge(s->size()));
  }
  NSK_NOINLINE bool VerifyVectorOfStrings(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* v) {
    for (std::uint32_t i = 0; v && i < v->size(); ++i) {
      if (!VerifyString(v->Get(i))) return false;
    }
    return true;
  }
  template <class T>
  bool VerifyVectorOfTables(const flatbuffers::Vector<flatbuffers::Offset<T>>* v) {
    for (std::uint32_t i = 0; v && i < v->size(); ++i) {
      if (!v->Get(i)->Verify(*this)) return false;
    }
    return true;
  }
  NSK_NOINLINE bool EndTable() { return m_bounds.EndTable() && m_work.spend(table_work); }

 private:
  /// What remains of a list without elements: the number of them, and a text's last byte.
  static constexpr std::uint64_t empty_list_bytes = 5;

  /// Once for lists of all types.
  NSK_NOINLINE bool verify_list(const std::uint8_t* list, std::size_t element) {
    if (!m_bounds.VerifyVectorOrString(list, element)) return false;
    return charge(std::uint64_t{flatbuffers::ReadScalar<flatbuffers::uoffset_t>(list)} * element);
  }
  bool charge(std::uint64_t bytes) { return m_work.spend(list_byte_work * (empty_list_bytes + bytes)); }

  static flatbuffers::Verifier::Options limits() {
    flatbuffers::Verifier::Options limits;
    limits.max_depth = 8;
    limits.max_tables = ~flatbuffers::uoffset_t{0};
    return limits;
  }

  const std::uint8_t* m_data;
  flatbuffers::Verifier m_bounds;
  work_budget& m_work;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
