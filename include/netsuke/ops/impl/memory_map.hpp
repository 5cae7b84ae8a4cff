// SPDX-License-Identifier: MIT
#pragma once
/// From numbers to pointers: where the tensors of a variant are during an inference.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/variant_view.hpp>
#include <netsuke/kernels/args.hpp>

NSK_BEGIN
namespace impl {

/// Where the buffers of a variant are, and what an inference has besides.
struct memory_map {
  variant_view variant;
  const std::byte* weights = nullptr;
  std::byte* arena = nullptr;
  /// Blocks that the caller bound to inputs and outputs, null where none is; ports from `bindable` on are in the arena.
  std::byte* const* bound_inputs = nullptr;
  std::byte* const* bound_outputs = nullptr;
  int bindable = 0;
  std::uint32_t* flags = nullptr;  ///< of the running inference (core/flags.hpp)
  random_source random{};          ///< of the running inference
  length_values lengths = nullptr;
  bool native_dot4 = false;  ///< simd::has_native_dot4() of this machine

  static memory_map of(const variant_view& v, const std::byte* weights, std::byte* arena) {
    memory_map m;
    m.variant = v;
    m.weights = weights;
    m.arena = arena;
    return m;
  }
  void bind_ports(std::byte* const* inputs, std::byte* const* outputs, int count) {
    bound_inputs = inputs;
    bound_outputs = outputs;
    bindable = count;
  }

  /// Returns the start of the buffer in which a tensor is. Constants are read-only in spite of the type.
  NSK_NOINLINE std::byte* buffer_of(const tensor_info& t) const {
    const storage where = t.where();
    if (where == storage::constant) return const_cast<std::byte*>(weights) + t.buffer_offset();
    if (where == storage::input && t.port() < bindable && bound_inputs[t.port()]) return bound_inputs[t.port()];
    if (where == storage::output && t.port() < bindable && bound_outputs[t.port()]) return bound_outputs[t.port()];
    return arena + t.buffer_offset();
  }
  tensor_view view(const tensor_info& t) const { return t.view(buffer_of(t), lengths); }
  /// Returns where the element at index 0 is.
  std::byte* data(const tensor_info& t) const { return lengths ? view(t).data : buffer_of(t) + t.offset(); }
  template <class T>
  const T* constant(const tensor_info& t) const {
    return reinterpret_cast<const T*>(data(t));
  }
};

/// The epilogue of a step, its positions replaced by pointers.
inline epilogue bind_epilogue(const memory_map& m, const step_view& s, const epilogue_params& p) {
  epilogue e;
  e.fn = p.fn;
  e.activation_first = p.activation_first;
  e.alpha = p.alpha;
  e.beta = p.beta;
  if (p.slope >= 0) e.slope = m.constant<float>(s.input(p.slope));
  if (p.residual >= 0) {
    const tensor_view residual = m.view(s.input(p.residual));
    e.residual = residual.as<float>();
    for (int d = 0; d < residual.rank; ++d) e.residual_stride[d] = residual.stride[d];
  }
  return e;
}
inline epilogue bind_epilogue(const memory_map& m, const step_view& s) { return bind_epilogue(m, s, s.epilogue()); }

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
