// SPDX-License-Identifier: MIT
#pragma once
/// The operators that a step can have, and the elementwise functions. Both lists are those of schema/netsuke.fbs, which
/// documents what each one computes and is append-only; enumerators, counts and names follow from them.
/// format/params.hpp has the parameters, ops/ what is true of each operator.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <utility>
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

/// A set of operators.
template <op... Ops>
struct op_list {
  static constexpr bool has(op o) { return ((o == Ops) || ...); }
};
/// A set of elementwise functions.
template <function... Functions>
struct function_list {
  static constexpr bool has(function f) { return ((f == Functions) || ...); }
};

namespace impl {
template <int... I>
op_list<static_cast<op>(I + 1)...> every_op(std::integer_sequence<int, I...>);
template <int... I>
function_list<static_cast<function>(I)...> every_function(std::integer_sequence<int, I...>);
}

/// Every operator, and every elementwise function, of this version.
using all_ops = decltype(impl::every_op(std::make_integer_sequence<int, op_count - 1>()));
using all_functions = decltype(impl::every_function(std::make_integer_sequence<int, function_count>()));
NSK_END
#include <netsuke/core/restore_macros.hpp>
