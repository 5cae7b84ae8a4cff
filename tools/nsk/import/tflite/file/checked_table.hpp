// SPDX-License-Identifier: MIT
#pragma once
/// What the generated accessors of TensorFlow Lite's tables stand on: tables that check their fields by type.
#include <climits>
#include <netsuke/format/impl/flatbuffers_assert.hpp>
#include <flatbuffers/base.h>
#include <flatbuffers/buffer.h>
#include <flatbuffers/string.h>
#include <flatbuffers/table.h>
#include <flatbuffers/vector.h>
#include <flatbuffers/verifier.h>
#include <type_traits>

// limits.h of macOS has a macro of the name of an operator.
#undef ARG_MAX

namespace nsk::tool {

struct checked_table : flatbuffers::Table {
  /// Whether fields of type T, where the table has them, are inside the file with everything that they point to.
  /// Unions are not among them: what they point to depends on a second field.
  template <class T, class... Fields>
  bool verify_fields(flatbuffers::Verifier& verifier, Fields... fields) const {
    if constexpr (std::is_arithmetic_v<T>)
      return (VerifyField<T>(verifier, fields, sizeof(T)) && ...);
    else
      return ((VerifyOffset(verifier, fields) && verify_target(verifier, GetPointer<const T*>(fields))) && ...);
  }

 private:
  template <class T>
  static bool verify_target(flatbuffers::Verifier& verifier,
                            const flatbuffers::Vector<flatbuffers::Offset<T>>* tables) {
    return verifier.VerifyVector(tables) && verifier.VerifyVectorOfTables(tables);
  }
  template <class T>
  static bool verify_target(flatbuffers::Verifier& verifier, const flatbuffers::Vector<T>* numbers) {
    return verifier.VerifyVector(numbers);
  }
  static bool verify_target(flatbuffers::Verifier& verifier, const flatbuffers::String* text) {
    return verifier.VerifyString(text);
  }
  template <class T>
  static bool verify_target(flatbuffers::Verifier& verifier, const T* table) {
    return verifier.VerifyTable(table);
  }
};

}
