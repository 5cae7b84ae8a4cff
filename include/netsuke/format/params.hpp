// SPDX-License-Identifier: MIT
#pragma once
/// The parameters of every operator: one plain struct each, for whoever reads, writes, plans or computes a step.
/// schema/netsuke.fbs says what each field means; what the fields are called there they are called here. `of` copies
/// them from a table of a file as they are; nothing is checked. `to` hands them on in the order of the schema, for the
/// writer; structs with a window, an epilogue or a list have none.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/format/quantized_params.hpp>
#include <netsuke/format/window.hpp>

NSK_BEGIN
struct conv_2d_params {
  window w{};
  std::int32_t groups = 1;
  conv_algorithm algorithm = conv_algorithm::direct;
  template <class Table>
  static conv_2d_params of(const Table& t) {
    return {window::of(t.window()), static_cast<std::int32_t>(t.groups()), static_cast<conv_algorithm>(t.algorithm())};
  }
};
struct depthwise_conv_2d_params {
  window w{};
  template <class Table>
  static depthwise_conv_2d_params of(const Table& t) {
    return {window::of(t.window())};
  }
};
struct fully_connected_params {};
struct pack_panels_params {};
struct mat_mul_params {
  bool shared_right = false;  ///< one right matrix for every left one
  template <class Table>
  static mat_mul_params of(const Table& t) {
    return {t.shared_right()};
  }
};
struct pool_2d_params {
  pool_kind kind = pool_kind::max;
  window w{};
  bool count_include_pad = false;
  std::int32_t pad_bottom = 0, pad_right = 0;
  template <class Table>
  static pool_2d_params of(const Table& t) {
    return {static_cast<pool_kind>(t.kind()), window::of(t.window()), t.count_include_pad(), t.pad_bottom(),
            t.pad_right()};
  }
};
struct unary_params {};
struct binary_params {
  binary_kind kind = binary_kind::add;
  template <class Table>
  static binary_params of(const Table& t) {
    return {static_cast<binary_kind>(t.kind())};
  }
};
struct copy_params {};
struct fill_params {
  float value = 0;
  template <class Table>
  static fill_params of(const Table& t) {
    return {t.value()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(value);
  }
};
struct resize_2d_params {
  std::int32_t row_taps = 1, column_taps = 1;
  template <class Table>
  static resize_2d_params of(const Table& t) {
    return {t.row_taps(), t.column_taps()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(row_taps, column_taps);
  }
};
struct reduce_params {
  reduce_kind kind = reduce_kind::mean;
  template <class Table>
  static reduce_params of(const Table& t) {
    return {static_cast<reduce_kind>(t.kind())};
  }
};
struct softmax_params {
  std::int32_t axis = 0;
  bool log = false;
  template <class Table>
  static softmax_params of(const Table& t) {
    return {t.axis(), t.log()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(axis, log);
  }
};
struct matrix_function_params {
  matrix_kind kind = matrix_kind::determinant;
  template <class Table>
  static matrix_function_params of(const Table& t) {
    return {static_cast<matrix_kind>(t.kind())};
  }
  template <class Create>
  auto to(Create create) const {
    return create(kind);
  }
};
struct integer_mat_mul_params {};
struct sample_image_params {};
struct cast_params {};
struct compare_params {
  compare_kind kind = compare_kind::equal;
  template <class Table>
  static compare_params of(const Table& t) {
    return {static_cast<compare_kind>(t.kind())};
  }
  template <class Create>
  auto to(Create create) const {
    return create(kind);
  }
};
struct select_params {};
struct arithmetic_params {
  arithmetic_kind kind = arithmetic_kind::add;
  template <class Table>
  static arithmetic_params of(const Table& t) {
    return {static_cast<arithmetic_kind>(t.kind())};
  }
  template <class Create>
  auto to(Create create) const {
    return create(kind);
  }
};
struct gather_params {
  std::int32_t axis = 0;
  template <class Table>
  static gather_params of(const Table& t) {
    return {t.axis()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(axis);
  }
};
struct gather_elements_params : gather_params {
  template <class Table>
  static gather_elements_params of(const Table& t) {
    return {gather_params::of(t)};
  }
};
struct scatter_params {
  std::int32_t axis = 0;
  scatter_kind kind = scatter_kind::replace;
  template <class Table>
  static scatter_params of(const Table& t) {
    return {t.axis(), static_cast<scatter_kind>(t.kind())};
  }
  template <class Create>
  auto to(Create create) const {
    return create(axis, kind);
  }
};
struct arg_reduce_params {
  std::int32_t axis = 0;
  arg_reduce_kind kind = arg_reduce_kind::max;
  bool last = false;
  template <class Table>
  static arg_reduce_params of(const Table& t) {
    return {t.axis(), static_cast<arg_reduce_kind>(t.kind()), t.last()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(axis, kind, last);
  }
};
struct top_k_params {
  std::int32_t axis = 0;
  bool smallest = false;
  template <class Table>
  static top_k_params of(const Table& t) {
    return {t.axis(), t.smallest()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(axis, smallest);
  }
};
struct non_max_suppression_params {
  std::uint32_t most_per_class = 0;
  float iou_threshold = 0, score_threshold = 0;
  bool center_point_box = false;
  template <class Table>
  static non_max_suppression_params of(const Table& t) {
    return {t.most_per_class(), t.iou_threshold(), t.score_threshold(), t.center_point_box()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(most_per_class, iou_threshold, score_threshold, center_point_box);
  }
};
struct layer_normalization_params {
  float epsilon = 0;
  bool centre = true;
  template <class Table>
  static layer_normalization_params of(const Table& t) {
    return {t.epsilon(), t.centre()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(epsilon, centre);
  }
};
struct local_response_normalization_params {
  std::int32_t size = 1;
  float alpha = 0, beta = 0, bias = 0;
  template <class Table>
  static local_response_normalization_params of(const Table& t) {
    return {static_cast<std::int32_t>(t.size()), t.alpha(), t.beta(), t.bias()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(size, alpha, beta, bias);
  }
};

/// Gates of a recurrent layer, the functions that they have, and the rows behind its time steps: the last h, and c.
constexpr int recurrent_gates(recurrent_kind k) {
  return k == recurrent_kind::rnn ? 1 : k == recurrent_kind::gru ? 3 : 4;
}
constexpr int recurrent_functions(recurrent_kind k) { return static_cast<int>(k) + 1; }
constexpr int recurrent_final_rows(recurrent_kind k) { return k == recurrent_kind::lstm ? 2 : 1; }

/// Function of a gate, with its parameters.
struct recurrent_gate {
  recurrent_function fn = recurrent_function::sigmoid;
  float alpha = 0, beta = 0;
};
struct recurrent_params {
  recurrent_kind kind = recurrent_kind::rnn;
  std::uint32_t reverse = 0;  ///< bit d: direction d runs backwards
  bool has_peephole = false, has_lengths = false, input_forget = false, linear_before_reset = false;
  float clip = 0, cell_clip = 0;   ///< of the arguments of f and g, and of c (lstm); 0: no clipping
  std::int32_t gate_count = 0;     ///< of all directions; -1 where the file's lists do not agree, or are too long
  recurrent_gate gate[2][3] = {};  ///< by direction
  template <class Table>
  static recurrent_params of(const Table& t) {
    recurrent_params p;
    p.kind = static_cast<recurrent_kind>(t.kind());
    p.reverse = t.reverse();
    p.has_peephole = t.peephole();
    p.has_lengths = t.lengths();
    p.input_forget = t.input_forget();
    p.linear_before_reset = t.linear_before_reset();
    p.clip = t.clip();
    p.cell_clip = t.cell_clip();
    const std::uint32_t gates = t.functions() ? t.functions()->size() : 0,
                        numbers = t.parameters() ? t.parameters()->size() : 0,
                        per_direction = static_cast<std::uint32_t>(recurrent_functions(p.kind));
    const bool fits = is_known(p.kind) && gates <= 2 * per_direction && numbers == 2 * gates;
    p.gate_count = fits ? static_cast<std::int32_t>(gates) : -1;
    for (std::uint32_t i = 0; fits && i < gates; ++i)
      p.gate[i / per_direction][i % per_direction] = {static_cast<recurrent_function>(t.functions()->Get(i)),
                                                      t.parameters()->Get(2 * i), t.parameters()->Get(2 * i + 1)};
    return p;
  }
};

struct random_params {
  random_kind kind = random_kind::uniform;
  float scale = 1, offset = 0;
  std::uint32_t stream = 0;
  template <class Table>
  static random_params of(const Table& t) {
    return {static_cast<random_kind>(t.kind()), t.scale(), t.offset(), t.stream()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(kind, scale, offset, stream);
  }
};
struct tree_ensemble_params {
  tree_aggregate aggregate = tree_aggregate::sum;
  template <class Table>
  static tree_ensemble_params of(const Table& t) {
    return {static_cast<tree_aggregate>(t.aggregate())};
  }
  template <class Create>
  auto to(Create create) const {
    return create(aggregate);
  }
};

/// The struct of an operator's parameters.
template <op>
struct params_type;
#define NSK_PARAMS_TYPE(name, Table) \
  template <>                        \
  struct params_type<op::name> {     \
    using type = name##_params;      \
  };
NSK_OP_LIST(NSK_PARAMS_TYPE)
#undef NSK_PARAMS_TYPE
template <op O>
using params_of = typename params_type<O>::type;

/// Positions of the inputs of a recurrent step that it may lack, -1 where it does, and how many inputs it has.
struct recurrent_inputs {
  std::int32_t initial_c = -1, peephole = -1, lengths = -1, count = 3;

  static constexpr recurrent_inputs of(const recurrent_params& p) {
    recurrent_inputs i;
    if (p.kind == recurrent_kind::lstm) i.initial_c = i.count++;
    if (p.has_peephole) i.peephole = i.count++;
    if (p.has_lengths) i.lengths = i.count++;
    return i;
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
