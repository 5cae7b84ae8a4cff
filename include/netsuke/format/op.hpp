// SPDX-License-Identifier: MIT
#pragma once
/// The operators that a step can have, and the elementwise functions. Both lists are those of schema/netsuke.fbs, which
/// documents what each one computes and is append-only; enumerators, counts and names follow from them.
/// format/params.hpp has the parameters, ops/ what is true of each operator.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>
#include <netsuke/format/generated/lists.hpp>

NSK_BEGIN
#define NSK_OP_ENUMERATOR(name, Table) name,
enum class op : std::uint8_t { none, NSK_OP_LIST(NSK_OP_ENUMERATOR) };
#undef NSK_OP_ENUMERATOR

#define NSK_FUNCTION_ENUMERATOR(name) name,
enum class function : std::uint8_t { NSK_FUNCTION_LIST(NSK_FUNCTION_ENUMERATOR) };
#undef NSK_FUNCTION_ENUMERATOR

/// Number of operators, `none` included, and of functions.
#define NSK_PLUS_ONE(...) +1
inline constexpr int op_count = 1 NSK_OP_LIST(NSK_PLUS_ONE);
inline constexpr int function_count = 0 NSK_FUNCTION_LIST(NSK_PLUS_ONE);
#undef NSK_PLUS_ONE

/// Returns the name of an operator as the schema spells it: "Conv2D"; "" for none and for numbers that are no operator.
constexpr const char* name_of(op o) {
  switch (o) {
#define NSK_OP_NAME(name, Table) \
  case op::name: return #Table;
    NSK_OP_LIST(NSK_OP_NAME)
#undef NSK_OP_NAME
    case op::none: break;
  }
  return "";
}
/// Returns the name of an elementwise function as the schema spells it: "leaky_relu".
constexpr const char* name_of(function f) {
  switch (f) {
#define NSK_FUNCTION_NAME(name) \
  case function::name: return #name;
    NSK_FUNCTION_LIST(NSK_FUNCTION_NAME)
#undef NSK_FUNCTION_NAME
  }
  return "";
}

/// A set of enumerators, a bit for each: equal sets are one type, whose name is short in symbols and messages.
template <class Enum, std::uint64_t Bits>
struct enum_set {
  static constexpr std::uint64_t bits = Bits;
  static constexpr bool has(Enum e) { return (Bits >> static_cast<unsigned>(e) & 1) != 0; }
};

namespace impl {
template <class Enum, Enum... Members>
using set_of = enum_set<Enum, (std::uint64_t{0} | ... | (std::uint64_t{1} << static_cast<unsigned>(Members)))>;
static_assert(op_count <= 64 && function_count < 64, "a set has 64 bits");
}

/// A set of operators; of elementwise functions.
template <op... Ops>
using op_list = impl::set_of<op, Ops...>;
template <function... Functions>
using function_list = impl::set_of<function, Functions...>;

/// Every operator, and every elementwise function, of this version.
using all_ops = enum_set<op, (~std::uint64_t{0} >> (64 - op_count)) - 1>;
using all_functions = enum_set<function, (~std::uint64_t{0} >> (64 - function_count))>;
NSK_END
#include <netsuke/core/restore_macros.hpp>
