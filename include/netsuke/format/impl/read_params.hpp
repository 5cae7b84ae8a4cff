// SPDX-License-Identifier: MIT
#pragma once
/// From the tables of a file to the structs of format/params.hpp, and the proof that both have the same numbers.
#include <netsuke/core/hide_macros.hpp>
#include <type_traits>
#include <netsuke/core/span.hpp>
#include <netsuke/core/tensor.hpp>
#include <netsuke/format/generated/netsuke.hpp>
#include <netsuke/format/packing.hpp>
#include <netsuke/format/params.hpp>

NSK_BEGIN
namespace impl {

/// Text of the file, "" where it has none.
inline const char* text(const flatbuffers::String* s) { return s ? s->c_str() : ""; }
template <class T>
span<const T> items(const flatbuffers::Vector<T>* v) {
  return v ? span<const T>(reinterpret_cast<const T*>(v->Data()), v->size()) : span<const T>();
}
template <class T>
std::uint32_t count_of(const flatbuffers::Vector<T>* v) {
  return v ? v->size() : 0;
}

/// The table of a step's operator, which must be `O`.
template <op O>
struct table_type;
#define NSK_TABLE_TYPE(name, Table) \
  template <>                       \
  struct table_type<op::name> {     \
    using type = format::Table;     \
  };
NSK_OP_LIST(NSK_TABLE_TYPE)
#undef NSK_TABLE_TYPE
template <op O>
const typename table_type<O>::type* table_of(const format::Step* s) {
  return static_cast<const typename table_type<O>::type*>(s->op());
}

/// The epilogue of an operator, whose table may have none.
template <class Table>
auto epilogue_of(const Table& t, int) -> decltype(t.epilogue()) {
  return t.epilogue();
}
template <class Table>
const format::Epilogue* epilogue_of(const Table&, long) {
  return nullptr;
}

/// The parameters of a step's operator, which must be `O`.
template <op O>
params_of<O> read_params(const format::Step* s) {
  if constexpr (std::is_empty<params_of<O>>::value) {
    return {};
  } else {
    return params_of<O>::of(*table_of<O>(s));
  }
}

/// The schema's numbers are those of the enumerations.
#define NSK_SAME_NUMBER(name, Table)                                                     \
  static_assert(static_cast<int>(op::name) == static_cast<int>(format::Operator::Table), \
                "the schema has another order");
NSK_OP_LIST(NSK_SAME_NUMBER)
#undef NSK_SAME_NUMBER
static_assert(op_count == static_cast<int>(format::Operator::MAX) + 1, "the schema has other operators");
#define NSK_SAME_NUMBER(name)                                                                 \
  static_assert(static_cast<int>(function::name) == static_cast<int>(format::Function::name), \
                "the schema has another order");
NSK_FUNCTION_LIST(NSK_SAME_NUMBER)
#undef NSK_SAME_NUMBER
static_assert(function_count == static_cast<int>(format::Function::MAX) + 1, "the schema has other functions");

/// Whether the last enumerator of the schema is known, and nothing behind it.
template <class Kind, class Number>
constexpr bool ends_with(Number last) {
  return is_known(static_cast<Kind>(last)) && !is_known(static_cast<Kind>(static_cast<int>(last) + 1));
}
static_assert(ends_with<conv_algorithm>(format::ConvAlgorithm::MAX), "the schema has other algorithms");
static_assert(ends_with<pool_kind>(format::PoolKind::MAX), "the schema has other kinds of pooling");
static_assert(ends_with<binary_kind>(format::BinaryKind::MAX), "the schema has other kinds of binary operators");
static_assert(ends_with<reduce_kind>(format::ReduceKind::MAX), "the schema has other kinds of reductions");
static_assert(ends_with<compare_kind>(format::CompareKind::MAX), "the schema has other kinds of comparisons");
static_assert(ends_with<scatter_kind>(format::ScatterKind::MAX), "the schema has other kinds of scattering");
static_assert(ends_with<arithmetic_kind>(format::ArithmeticKind::MAX), "the schema has other kinds of arithmetic");
static_assert(ends_with<arg_reduce_kind>(format::ArgReduceKind::MAX), "the schema has other kinds of arg_reduce");
static_assert(ends_with<matrix_kind>(format::MatrixKind::MAX), "the schema has other functions of matrices");
static_assert(ends_with<recurrent_kind>(format::RecurrentKind::MAX), "the schema has other kinds of layers");
static_assert(ends_with<recurrent_function>(format::RecurrentFunction::MAX), "the schema has other gate functions");
static_assert(ends_with<random_kind>(format::RandomKind::MAX), "the schema has other distributions");
static_assert(ends_with<tree_aggregate>(format::TreeAggregate::MAX), "the schema has other aggregates");
static_assert(ends_with<packing>(format::Packing::MAX), "the schema has other arrangements");

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
