// SPDX-License-Identifier: MIT
#pragma once
/// Inputs, outputs and states of a model as the game sees them.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/tensor_info.hpp>

NSK_BEGIN
/// A model input or output: a dense tensor, and how the source model saw it. A view: valid as long as the file's bytes.
class port_view {
 public:
  port_view(const format::Variant* variant, const format::Port* port) : m_variant(variant), m_port(port) {}

  const char* name() const { return impl::text(m_port->name()); }
  std::uint32_t tensor_index() const { return m_port->tensor(); }
  tensor_info tensor() const { return {m_variant, m_port->tensor()}; }
  dtype type() const { return tensor().type(); }
  /// Physical shape: images are [N, H, W, C].
  span<const std::int32_t> shape() const { return tensor().shape(); }
  std::int64_t elements() const { return tensor().elements(); }
  /// Elements in a run of these lengths: the first ones of the port, dense.
  std::size_t elements(length_values lengths) const { return static_cast<std::size_t>(tensor().elements(lengths)); }
  std::size_t bytes() const { return tensor().bytes(); }
  /// Bytes in a run of these lengths; of a batch those of all rows, of which the later ones do not matter.
  std::size_t bytes(length_values lengths) const {
    return tensor().batch() > 0 ? bytes() : elements(lengths) * static_cast<std::size_t>(size_of(type()));
  }
  /// Shape in the source model; equal to shape() where the file has none.
  span<const std::int64_t> source_shape() const { return impl::items(m_port->source_shape()); }
  /// Source axis of each physical dimension; empty = the elements have the same order in both.
  span<const std::uint8_t> source_axes() const { return impl::items(m_port->source_axes()); }
  /// Hints for images: x = (u8 - mean) / deviation per channel; empty when the model came without.
  span<const float> mean() const { return impl::items(m_port->mean()); }
  span<const float> deviation() const { return impl::items(m_port->deviation()); }
  /// "rgb", "bgr", "grey" or "".
  const char* color() const { return impl::text(m_port->color()); }
  int label_count() const { return static_cast<int>(impl::count_of(m_port->labels())); }
  const char* label(int i) const { return m_port->labels()->Get(static_cast<std::uint32_t>(i))->c_str(); }

 private:
  const format::Variant* m_variant;
  const format::Port* m_port;
};

/// Memory that survives from run to run.
class state_view {
 public:
  state_view(const format::Variant* variant, const format::State* state) : m_variant(variant), m_state(state) {}

  const char* name() const { return impl::text(m_state->name()); }
  /// The tensor that steps read, and the one that a run leaves behind; they may be in the same place.
  tensor_info tensor() const { return {m_variant, m_state->tensor()}; }
  tensor_info next() const { return {m_variant, m_state->next()}; }
  /// Constant that reset() copies; without one it writes zeros.
  bool has_initial() const { return m_state->initial() >= 0; }
  tensor_info initial() const { return {m_variant, static_cast<std::uint32_t>(m_state->initial())}; }

  /// The numbers of the three tensors; -1 where there is no initial value.
  std::uint32_t tensor_index() const { return m_state->tensor(); }
  std::uint32_t next_index() const { return m_state->next(); }
  std::int32_t initial_index() const { return m_state->initial(); }

 private:
  const format::Variant* m_variant;
  const format::State* m_state;
};

/// Inputs and outputs that the converter recorded: one block of bytes per port.
class check_view {
 public:
  explicit check_view(const format::CheckVector* check) : m_check(check) {}

  int input_count() const { return static_cast<int>(impl::count_of(m_check->inputs())); }
  int output_count() const { return static_cast<int>(impl::count_of(m_check->outputs())); }
  span<const std::uint8_t> input(int i) const { return bytes_of(m_check->inputs(), i); }
  span<const std::uint8_t> output(int i) const { return bytes_of(m_check->outputs(), i); }
  /// Largest difference of an output from its record.
  float tolerance() const { return m_check->tolerance(); }

 private:
  static span<const std::uint8_t> bytes_of(const flatbuffers::Vector<flatbuffers::Offset<format::Block>>* blocks,
                                           int i) {
    return impl::items(blocks->Get(static_cast<std::uint32_t>(i))->data());
  }
  const format::CheckVector* m_check;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
