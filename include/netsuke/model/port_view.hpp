// SPDX-License-Identifier: MIT
#pragma once
/// Inputs, outputs and states of a model as the game sees them.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/tensor_info.hpp>

NSK_BEGIN
/// A model input or output: a dense tensor, and how the source model saw it. A view: valid as long as the file's bytes.
class port_view {
 public:
  port_view(const format::Variant* variant, const format::Port* port)
      : m_port(port), m_tensor(variant, port->tensor()) {}

  const char* name() const { return impl::text(m_port->name()); }
  tensor_info tensor() const { return m_tensor; }
  dtype type() const { return m_tensor.type(); }
  /// Physical shape: images are [N, H, W, C].
  span<const std::int32_t> shape() const { return m_tensor.shape(); }
  std::int64_t elements() const { return m_tensor.elements(); }
  std::size_t bytes() const { return m_tensor.bytes(); }
  /// Shape in the source model; equal to shape() where the file has none.
  span<const std::int64_t> source_shape() const { return impl::items(m_port->source_shape()); }
  /// Source axis of each physical dimension; empty = the elements have the same order in both.
  span<const std::uint8_t> source_axes() const { return impl::items(m_port->source_axes()); }
  /// Hints for pictures: x = (u8 - mean) / deviation per channel; empty when the model came without.
  span<const float> mean() const { return impl::items(m_port->mean()); }
  span<const float> deviation() const { return impl::items(m_port->deviation()); }
  /// "rgb", "bgr", "grey" or "".
  const char* color() const { return impl::text(m_port->color()); }
  int label_count() const { return static_cast<int>(impl::count_of(m_port->labels())); }
  const char* label(int i) const { return m_port->labels()->Get(static_cast<std::uint32_t>(i))->c_str(); }

 private:
  const format::Port* m_port;
  tensor_info m_tensor;
};

/// Memory that survives from run to run.
class state_view {
 public:
  state_view(const format::Variant* variant, const format::State* state) : m_variant(variant), m_state(state) {}

  const char* name() const { return impl::text(m_state->name()); }
  /// The tensor that steps read, and the one that a run leaves behind; they may lie in the same place.
  tensor_info tensor() const { return {m_variant, m_state->tensor()}; }
  tensor_info next() const { return {m_variant, m_state->next()}; }
  /// Constant that reset() copies; without one it writes zeros.
  bool has_initial() const { return m_state->initial() >= 0; }
  tensor_info initial() const { return {m_variant, static_cast<std::uint32_t>(m_state->initial())}; }

 private:
  const format::Variant* m_variant;
  const format::State* m_state;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
