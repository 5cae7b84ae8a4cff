// SPDX-License-Identifier: MIT
#pragma once
/// The operators that a step can have, and the elementwise functions: one list each. Enumerators, counts, names and
/// the checks against the schema follow from the lists. schema/netsuke.fbs documents what each one computes;
/// format/params.hpp has the parameters, ops/ what is true of each operator.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <utility>
#include <netsuke/core/assert.hpp>

/// X(name, Table): every operator, and its table in the schema. Append-only: the order gives the values in files.
#define NSK_OP_LIST(X)                                        \
  X(conv_2d, Conv2D)                                          \
  X(depthwise_conv_2d, DepthwiseConv2D)                       \
  X(fully_connected, FullyConnected)                          \
  X(pack_panels, PackPanels)                                  \
  X(mat_mul, MatMul)                                          \
  X(pool_2d, Pool2D)                                          \
  X(unary, Unary)                                             \
  X(binary, Binary)                                           \
  X(copy, Copy)                                               \
  X(fill, Fill)                                               \
  X(resize_2d, Resize2D)                                      \
  X(reduce, Reduce)                                           \
  X(softmax, Softmax)                                         \
  X(cast, Cast)                                               \
  X(compare, Compare)                                         \
  X(select, Select)                                           \
  X(arithmetic, Arithmetic)                                   \
  X(gather, Gather)                                           \
  X(gather_elements, GatherElements)                          \
  X(arg_reduce, ArgReduce)                                    \
  X(top_k, TopK)                                              \
  X(non_max_suppression, NonMaxSuppression)                   \
  X(layer_normalization, LayerNormalization)                  \
  X(local_response_normalization, LocalResponseNormalization) \
  X(recurrent, Recurrent)                                     \
  X(random, Random)                                           \
  X(tree_ensemble, TreeEnsemble)

/// X(name): every elementwise function, as the schema names it. Append-only.
#define NSK_FUNCTION_LIST(X) \
  X(identity)                \
  X(clip)                    \
  X(leaky_relu)              \
  X(prelu)                   \
  X(sigmoid)                 \
  X(hard_sigmoid)            \
  X(hard_swish)              \
  X(silu)                    \
  X(tanh)                    \
  X(exp)                     \
  X(log)                     \
  X(sqrt)                    \
  X(reciprocal)              \
  X(neg)                     \
  X(abs)                     \
  X(floor)                   \
  X(ceil)                    \
  X(round)                   \
  X(erf)                     \
  X(gelu)                    \
  X(elu)                     \
  X(softplus)                \
  X(square)                  \
  X(sign)                    \
  X(sin)                     \
  X(cos)

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
