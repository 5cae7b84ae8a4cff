// SPDX-License-Identifier: MIT
#pragma once
/// From the tables of a file to the structs of format/params.hpp. Nothing is checked: numbers are as the file has them,
/// and a window that is not there has a kernel of 0.
#include <netsuke/core/hide_macros.hpp>
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

inline window read_window(const format::Window* w) {
  if (!w) return {0};
  return {w->kernel_h(),   w->kernel_w(),   w->stride_h(), w->stride_w(),
          w->dilation_h(), w->dilation_w(), w->pad_top(),  w->pad_left()};
}
inline epilogue_params read_epilogue(const format::Epilogue* e) {
  if (!e) return {};
  return {
      static_cast<function>(e->function()), e->activation_first(), e->alpha(), e->beta(), e->residual(), e->slope()};
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

inline conv_2d_params read(const format::Conv2D& t) {
  return {read_window(t.window()), static_cast<std::int32_t>(t.groups()), static_cast<conv_algorithm>(t.algorithm())};
}
inline depthwise_conv_2d_params read(const format::DepthwiseConv2D& t) { return {read_window(t.window())}; }
inline fully_connected_params read(const format::FullyConnected&) { return {}; }
inline pack_panels_params read(const format::PackPanels&) { return {}; }
inline mat_mul_params read(const format::MatMul& t) { return {t.shared_right()}; }
inline pool_2d_params read(const format::Pool2D& t) {
  return {static_cast<pool_kind>(t.kind()), read_window(t.window()), t.count_include_pad(), t.pad_bottom(),
          t.pad_right()};
}
inline unary_params read(const format::Unary&) { return {}; }
inline binary_params read(const format::Binary& t) { return {static_cast<binary_kind>(t.kind())}; }
inline copy_params read(const format::Copy&) { return {}; }
inline fill_params read(const format::Fill& t) { return {t.value()}; }
inline resize_2d_params read(const format::Resize2D& t) { return {t.row_taps(), t.column_taps()}; }
inline reduce_params read(const format::Reduce& t) { return {static_cast<reduce_kind>(t.kind())}; }
inline softmax_params read(const format::Softmax& t) { return {t.axis(), t.log()}; }
inline cast_params read(const format::Cast&) { return {}; }
inline compare_params read(const format::Compare& t) { return {static_cast<compare_kind>(t.kind())}; }
inline select_params read(const format::Select&) { return {}; }
inline arithmetic_params read(const format::Arithmetic& t) { return {static_cast<arithmetic_kind>(t.kind())}; }
inline gather_params read(const format::Gather& t) { return {t.axis()}; }
inline gather_elements_params read(const format::GatherElements& t) { return {{t.axis()}}; }
inline arg_reduce_params read(const format::ArgReduce& t) {
  return {t.axis(), static_cast<arg_reduce_kind>(t.kind()), t.last()};
}
inline top_k_params read(const format::TopK& t) { return {t.axis(), t.smallest()}; }
inline non_max_suppression_params read(const format::NonMaxSuppression& t) {
  return {t.most_per_class(), t.iou_threshold(), t.score_threshold(), t.center_point_box()};
}
inline layer_normalization_params read(const format::LayerNormalization& t) { return {t.epsilon(), t.centre()}; }
inline local_response_normalization_params read(const format::LocalResponseNormalization& t) {
  return {static_cast<std::int32_t>(t.size()), t.alpha(), t.beta(), t.bias()};
}
inline recurrent_params read(const format::Recurrent& t) {
  recurrent_params p;
  p.kind = static_cast<recurrent_kind>(t.kind());
  p.reverse = t.reverse();
  p.has_peephole = t.peephole();
  p.has_lengths = t.lengths();
  p.input_forget = t.input_forget();
  p.linear_before_reset = t.linear_before_reset();
  p.clip = t.clip();
  p.cell_clip = t.cell_clip();
  const std::uint32_t gates = count_of(t.functions()),
                      per_direction = static_cast<std::uint32_t>(recurrent_functions(p.kind));
  const bool fits = is_known(p.kind) && gates <= 2 * per_direction && count_of(t.parameters()) == 2 * gates;
  p.gate_count = fits ? static_cast<std::int32_t>(gates) : -1;
  for (std::uint32_t i = 0; fits && i < gates; ++i)
    p.gate[i / per_direction][i % per_direction] = {static_cast<recurrent_function>(t.functions()->Get(i)),
                                                    t.parameters()->Get(2 * i), t.parameters()->Get(2 * i + 1)};
  return p;
}
inline random_params read(const format::Random& t) {
  return {static_cast<random_kind>(t.kind()), t.scale(), t.offset(), t.stream()};
}
inline tree_ensemble_params read(const format::TreeEnsemble& t) { return {static_cast<tree_aggregate>(t.aggregate())}; }

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
static_assert(ends_with<arithmetic_kind>(format::ArithmeticKind::MAX), "the schema has other kinds of arithmetic");
static_assert(ends_with<arg_reduce_kind>(format::ArgReduceKind::MAX), "the schema has other kinds of arg_reduce");
static_assert(ends_with<recurrent_kind>(format::RecurrentKind::MAX), "the schema has other kinds of layers");
static_assert(ends_with<recurrent_function>(format::RecurrentFunction::MAX), "the schema has other gate functions");
static_assert(ends_with<random_kind>(format::RandomKind::MAX), "the schema has other distributions");
static_assert(ends_with<tree_aggregate>(format::TreeAggregate::MAX), "the schema has other aggregates");
static_assert(ends_with<packing>(format::Packing::MAX), "the schema has other arrangements");

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
