// SPDX-License-Identifier: MIT
#pragma once
/// File step -> kernel arguments: the same description with pointers instead of numbers. Nothing is checked here;
/// nsk::open did.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/model/model.hpp>

NSK_BEGIN
namespace plan {

/// Where the buffers of a variant lie.
struct memory_map {
  variant_view variant;
  const std::byte* weights = nullptr;
  std::byte* arena = nullptr;
  /// Blocks that the caller bound to inputs and outputs, null where none is; ports from `bindable` on lie in the arena.
  std::byte* const* bound_inputs = nullptr;
  std::byte* const* bound_outputs = nullptr;
  int bindable = 0;
  std::uint32_t* flags = nullptr;  ///< of the running inference (core/flags.hpp)
  random_source random{};          ///< of the running inference
  int rows = 0;                    ///< of the batch that it computes; 0 = all

  /// Returns the start of the buffer in which a tensor lies. Constants are read-only in spite of the type.
  std::byte* buffer_of(const tensor_info& t) const {
    const storage where = t.where();
    if (where == storage::constant) return const_cast<std::byte*>(weights) + t.buffer_offset();
    if (where == storage::input && t.port() < bindable && bound_inputs[t.port()]) return bound_inputs[t.port()];
    if (where == storage::output && t.port() < bindable && bound_outputs[t.port()]) return bound_outputs[t.port()];
    return arena + t.buffer_offset();
  }
  tensor_view view(const tensor_info& t) const { return t.view(buffer_of(t), rows); }
  /// Returns where the element at index 0 lies.
  std::byte* data(const tensor_info& t) const { return buffer_of(t) + t.offset(); }
  template <class T>
  const T* constant(const tensor_info& t) const {
    return reinterpret_cast<const T*>(data(t));
  }
};

inline epilogue bind_epilogue(const memory_map& m, const step_view& s) {
  const epilogue_info info = s.epilogue();
  epilogue e;
  e.fn = info.fn;
  e.activation_first = info.activation_first;
  e.alpha = info.alpha;
  e.beta = info.beta;
  if (info.slope >= 0) e.slope = m.constant<float>(s.input(info.slope));
  if (info.residual >= 0) {
    const tensor_info residual = s.input(info.residual);
    e.residual = m.constant<float>(residual);
    const span<const std::int64_t> strides = residual.strides();
    for (std::size_t d = 0; d < strides.size(); ++d) e.residual_stride[d] = static_cast<std::ptrdiff_t>(strides[d]);
  }
  return e;
}

inline kernels::conv_2d_args bind_conv_2d(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)),
          m.view(s.output()),
          m.constant<float>(s.input(1)),
          s.window(),
          static_cast<std::int32_t>(s.groups()),
          s.algorithm(),
          bind_epilogue(m, s)};
}
inline kernels::depthwise_conv_2d_args bind_depthwise_conv_2d(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.output()), m.constant<float>(s.input(1)), s.window(), bind_epilogue(m, s)};
}
inline kernels::fully_connected_args bind_fully_connected(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.output()), m.constant<float>(s.input(1)), bind_epilogue(m, s)};
}
inline kernels::pack_panels_args bind_pack_panels(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.output())};
}
inline kernels::mat_mul_args bind_mat_mul(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.output()), m.constant<float>(s.input(1)), s.mat_mul()->shared_right(),
          bind_epilogue(m, s)};
}
inline kernels::pool_2d_args bind_pool_2d(const memory_map& m, const step_view& s) {
  const format::Pool2D* p = s.pool_2d();
  return {m.view(s.input(0)),     m.view(s.output()), s.window(),    static_cast<pool_kind>(p->kind()),
          p->count_include_pad(), p->pad_bottom(),    p->pad_right()};
}
inline kernels::unary_args bind_unary(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.output()), bind_epilogue(m, s)};
}
inline kernels::binary_args bind_binary(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.input(1)), m.view(s.output()), static_cast<binary_kind>(s.binary()->kind()),
          bind_epilogue(m, s)};
}
inline kernels::copy_args bind_copy(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.output())};
}
inline kernels::fill_args bind_fill(const memory_map& m, const step_view& s) {
  return {m.view(s.output()), s.fill()->value()};
}
inline kernels::resize_2d_args bind_resize_2d(const memory_map& m, const step_view& s) {
  const format::Resize2D* r = s.resize_2d();
  return {m.view(s.input(0)),
          m.view(s.output()),
          r->row_taps(),
          r->column_taps(),
          m.constant<std::int32_t>(s.input(1)),
          m.constant<float>(s.input(2)),
          m.constant<std::int32_t>(s.input(3)),
          m.constant<float>(s.input(4))};
}
inline kernels::reduce_args bind_reduce(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.output()), static_cast<reduce_kind>(s.reduce()->kind()), bind_epilogue(m, s)};
}
inline kernels::softmax_args bind_softmax(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.output()), s.softmax()->axis(), s.softmax()->log()};
}
inline kernels::cast_args bind_cast(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.output())};
}
inline kernels::compare_args bind_compare(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.input(1)), m.view(s.output()), static_cast<compare_kind>(s.compare()->kind())};
}
inline kernels::select_args bind_select(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.input(1)), m.view(s.input(2)), m.view(s.output())};
}
inline kernels::arithmetic_args bind_arithmetic(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.input(1)), m.view(s.output()),
          static_cast<arithmetic_kind>(s.arithmetic()->kind()), m.flags};
}
inline kernels::gather_args bind_gather(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.input(1)), m.view(s.output()), s.axis(), m.flags};
}
inline kernels::gather_elements_args bind_gather_elements(const memory_map& m, const step_view& s) {
  return {bind_gather(m, s)};
}
inline kernels::arg_reduce_args bind_arg_reduce(const memory_map& m, const step_view& s) {
  const format::ArgReduce* r = s.arg_reduce();
  return {m.view(s.input(0)), m.view(s.output()), s.axis(), static_cast<arg_reduce_kind>(r->kind()), r->last()};
}
inline kernels::top_k_args bind_top_k(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)), m.view(s.output()), s.axis(), s.top_k()->smallest()};
}
inline kernels::non_max_suppression_args bind_non_max_suppression(const memory_map& m, const step_view& s) {
  const format::NonMaxSuppression* n = s.non_max_suppression();
  return {m.view(s.input(0)), m.view(s.input(1)),   m.view(s.output()),    n->most_per_class(),
          n->iou_threshold(), n->score_threshold(), n->center_point_box(), m.flags};
}
inline kernels::layer_normalization_args bind_layer_normalization(const memory_map& m, const step_view& s) {
  const format::LayerNormalization* l = s.layer_normalization();
  return {m.view(s.input(0)), m.view(s.output()), m.constant<float>(s.input(1)), m.constant<float>(s.input(2)),
          l->epsilon(),       l->centre()};
}
inline kernels::local_response_normalization_args bind_local_response_normalization(const memory_map& m,
                                                                                    const step_view& s) {
  const format::LocalResponseNormalization* l = s.local_response_normalization();
  return {m.view(s.input(0)), m.view(s.output()), static_cast<std::int32_t>(l->size()),
          l->alpha(),         l->beta(),          l->bias()};
}
inline kernels::recurrent_args bind_recurrent(const memory_map& m, const step_view& s) {
  const format::Recurrent* r = s.recurrent();
  const recurrent_inputs in = recurrent_inputs::of(r);
  kernels::recurrent_args a{};
  a.input = m.view(s.input(0));
  a.weights = m.constant<float>(s.input(1));
  a.initial_h = m.view(s.input(2));
  if (in.initial_c >= 0) a.initial_c = m.view(s.input(in.initial_c));
  if (in.peephole >= 0) a.peephole = m.constant<float>(s.input(in.peephole));
  if (in.lengths >= 0) a.lengths = m.view(s.input(in.lengths));
  a.output = m.view(s.output());
  a.kind = static_cast<recurrent_kind>(r->kind());
  a.reverse = r->reverse();
  a.input_forget = r->input_forget();
  a.linear_before_reset = r->linear_before_reset();
  a.clip = r->clip();
  a.cell_clip = r->cell_clip();
  const std::uint32_t functions = static_cast<std::uint32_t>(recurrent_functions(a.kind));
  for (std::uint32_t i = 0; i < impl::count_of(r->functions()); ++i)
    a.gate[i / functions][i % functions] = {static_cast<recurrent_function>(r->functions()->Get(i)),
                                            r->parameters()->Get(2 * i), r->parameters()->Get(2 * i + 1)};
  a.flags = m.flags;
  return a;
}
inline kernels::random_args bind_random(const memory_map& m, const step_view& s) {
  const format::Random* r = s.random();
  return {m.view(s.output()), static_cast<random_kind>(r->kind()), r->scale(), r->offset(), r->stream(), m.random};
}
inline kernels::tree_ensemble_args bind_tree_ensemble(const memory_map& m, const step_view& s) {
  return {m.view(s.input(0)),
          m.view(s.output()),
          m.constant<std::int32_t>(s.input(1)),
          m.constant<std::int32_t>(s.input(2)),
          m.constant<float>(s.input(3)),
          m.constant<std::int32_t>(s.input(4)),
          m.constant<float>(s.input(5)),
          m.constant<float>(s.input(6)),
          static_cast<std::int32_t>(s.input(1).elements()),
          static_cast<tree_aggregate>(s.tree_ensemble()->aggregate())};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
